"""The shipped figures are what the benchmark measures, with the lexicon that is shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.judge_accuracy import figures, gold_label, macro_f1, read_golds, read_sample, result
from pytest_gnt.judges.lexicon import VERSION, shipped_accuracy
from pytest_gnt.judges.lexicon_data import lexicon_hash

REMEASURE = "run: python benchmarks/judge_accuracy.py --data DIR --write"
MIN_HELD_OUT = {"genderous": 0.95, "mgente-ref-g": 0.9}


def test_the_figures_belong_to_the_shipped_lexicon() -> None:
    shipped = shipped_accuracy()
    assert shipped["lexicon"] == lexicon_hash(), REMEASURE
    assert shipped["version"] == VERSION, REMEASURE


def test_the_figures_on_the_sample_are_what_is_measured() -> None:
    sample = figures([read_sample()])["gold"]
    assert [entry for entry in shipped_accuracy()["gold"] if entry["name"].startswith("sample-")] == sample, REMEASURE


def test_the_figures_on_public_data_are_what_is_measured(shared_data: Path) -> None:
    assert figures(read_golds(shared_data)) == dict(shipped_accuracy()), REMEASURE


def test_public_gold_is_counted_in_full_and_its_flaws_are_named(shared_data: Path) -> None:
    golds = read_golds(shared_data)
    neutreval, genderous = golds[:2]
    assert len(neutreval.items) + neutreval.skipped.total() == 32
    assert len(neutreval.remarks) == 1
    assert neutreval.remarks[0].startswith("shots_es_cross-p_l.tsv:2: broken JSON")
    assert len(genderous.items) + genderous.skipped.total() == 2040


@pytest.mark.parametrize("name", MIN_HELD_OUT)
def test_held_out_accuracy_has_a_floor(name: str) -> None:
    (entry,) = [e for e in shipped_accuracy()["gold"] if (e["name"], e["split"], e["part"]) == (name, "held-out", "")]
    assert entry["n"] >= 100
    assert entry["accuracy"] >= MIN_HELD_OUT[name]


def test_macro_f1_and_accuracy_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn (extra dev) is the independent computation")
    pairs = [("M", "M"), ("M", "F"), ("F", "F"), ("F", "mixed"), ("N", "N"), ("N", "M"), ("M", "M")]
    gold, answers = zip(*pairs, strict=True)
    expected = metrics.f1_score(gold, answers, labels=["F", "M", "N"], average="macro")
    assert macro_f1(pairs) == pytest.approx(expected)
    assert result(pairs, 0)["accuracy"] == pytest.approx(metrics.accuracy_score(gold, answers), abs=1e-4)


def test_unscored_answers_are_counted_and_left_out() -> None:
    figures_of = result([("M", "M"), ("F", "unscored"), ("F", "F")], 2)
    assert (figures_of["n"], figures_of["unscored"], figures_of["skipped"], figures_of["accuracy"]) == (2, 1, 2, 1.0)
    assert result([("M", "unscored")], 0)["accuracy"] is None


@pytest.mark.parametrize(
    ("text", "label", "remark"),
    [
        ('{"label": "NEUTRAL"}', "NEUTRAL", ""),
        ('{"phrases": [], "label": "NEUTRAL",  }', "NEUTRAL", "read without the trailing comma"),
        ('{"label": "NEUTRAL"', None, "skipped"),
        ('{"label": "MAYBE"}', None, "unknown label"),
        ("[]", None, "unknown label"),
        ("", None, "skipped"),
    ],
)
def test_broken_gold_is_named_not_fatal(text: str, label: str | None, remark: str) -> None:
    found, said = gold_label(text)
    assert found == label
    assert remark in said


def test_the_page_shows_the_shipped_figures() -> None:
    page = (Path(__file__).parents[2] / "docs" / "lexicon-judge.md").read_text(encoding="utf-8")
    for entry in shipped_accuracy()["gold"]:
        if not entry["part"]:
            f1 = "–" if entry["macro_f1"] is None else f"{entry['macro_f1']:.3f}"
            shown = [entry["name"], entry["split"], entry["lang"], str(entry["n"]), f"{entry['accuracy']:.3f}", f1]
            assert f"| {' | '.join(shown)} |" in page
