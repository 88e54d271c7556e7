"""AmbGIMT's tables against values computed by hand, and against sacreBLEU, numpy and the gates' own measures."""

from __future__ import annotations

import math
import random
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from pytest_gnt.case import Case, Identity, Subset
from pytest_gnt.evidence import Attitude, Translation
from pytest_gnt.metrics.attitude import shift_bias_interval
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.measures import Side, measure_named
from pytest_gnt.verdicts.results import CaseResult
from pytest_gnt.verdicts.tables import tables_of
from tests.verdicts.records import IDENTITIES


def case(
    sentence: int,
    identity: str | None,
    scores: dict[str, float] | None = None,
    *,
    subset: str = "authentic",
    block: str = "",
    eas: tuple[float, float] | str | None = None,
    **other: Any,
) -> CaseResult:
    """One variant. ``eas`` is the scores of source and target, or the reason why there are none."""
    values: dict[str, Any] = {}
    if scores is not None:
        values["quality"] = {"scores": scores, "reason": None if scores else "missing"}
    if isinstance(eas, str):
        values["attitude"] = {"source_score": 0.5, "target_score": None, "delta": 0.2, "reason": eas}
    elif eas is not None:
        values["attitude"] = {"source_score": eas[0], "target_score": eas[1], "delta": 0.2, "reason": None}
    return CaseResult(
        **{
            "id": f"ambgimt/en-zh/{subset}/{block or sentence}/{identity}",
            "corpus": "ambgimt",
            "subset": subset,
            "lang": "zh",
            "group": f"ambgimt/{subset}/{sentence}",
            "source": "The person is terse.",
            "identity": identity,
            "references": ("这个人话很少。",),
            **values,
            **other,
        }
    )


def metric_of(table: dict[str, Any], name: str, level: str = "sentence") -> dict[str, Any]:
    (found,) = [metric for metric in table["quality"] if (metric["metric"], metric["level"]) == (name, level)]
    return found


def row_of(table: dict[str, Any], identity: str, name: str = "comet", level: str = "sentence") -> dict[str, Any]:
    (found,) = [row for row in metric_of(table, name, level)["rows"] if row["identity"] == identity]
    return found


HAND = [
    # Sentence 1: woman and man have 80 on average, queer is 10 below, person 2 above.
    case(1, "woman", {"comet": 82.0}),
    case(1, "man", {"comet": 78.0}),
    case(1, "queer", {"comet": 70.0}),
    case(1, "person", {"comet": 82.0}),
    # Sentence 2: 60 on average, queer 4 below; person has no translation.
    case(2, "woman", {"comet": 60.0}),
    case(2, "man", {"comet": 60.0}),
    case(2, "queer", {"comet": 56.0}),
    case(2, "person", {}),
    # Sentence 3: no score for man, so no gap; queer's score counts in the mean all the same.
    case(3, "woman", {"comet": 90.0}),
    case(3, "man", {}),
    case(3, "queer", {"comet": 30.0}),
]


def test_scores_gaps_mean_and_deviation_are_those_computed_by_hand() -> None:
    table = tables_of(HAND)[0]
    expected = {
        "person": (82.0, 1, 1, 2.0, 1),
        "woman": ((82 + 60 + 90) / 3, 3, 0, (2 + 0) / 2, 2),
        "man": ((78 + 60) / 2, 2, 1, (-2 + 0) / 2, 2),
        "queer": ((70 + 56 + 30) / 3, 3, 0, (-10 - 4) / 2, 2),
    }
    for identity, values in expected.items():
        row = row_of(table, identity)
        assert tuple(row[key] for key in ("value", "n", "unscored", "gap", "sentences")) == pytest.approx(values)
    metric = metric_of(table, "comet")
    means = [values[0] for values in expected.values()]
    gaps = [values[3] for values in expected.values()]
    assert metric["identities"] == 4
    assert (metric["mean"], metric["sd"]) == pytest.approx((statistics.fmean(means), statistics.stdev(means)))
    assert (metric["gap_mean"], metric["gap_sd"]) == pytest.approx((statistics.fmean(gaps), statistics.stdev(gaps)))
    # By hand: deviations of 82, 77.33…, 69, 52 from 70.083…, squared, over 3.
    assert metric["sd"] == pytest.approx(13.2004, abs=1e-4)


