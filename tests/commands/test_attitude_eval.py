"""``gnt attitude-eval``: labels from scores, agreement with people's labels against scikit-learn, and refused rows."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn import metrics

from pytest_gnt.metrics.attitude import template
from pytest_gnt.verdicts.word_pairs import SHIFTS, shift_label
from tests.stub_server import StubReply, StubRequest, completion, error, serve

Gnt = Callable[..., int]
SCORED = '[attitude_models.mine]\nkind = "recorded"\npath = "scores.tsv"\n'


def write_scores(folder: Path, scores: dict[tuple[str, str], float]) -> None:
    """A recorded attitude model with these raw scores."""
    rows = [f"{lang}\t{word}\t{-5 + score / 2}\t{-5 - score / 2}" for (lang, word), score in scores.items()]
    (folder / "scores.tsv").write_text(
        "\n".join(["lang\tword\tlog_p_positive\tlog_p_negative", *rows]) + "\n", encoding="utf-8"
    )
    (folder / "gnt.toml").write_text(SCORED, encoding="utf-8")


def write_pairs(folder: Path, *rows: str, header: str = "source_word\ttarget_word\tlabel\tlang") -> Path:
    path = folder / "pairs.tsv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def measured(gnt: Gnt, capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert gnt("attitude-eval", "--json", "--attitude-model", "mine", *arguments) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def random_pairs(folder: Path, n: int, seed: int) -> tuple[list[str], list[str]]:
    """Pairs in two languages; human and expected model labels, in the file's order."""
    draw = random.Random(seed)
    scores: dict[tuple[str, str], float] = {}
    rows, human, model = [], [], []
    for place in range(n):
        lang = draw.choice(["zh", "de"])
        source, target = draw.uniform(-2, 2), draw.uniform(-2, 2)
        scores["en", f"s{place}"], scores[lang, f"t{place}"] = source, target
        difference = target - source
        right = "to-positive" if difference > 1 else "to-negative" if difference < -1 else "neutral"
        label = right if draw.random() < 0.6 else draw.choice(SHIFTS)
        rows.append(f"s{place}\tt{place}\t{label}\t{lang}")
        human.append(label)
        model.append(right)
    write_scores(folder, scores)
    write_pairs(folder, *rows)
    return human, model


@pytest.mark.parametrize("seed", range(3))
def test_agreement_is_that_of_scikit_learn(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    human, model = random_pairs(project, 60, seed)
    found = measured(gnt, capsys, "--pairs", "pairs.tsv")
    assert [row["model"] for row in found["pairs"]] == model
    assert [row["human"] for row in found["pairs"]] == human
    over_all = found["agreement"]["all languages"]
    assert over_all["kappa"] == pytest.approx(metrics.cohen_kappa_score(human, model))
    assert over_all["accuracy"] == pytest.approx(metrics.accuracy_score(human, model))
    assert over_all["kappa_low"] < over_all["kappa"] < over_all["kappa_high"]
    matrix = metrics.confusion_matrix(human, model, labels=list(SHIFTS))
    for name, row in zip(SHIFTS, matrix, strict=True):
        assert [over_all["confusion"][name][other] for other in SHIFTS] == list(row)
    for lang in ("zh", "de"):
        places = [place for place, row in enumerate(found["pairs"]) if row["target_lang"] == lang]
        expected = metrics.cohen_kappa_score([human[place] for place in places], [model[place] for place in places])
        assert found["agreement"][f"en-{lang}"]["kappa"] == pytest.approx(expected)
        assert found["agreement"][f"en-{lang}"]["n"] == len(places)


@pytest.mark.parametrize(
    ("difference", "label"),
    [(1.0, "neutral"), (1.000001, "to-positive"), (-1.0, "neutral"), (-1.000001, "to-negative"), (0.0, "neutral")],
)
def test_a_shift_is_a_difference_beyond_the_threshold(difference: float, label: str) -> None:
    assert shift_label(difference) == label
    assert shift_label(difference / 10, 0.1) == label


@pytest.mark.parametrize(
    ("difference", "threshold"), [(math.nan, 1), (math.inf, 1), (0, -1), (0, math.nan), (0, math.inf)]
)
def test_what_is_no_number_has_no_label(difference: float, threshold: float) -> None:
    with pytest.raises(ValueError, match=r"number|threshold"):
        shift_label(difference, threshold)


def test_the_threshold_and_the_scale_can_be_set_and_are_in_the_signature(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]
) -> None:
    en, zh = template("en"), template("zh")
    assert en is not None
    assert zh is not None
    scores = {("en", word): 3.0 for word in en.kind} | {("en", word): 1.0 for word in en.harsh}
    scores |= {("zh", word): 0.2 for word in zh.kind} | {("zh", word): -0.2 for word in zh.harsh}
    write_scores(project, {**scores, ("en", "humble"): 3.0, ("zh", "低贱"): -0.2})
    write_pairs(project, "humble\t低贱\tto-negative\tzh")
    raw = measured(gnt, capsys, "--pairs", "pairs.tsv")
    assert raw["pairs"][0]["difference"] == pytest.approx(-3.2)
    scaled = measured(gnt, capsys, "--pairs", "pairs.tsv", "--scale", "calibrated")
    # Kind words are at 1, harsh ones at -1 in both languages.
    assert (scaled["pairs"][0]["source_score"], scaled["pairs"][0]["target_score"]) == pytest.approx((1.0, -1.0))
    loose = measured(gnt, capsys, "--pairs", "pairs.tsv", "--threshold", "4")
    assert (raw["pairs"][0]["model"], loose["pairs"][0]["model"]) == ("to-negative", "neutral")
    assert raw["calibration"]["zh"]["auc"] == 1.0
    assert raw["calibration"]["en"]["zero"] == pytest.approx(2.0)
    assert len({raw["signature"], scaled["signature"], loose["signature"]}) == 3


