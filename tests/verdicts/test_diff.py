"""Two sides compared: rows, flips, word diffs, sides made of baselines and report folders."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import SIGNATURE, baseline, entries, entry, result, scored

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.diff import DiffSide, compare_sides, side_of_baselines, side_of_report
from pytest_gnt.verdicts.statistics import mcnemar
from pytest_gnt.verdicts.words import MOST_TOKENS, Segment, tokens, word_diff


def compare(old, new, **how):
    return compare_sides(DiffSide("v1", old), DiffSide("v2", new), resamples=200, **how)


def rows(diff, measure):
    return {tuple(row.stratum.values()): row for row in diff.rows if row.measure == measure}


def test_rates_side_by_side():
    old = entries(["passed"] * 80 + ["failed"] * 20)
    new = entries(["failed"] * 20 + ["passed"] * 65 + ["failed"] * 15)
    diff = compare(old, new)
    row = rows(diff, "set-n-accuracy")["it",]
    assert (row.before, row.after) == (pytest.approx(0.8), pytest.approx(0.65))
    assert row.delta == pytest.approx(-0.15)
    assert row.low < row.delta < row.high < 0
    assert row.p == pytest.approx(mcnemar(20, 5, "two-sided"))
    assert row.p_holm >= row.p
    assert row.compared == 100
    assert row.trend == "worse"
    assert diff.regressed
    assert diff.significantly_worse


def test_direction_counts_lower_is_better():
    old = entries(["passed"] * 40, text=None, why={"translation": "no-form"}, judged=None)
    diff = compare(old, entries(["passed"] * 40))
    row = rows(diff, "extraction-error-rate")["it",]
    assert (row.before, row.after, row.trend) == (1.0, 0.0, "better")
    assert not diff.significantly_worse


def test_identical_sides_show_nothing():
    same = entries(["passed", "failed", "transport"], scores={"chrf": 50.0})
    diff = compare(same, same)
    assert not diff.regressed
    assert diff.flips == diff.moves == diff.gone == diff.new == ()
    assert {row.trend for row in diff.rows} == {"same"}
    assert {row.delta for row in diff.rows} == {0.0}


def test_empty_sides():
    diff = compare([], [])
    assert diff.rows == ()
    assert not diff.regressed
    json.dumps(diff.to_json(), allow_nan=False)


def test_flips_come_worst_first_then_by_size():
    old = [
        entry(1, "passed", scores={"chrf": 60.0}),
        entry(2, "passed", scores={"chrf": 60.0}),
        entry(3, "failed", scores={"chrf": 10.0}),
        entry(4, "passed"),
        entry(5, "passed", attitude=(0.5, 1.5)),
    ]
    new = [
        entry(1, "failed", scores={"chrf": 55.0}),
        entry(2, "failed", scores={"chrf": 30.0}),
        entry(3, "passed", scores={"chrf": 90.0}),
        entry(4, "invalid-verdict"),
        entry(5, "failed", attitude=(0.5, 0.25)),
    ]
    diff = compare(old, new)
    assert [(flip.id[-1], flip.kind) for flip in diff.flips] == [
        ("2", "regressed"),
        ("5", "regressed"),
        ("1", "regressed"),
        ("4", "lost"),
        ("3", "fixed"),
    ]
    assert [flip.size for flip in diff.flips] == [30.0, 12.5, 5.0, 0.0, 80.0]
    assert diff.flips[1].scores == {"attitude": -1.25}
    assert diff.flips[3].reason == "invalid-verdict"
    assert diff.counts["regressed"] == 3
    assert diff.counts["lost"] == 1


def test_cases_whose_scores_moved_are_shown_without_a_flip():
    old = [entry(number, scores={"chrf": 60.0}) for number in range(3)]
    new = [entry(number, scores={"chrf": score}) for number, score in enumerate((59.0, 20.0, 75.0))]
    diff = compare(old, new)
    assert [(move.id[-1], move.size, move.kind) for move in diff.moves] == [("1", 40.0, "moved"), ("2", 15.0, "moved")]


def test_gone_new_and_changed_cases_are_listed_and_not_compared():
    old = entries(["passed"] * 3)
    new = [old[0], replace(old[1], source_digest="f" * 16, judged="WRONGLY GENDERED"), entry("9")]
    diff = compare(old, new)
    assert diff.gone == ("mgente/en-it/00002",)
    assert diff.new == ("mgente/en-it/9",)
    assert diff.other_source == ("mgente/en-it/00001",)
    assert rows(diff, "set-n-accuracy")["it",].compared == 1
    assert compare(old, new, partial=True).gone == ()


def test_a_case_twice_on_a_side_is_an_error():
    with pytest.raises(ValueError, match="occurs twice"):
        compare([entry(1), entry(1)], [])


def test_strata_by_language_gender_and_identity():
    old = [one for number in range(5) for one in scored(number, {"woman": 80.0, "man": 81.0, "queer": 70.0})]
    found = rows(compare(old, old), "comet-mean")
    assert list(found) == [("zh",), ("zh", "man"), ("zh", "queer"), ("zh", "woman")]
    assert found["zh", "queer"].before == 70.0
    two = entries(["passed"] * 3) + [
        replace(one, lang="de", id=one.id.replace("it", "de"), gender="F") for one in entries(["passed"] * 3)
    ]
    assert list(rows(compare(two, two), "set-n-accuracy")) == [(), ("de",), ("it",), ("de", "F")]


def test_baselines_and_reports_are_sides(tmp_path):
    records = [result(1), result(2)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(one.to_json()) + "\n" for one in records))
    report = {"schema": 1, "model": {"name": "m2"}, "signature": {"mgente": SIGNATURE.replace("seed:0", "seed:1")}}
    (tmp_path / "report.json").write_text(json.dumps(report))
    stored = baseline([entry(1, "failed", text="Altra frase."), entry(2)])
    diff = compare_sides(side_of_baselines("m", [stored]), side_of_report(tmp_path), resamples=50)
    assert (diff.before, diff.after) == ("m", "m2")
    assert diff.reasons == ()
    assert diff.notes == ("mgente: the seed differs; another seed samples other cases and draws other replies (0 → 1)",)
    (flip,) = diff.flips
    assert flip.kind == "fixed"
    assert flip.source == "Sentence 1."
    assert flip.words == (
        Segment("removed", "Altra"),
        Segment("added", "Frase"),
        Segment("same", " "),
        Segment("removed", "frase"),
        Segment("added", "1"),
        Segment("same", "."),
    )


def test_what_cannot_be_compared_is_said():
    one = side_of_baselines("a", [baseline(entries(["passed"]))])
    other = side_of_baselines("b", [baseline(entries(["passed"]), SIGNATURE.replace("lexicon@1", "qwen@1"))])
    assert compare_sides(one, other).reasons == ("mgente: the judge differs (lexicon@1 → qwen@1)",)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(GntError, match="not a report folder"):
        side_of_report(tmp_path)


def test_json_is_strict_and_complete():
    old = [entry(1, "passed", text="a\ud800 <b>", scores={"chrf": 60.0})]
    new = [entry(1, "failed", text="a\x00 | `c`", phrases=({"text": "x", "gender": "F", "correct": False},))]
    data = json.loads(json.dumps(compare(old, new).to_json(), allow_nan=False))
    assert data["schema"] == 1
    assert data["regressed"] is True
    assert data["flips"][0]["phrases_after"] == [{"text": "x", "gender": "F", "correct": False}]
    assert "".join(part["text"] for part in data["flips"][0]["words"] if part["op"] != "added") == "a\ud800 <b>"


@given(st.lists(st.sampled_from(["passed", "failed", "transport"]), max_size=12), st.randoms())
def test_order_does_not_matter(outcomes, shuffle: random.Random):
    old, new = entries(outcomes), entries(list(reversed(outcomes)))
    plain = compare_sides(DiffSide("a", old), DiffSide("b", new), resamples=20)
    mixed = shuffle.sample(new, len(new))
    assert compare_sides(DiffSide("a", shuffle.sample(old, len(old))), DiffSide("b", mixed), resamples=20) == plain


ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(["it", "zh", "zh-TW"]))
def test_segments_make_up_both_texts(before, after, lang):
    segments = word_diff(before, after, lang)
    assert "".join(text for op, text in segments if op != "added") == before
    assert "".join(text for op, text in segments if op != "removed") == after
    assert "".join(tokens(before, lang)) == before
    assert all(text for _, text in segments)


def test_words_are_the_unit_and_characters_where_words_are_not_spaced():
    assert word_diff("il direttore parla", "la direttrice parla", "it") == (
        Segment("removed", "il"),
        Segment("added", "la"),
        Segment("same", " "),
        Segment("removed", "direttore"),
        Segment("added", "direttrice"),
        Segment("same", " parla"),
    )
    assert word_diff("他很好", "她很好", "zh") == (
        Segment("removed", "他"),
        Segment("added", "她"),
        Segment("same", "很好"),
    )


def test_a_loop_is_not_compared_word_by_word():
    loop = "le persone " * MOST_TOKENS
    assert word_diff("Chi dirige.", loop, "it") == (Segment("removed", "Chi dirige."), Segment("added", loop))
    assert word_diff(loop, loop, "it") == (Segment("same", loop),)


def test_word_diffs_of_two_real_systems(shared_data):
    """WinoMT, English to Spanish, two commercial systems: 3,888 pairs of translations."""
    table = shared_data / "winomt" / "winomt.en-es.aws_google.tsv"
    systems = {"aws": {}, "google": {}}
    for line in table.read_text(encoding="utf-8").split("\n")[1:]:
        if line:
            system, number, *_, target = line.split("\t")
            systems[system][number] = target
    assert len(systems["aws"]) == len(systems["google"]) == 3888
    kept = total = 0
    for number, before in systems["aws"].items():
        segments = word_diff(before, systems["google"][number], "es")
        assert "".join(text for op, text in segments if op != "added") == before
        assert "".join(text for op, text in segments if op != "removed") == systems["google"][number]
        kept += sum(len(text) for op, text in segments if op == "same")
        total += len(before)
    assert kept / total > 0.7, "two translations of one sentence share most of their words"