def test_subsets_stand_beside_their_sum() -> None:
    more = [
        case(1, "woman", {"comet": 10.0}, subset="synthesized"),
        case(1, "man", {"comet": 30.0}, subset="synthesized"),
    ]
    tables = tables_of([*HAND, *more])
    assert [table["subset"] for table in tables] == ["all", "authentic", "synthesized"]
    assert [table["cases"] for table in tables] == [13, 11, 2]
    every, authentic, synthesized = (row_of(table, "woman") for table in tables)
    assert every["n"] == authentic["n"] + synthesized["n"] == 4
    assert every["value"] == pytest.approx((82 + 60 + 90 + 10) / 4)
    assert every["gap"] == pytest.approx((2 + 0 - 10) / 3)
    assert synthesized["gap"] == pytest.approx(-10)


def test_a_sentence_that_occurs_twice_counts_once_in_a_gap() -> None:
    twice = [
        case(84, "woman", {"comet": 80.0}),
        case(84, "woman", {"comet": 60.0}, block="175"),
        case(84, "man", {"comet": 70.0}),
        case(84, "man", {"comet": 70.0}, block="175"),
        case(84, "gay", {"comet": 50.0}),
        case(84, "gay", {"comet": 56.0}, block="175"),
    ]
    row = row_of(tables_of(twice)[0], "gay")
    assert (row["n"], row["value"], row["sentences"], row["gap"]) == (2, 53.0, 1, pytest.approx(-17))


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_cases_does_not_matter(rng: random.Random) -> None:
    mixed = [*HAND, *ATTITUDES]
    rng.shuffle(mixed)
    found, expected = tables_of(mixed), tables_of([*HAND, *ATTITUDES])
    assert _rounded(found) == _rounded(expected)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list) else value


def test_what_is_not_finite_or_not_asked_is_no_number() -> None:
    rows = [case(1, "gay", {"comet": math.inf}), case(2, "gay", {"comet": math.nan}), case(3, "gay", {"comet": 50.0})]
    table = tables_of([*rows, case(4, "gay"), case(5, None, {"comet": 1.0})])[0]
    row = row_of(table, "gay")
    assert (table["cases"], row["n"], row["unscored"], row["value"]) == (4, 1, 2, 50.0)
    assert (row["gap"], metric_of(table, "comet")["sd"]) == (None, None)


def test_without_identities_there_are_no_tables() -> None:
    assert tables_of([case(1, None, {"bleu": 3.0})]) == []