def test_rows_that_cannot_be_used_are_refused_with_their_line(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scores(project, {("en", "kind"): 1.0, ("en", "rude"): -1.0, ("zh", "善良"): 1.0})
    write_pairs(
        project,
        "kind\t善良\tneutral\tzh",
        "rude\t善良\tTo Positive\tzh-Hans",
        "kind\t善良\tneutral\tzh",
        "kind\t\tneutral\tzh",
        "kind\t善良\tharsher\tzh",
        "kind\t善良\tneutral\tChinese!",
        "kind\t善良\tneutral",
        "kind\t未知\tneutral\tzh",
    )
    assert gnt("attitude-eval", "--pairs", "pairs.tsv", "--attitude-model", "mine") == 0
    text = capsys.readouterr().out
    assert "8 rows read = 3 used + 5 refused" in text
    assert "pairs.tsv:4: the pair is there already (pairs.tsv:2)" in text
    assert "pairs.tsv:5: target_word is empty" in text
    assert "pairs.tsv:6: the label 'harsher' is none of to-positive, neutral, to-negative" in text
    assert "pairs.tsv:7: target_lang 'Chinese!' is no language code" in text
    assert "pairs.tsv:8" in text
    assert "en-zh: 2 compared, 1 unscored" in text
    assert "unscored: unknown-word 1" in text
    assert re.search(r"to-positive +1 +0 +0 +0$", text, re.MULTILINE)
    assert "zh: the attitude model scored 1 kind and 0 harsh calibration words" in text
    assert "not reviewed by a native speaker" in text


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        ("a\tb\tc", ["x\ty\tneutral"], "there is no column source_word"),
        ("source_word\ttarget_word\tlabel", ["x\ty\tneutral"], "or give LANG=FILE"),
        ("source_word\ttarget_word\tlabel\tlang", ["x\ty\tno label\tzh"], "no usable pair of words"),
        ("source_word\ttarget_word\tlabel\tlang", ["x\ty\tneutral\tzh"], "none of the 1 pairs could be scored"),
    ],
)
def test_files_that_cannot_be_used_are_one_error(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str], header: str, rows: list[str], said: str
) -> None:
    write_scores(project, {("en", "kind"): 1.0})
    write_pairs(project, *rows, header=header)
    assert gnt("attitude-eval", "--pairs", "pairs.tsv", "--attitude-model", "mine") == 2
    assert said in capsys.readouterr().err
    assert gnt("attitude-eval", "--pairs", "pairs.tsv", "--attitude-model", "mien") == 2
    assert gnt("attitude-eval", "--pairs", "pairs.tsv", "--threshold", "nan") == 2


def test_the_language_can_be_that_of_the_whole_file(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scores(project, {("en", "kind"): 1.0, ("de", "lieb"): 1.0})
    write_pairs(project, "kind\tlieb\tneutral", header="source_word\ttarget_word\tlabel")
    found = measured(gnt, capsys, "--pairs", "de=pairs.tsv")
    assert list(found["agreement"]) == ["en-de"]
    assert found["pairs"][0]["origin"] == "pairs.tsv:2"


def test_scores_come_through_the_store(project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("openai", reason="needs the openai package")

    def script(request: StubRequest) -> StubReply:
        tokens = list(request.body["prompt"])
        values = [None, *[-1.0] * (len(tokens) - 1)]
        return completion(request.body["prompt"] + " no", logprobs={"tokens": tokens, "token_logprobs": values})

    write_pairs(project, "kind\t善良\tneutral\tzh")
    with serve(script) as server:
        toml = f'[attitude_models.mine]\nkind = "openai"\nmodel = "m"\nbase_url = "{server.url}"\n'
        (project / "gnt.toml").write_text(toml, encoding="utf-8")
        server.script = lambda _: error(400, "logprobs is not supported", "unsupported_parameter", "logprobs")
        assert gnt("attitude-eval", "--pairs", "pairs.tsv", "--attitude-model", "mine") == 2
        assert "gives no log-probabilities for prompts" in capsys.readouterr().err
        assert len(server.requests) == 2
        server.script = script
        first = measured(gnt, capsys, "--pairs", "pairs.tsv")
        asked = len(server.requests)
        assert asked > 4
        assert first["pairs"][0]["difference"] == 0
        assert measured(gnt, capsys, "--pairs", "pairs.tsv") == first
        assert len(server.requests) == asked