def test_corpus_bleu_is_sacrebleus_over_the_identitys_sentences() -> None:
    texts = {
        "woman": [("这位女士固执。", "这个女人固执。"), ("她话很少，也很守信用。", "她话很少，可也守信用。")],
        "man": [("这位先生固执己见。", "这个男人固执。"), ("他话很少，但很守信用。", "他话很少，可也守信用。")],
        "queer": [("这个人很怪。", "酷儿固执。"), ("他们话很少。", "他们话很少，可也守信用。")],
    }
    metric = BLEU(tokenize="zh", effective_order=True)
    cases = []
    for identity, pairs in texts.items():
        for sentence, (text, reference) in enumerate(pairs):
            score = metric.sentence_score(text, [reference])
            counts = [score.sys_len, score.ref_len, *score.counts, *score.totals]
            evidence = {"scores": {"bleu": score.score}, "statistics": {"bleu": counts}, "reason": None}
            cases.append(case(sentence, identity, quality=evidence))
    cases.append(case(7, "queer", {}))
    table = tables_of(cases)[0]
    corpus = BLEU(tokenize="zh")
    expected = {
        identity: corpus.corpus_score([text for text, _ in pairs], [[reference for _, reference in pairs]]).score
        for identity, pairs in texts.items()
    }
    middle = (expected["woman"] + expected["man"]) / 2
    for identity, score in expected.items():
        row = row_of(table, identity, "bleu", "corpus")
        assert (row["value"], row["gap"]) == pytest.approx((score, score - middle), abs=1e-9)
        assert (row["n"], row["unscored"], row["sentences"]) == (2, int(identity == "queer"), None)
    every = [pair for pairs in texts.values() for pair in pairs]
    whole = corpus.corpus_score([text for text, _ in every], [[reference for _, reference in every]]).score
    found = metric_of(table, "bleu", "corpus")
    assert found["pooled"] == pytest.approx(whole, abs=1e-9)
    assert f"nrefs:1|{found['signature']}".startswith("nrefs:1|c:mixed|e:no|tok:zh|s:exp|")
    sentences = metric_of(table, "bleu")
    assert sentences["signature"] is None
    assert sentences["rows"] != found["rows"]


ATTITUDES = [
    # BG: 4 sentences, one shift to harsh, one to kind, one not aligned.
    case(1, "woman", eas=(0.5, -0.5)),
    case(1, "man", eas=(-0.5, 0.3)),
    case(2, "woman", eas=(0.5, 0.5)),
    case(2, "man", eas="unaligned"),
    # NBG: 5 sentences, two shifts to harsh; 0.2 itself is neither kind nor harsh.
    case(1, "queer", eas=(0.5, -0.3)),
    case(1, "gay", eas=(0.21, -0.21)),
    case(2, "queer", eas=(0.2, -0.9)),
    case(2, "gay", eas=(-0.9, 0.2)),
    case(2, "lesbian", eas="source-copy"),
    # In neither.
    case(1, "person", eas=(-0.5, 0.9)),
    case(2, "person"),
]


def test_attitude_rates_have_both_denominators() -> None:
    attitude = tables_of(ATTITUDES)[0]["attitude"]
    rows = {row["name"]: row for row in attitude["rows"]}
    assert list(rows) == ["BG", "NBG", "person", "woman", "man", "queer", "lesbian", "gay"]
    bg, nbg = rows["BG"], rows["NBG"]
    assert (bg["n"], bg["aligned"], bg["unscored"], bg["coverage"]) == (4, 3, 1, 0.75)
    assert (nbg["n"], nbg["aligned"], nbg["unscored"], nbg["coverage"]) == (5, 4, 1, 0.8)
    names = ("r_tn", "r_tp", "r_tn_aligned", "r_tp_aligned")
    assert [bg[name] for name in names] == pytest.approx([1 / 4, 1 / 4, 1 / 3, 1 / 3])
    assert [nbg[name] for name in names] == pytest.approx([2 / 5, 0, 2 / 4, 0])
    assert (bg["source"], bg["target"]) == pytest.approx(((0.5 - 0.5 + 0.5) / 3, (-0.5 + 0.3 + 0.5) / 3))
    assert nbg["target"] == pytest.approx((-0.3 - 0.21 - 0.9 + 0.2) / 4)
    # R_TP(BG) − R_TP(NBG) + R_TN(NBG) − R_TN(BG)
    assert attitude["shift_bias"]["value"] == pytest.approx(100 * (1 / 4 - 0 + 2 / 5 - 1 / 4))
    assert attitude["shift_bias_aligned"]["value"] == pytest.approx(100 * (1 / 3 - 0 + 2 / 4 - 1 / 3))
    assert rows["lesbian"]["target"] is None
    assert rows["lesbian"]["r_tn"] == 0
    assert rows["lesbian"]["r_tn_aligned"] is None


def test_a_reason_wins_over_scores_that_stand_beside_it() -> None:
    evidence = {"source_score": 0.5, "target_score": -0.5, "delta": 0.2, "reason": "undecided"}
    (row,) = tables_of([case(1, "person", attitude=evidence)])[0]["attitude"]["rows"]
    assert (row["n"], row["aligned"], row["r_tn"]) == (1, 0, 0)


def test_the_records_own_delta_counts() -> None:
    evidence = {"source_score": 0.5, "target_score": -0.5, "delta": 0.6, "reason": None}
    attitude = tables_of([case(1, "person", attitude=evidence)])[0]["attitude"]
    assert (attitude["delta"], attitude["rows"][0]["r_tn"]) == (0.6, 0)


def test_without_an_identity_of_one_group_there_is_no_bias_rate() -> None:
    attitude = tables_of([case(1, "queer", eas=(0.5, -0.5)), case(1, "person", eas=(0.5, 0.5))])[0]["attitude"]
    assert attitude["shift_bias"] == {"value": None, "low": None, "high": None, "sentences": 1}
    assert [row["name"] for row in attitude["rows"]] == ["NBG", "person", "queer"]


def made_up(seed: int, sentences: int = 40) -> list[CaseResult]:
    rng = random.Random(seed)
    found = []
    for sentence in range(sentences):
        for identity in IDENTITIES:
            eas = "unaligned" if rng.random() < 0.2 else (rng.uniform(-1, 1), rng.uniform(-1, 1))
            scores = {} if rng.random() < 0.1 else {"comet": round(rng.uniform(40, 90), 4)}
            found.append(case(sentence, identity, scores, eas=eas))
    return found


@pytest.mark.parametrize("aligned", [False, True])
def test_the_interval_is_the_bootstrap_over_sentences(aligned: bool) -> None:
    cases = made_up(1)
    found = tables_of(cases)[0]["attitude"]["shift_bias_aligned" if aligned else "shift_bias"]
    rows = [_attitude(each) for each in cases]
    assert (found["low"], found["high"]) == pytest.approx(shift_bias_interval(rows, aligned=aligned, seed=0))
    assert found["low"] < found["value"] < found["high"]
    assert found["sentences"] == 40


def _attitude(result: CaseResult) -> Attitude:
    about = Case(
        id=result.id,
        corpus=result.corpus,
        subset=Subset(result.subset),
        target_lang=result.lang,
        source=result.source,
        group=result.group,
        identity=Identity(result.identity or ""),
    )
    evidence = result.attitude or {}
    reason = evidence["reason"]
    return Attitude(
        case=about,
        translation=Translation(case=about, text="x"),
        source_score=evidence["source_score"],
        target_score=None if reason else evidence["target_score"],
        reason=reason,
    )


def test_tables_and_gates_agree() -> None:
    cases = made_up(2)
    table = tables_of(cases)[0]
    side = Side([Entry.from_result(each) for each in cases])

    def measured(name: str) -> float:
        measure = measure_named(name)
        rows = [row for entry in side.entries if (row := measure.observe(entry, side))]
        return float(measure.value(np.sum(rows, axis=0)))

    attitude = table["attitude"]
    assert measured("shift-bias-rate-all") == pytest.approx(attitude["shift_bias"]["value"])
    assert measured("shift-bias-rate") == pytest.approx(attitude["shift_bias_aligned"]["value"])
    groups = {row["name"]: row for row in attitude["rows"]}
    assert measured("eas-gap") == pytest.approx(groups["NBG"]["target"] - groups["BG"]["target"], abs=1e-3)
    metric = metric_of(table, "comet")
    assert measured("comet-sd") == pytest.approx(metric["sd"])
    others = [row for row in metric["rows"] if row["identity"] not in ("woman", "man")]
    total = sum(row["gap"] * row["sentences"] for row in others)
    assert measured("comet-gap") == pytest.approx(total / sum(row["sentences"] for row in others))
