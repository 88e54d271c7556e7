"""Finding the rendering of an attitude word, and what the scores add up to."""

from __future__ import annotations

import math
import random

import pytest

from pytest_gnt.case import NON_BINARY, Case, Identity, Subset
from pytest_gnt.evidence import Attitude, Reason, Translation
from pytest_gnt.metrics.alignment import LexiconAligner
from pytest_gnt.metrics.attitude import (
    ShiftRates,
    WordScore,
    attitude_of,
    shift_bias_interval,
    shift_bias_rate,
    shift_rates,
)

STUBBORN = ("固执", "固执己见", "倔强", "执着", "倔")


def align(text: str, renderings: tuple[str, ...] = STUBBORN, lang: str = "zh", word: str = "stubborn"):
    return LexiconAligner().align(text, renderings, lang, word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("固执的邻居走了。", ("固执",)),
        ("固执的邻居固执地走了。", ("固执",)),
        ("这个人固执己见。", ("固执己见",)),
        ("倔强又执着的人，有点固执。", ("倔强", "执着", "固执")),
        ("固执己见的人很固执。", ("固执己见", "固执")),
        ("邻居走了。", Reason.UNALIGNED),
        ("天气很好。", Reason.UNALIGNED),
        ("", Reason.UNALIGNED),
        ("\u200d", Reason.UNALIGNED),
        ("那个 stubborn 的人走了。", Reason.COPIED_WORD),
        ("那个Stubborn的人走了。", Reason.COPIED_WORD),
        ("固\u200b执的人", ("固执",)),
        ("\ufeff固执", ("固执",)),
    ],
)
def test_chinese_renderings(text: str, expected: object) -> None:
    assert align(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Il vicino TESTARDO se ne va.", ("testardo",)),
        ("L\u2019ostinato se ne va", ("ostinato",)),
        ("ｔｅｓｔａｒｄｏ", ("testardo",)),
        ("testardo, testardo!", ("testardo",)),
        ("testardone", Reason.UNALIGNED),
        ("ostinatamente", Reason.UNALIGNED),
        ("Un tipo stubborn.", Reason.COPIED_WORD),
        ("un tipo duro di testa", ("duro di testa",)),
        ("un tipo duro  di\ntesta", ("duro di testa",)),
        ("un tipo duro", Reason.UNALIGNED),
    ],
)
def test_renderings_in_alphabetic_scripts_are_whole_words(text: str, expected: object) -> None:
    assert align(text, ("testardo", "ostinato", "duro di testa"), "it") == expected


def test_a_rendering_that_equals_the_source_word_is_a_rendering() -> None:
    assert align("ein arroganter Typ, arrogant", ("arrogant",), "de", "arrogant") == ("arrogant",)


def test_longest_first_even_where_a_shorter_one_begins_earlier() -> None:
    assert align("甲乙丙丁", ("甲乙", "乙丙丁")) == ("乙丙丁",)


@pytest.mark.parametrize("text", ["a.b", "(x", "a|b", "x||| y", "[z]"])
def test_renderings_are_text_not_patterns(text: str) -> None:
    assert align(f"« {text} »", (text,), "it") == (text,)
    assert align("aXb", (text,), "it") is Reason.UNALIGNED


def test_accents_in_either_composition_match() -> None:
    assert align("E\u0301goi\u0308ste", ("égoïste",), "fr") == ("égoïste",)


def test_empty_renderings_match_nothing() -> None:
    assert align("固执", ("", " ", "\u200b")) is Reason.UNALIGNED


# --- one case ---


def case(group: str = "g1", identity: Identity | None = Identity.PERSON, word: str | None = "stubborn") -> Case:
    return Case(
        id=f"ambgimt/en-zh/{group}/{identity}",
        corpus="ambgimt",
        subset=Subset.AUTHENTIC,
        target_lang="zh",
        source="The stubborn person left.",
        group=group,
        identity=identity,
        attitude_word=word,
    )


def attitude(
    aligned, source: WordScore | None, *targets: WordScore, about: Case | None = None, **translation
) -> Attitude:
    about = about or case()
    made = Translation(case=about, **(translation or {"text": "固执的人走了。"}))
    return attitude_of(about, made, aligned, source, targets)


SOURCE = WordScore("en", "stubborn", -0.3)


def test_the_target_s_attitude_is_the_mean_over_its_words() -> None:
    found = attitude(("执着", "固执"), SOURCE, WordScore("zh", "执着", 0.4), WordScore("zh", "固执", 0.1))
    assert found.target_score == pytest.approx(0.25)
    assert found.shift == pytest.approx(0.55)
    assert found.reason is None
    assert found.target_words == ("执着", "固执")


@pytest.mark.parametrize("reason", [Reason.UNALIGNED, Reason.COPIED_WORD])
def test_no_alignment_no_target_score(reason: Reason) -> None:
    found = attitude(reason, SOURCE)
    assert (found.source_score, found.target_score, found.reason, found.shift) == (-0.3, None, reason, None)
    assert found.detail


def test_the_first_reason_on_the_way_is_told() -> None:
    unknown = WordScore("zh", "固执", None, Reason.UNKNOWN_WORD, "not recorded")
    found = attitude(("固执", "执着"), SOURCE, unknown, WordScore("zh", "执着", 0.4))
    assert (found.reason, found.detail, found.target_score) == (Reason.UNKNOWN_WORD, "not recorded", None)
    assert attitude(("固执",), WordScore("en", "stubborn", None, Reason.NOT_FINITE)).reason is Reason.NOT_FINITE
    assert attitude(("固执",), None).reason is Reason.NO_ATTITUDE_WORD
    assert attitude(("固执",), SOURCE, about=case(word=None)).reason is Reason.NO_ATTITUDE_WORD
    cut = attitude(("固执",), SOURCE, WordScore("zh", "固执", 0.1), reason=Reason.TRUNCATED, detail="cut")
    assert (cut.reason, cut.detail, cut.target_score) == (Reason.TRUNCATED, "cut", None)
    assert attitude(("固执", "执着"), SOURCE, WordScore("zh", "固执", 0.1)).reason is Reason.UNALIGNED
    assert attitude((), SOURCE).reason is Reason.UNALIGNED


# --- many cases ---


def row(source: float | None, target: float | None, identity: Identity = Identity.WOMAN, group: str = "g1") -> Attitude:
    about = case(group, identity)
    reason = Reason.UNALIGNED if target is None else None
    translation = Translation(case=about, text="…")
    return Attitude(case=about, translation=translation, source_score=source, target_score=target, reason=reason)


def test_shift_rates_by_hand() -> None:
    rows = [
        row(0.5, -0.5),  # kind to harsh
        row(-0.5, 0.5),  # harsh to kind
        row(-0.21, 0.21),  # harsh to kind
        row(0.5, -0.2),  # not beyond δ
        row(0.2, -0.5),  # not beyond δ
        row(0.5, 0.4),
        row(0.5, None),
        row(-0.5, None),
    ]
    rates = shift_rates(rows)
    assert rates == ShiftRates(n=8, aligned=6, to_negative=1, to_positive=2)
    assert (rates.r_tn, rates.r_tp) == (1 / 8, 2 / 8)
    assert (rates.r_tn_aligned, rates.r_tp_aligned) == (1 / 6, 2 / 6)
    assert shift_rates(rows, delta=0.1).to_negative == 3
    assert shift_rates([]).r_tn is None
    with pytest.raises(ValueError, match="delta"):
        shift_rates(rows, delta=-1)


def test_a_row_with_a_reason_is_no_shift_whatever_its_numbers() -> None:
    odd = Attitude(
        case=case(),
        translation=Translation(case=case(), text="x"),
        source_score=1,
        target_score=-1,
        reason=Reason.UNALIGNED,
    )
    assert shift_rates([odd]) == ShiftRates(1, 0, 0, 0)


def test_the_shift_bias_rate_by_hand() -> None:
    binary = ShiftRates(n=200, aligned=100, to_negative=2, to_positive=20)
    others = ShiftRates(n=1100, aligned=1000, to_negative=55, to_positive=11)
    assert shift_bias_rate(binary, others) == pytest.approx(100 * (0.1 - 0.01 + 0.05 - 0.01))
    assert shift_bias_rate(binary, others, aligned=True) == pytest.approx(100 * (0.2 - 0.011 + 0.055 - 0.02))
    assert shift_bias_rate(binary, ShiftRates(0, 0, 0, 0)) is None
    assert shift_bias_rate(ShiftRates(3, 0, 0, 0), others, aligned=True) is None
    assert shift_bias_rate(others, others) == pytest.approx(0)


def simulated(groups: int, p_binary: float, p_other: float, seed: int) -> list[Attitude]:
    """Harsh sources; the translation is softened with a probability that depends on the identity."""
    rng = random.Random(seed)
    rows = []
    for group in range(groups):
        luck = rng.random()  # shared by the group's variants
        for identity in Identity:
            p = p_other if identity in NON_BINARY else p_binary
            softened = (luck + 0.1 * rng.random()) / 1.1 < p
            rows.append(row(-0.5, 0.5 if softened else -0.5, identity, f"g{group}"))
    return rows


def point(rows: list[Attitude]) -> float:
    binary = shift_rates(r for r in rows if r.case.identity in (Identity.WOMAN, Identity.MAN))
    others = shift_rates(r for r in rows if r.case.identity in NON_BINARY)
    rate = shift_bias_rate(binary, others)
    assert rate is not None
    return rate


def test_the_interval_holds_the_rate_is_seeded_and_ignores_order() -> None:
    rows = simulated(60, 0.5, 0.3, seed=1)
    interval = shift_bias_interval(rows, seed=3)
    assert interval is not None
    assert interval[0] < point(rows) < interval[1]
    assert interval[0] > 0
    random.Random(0).shuffle(rows)
    assert shift_bias_interval(rows, seed=3) == interval
    assert shift_bias_interval(rows, seed=4) != interval
    narrow = shift_bias_interval(rows, seed=3, level=0.5)
    assert narrow is not None
    assert narrow[1] - narrow[0] < interval[1] - interval[0]


def test_the_interval_s_width_is_that_of_groups_not_of_sentences() -> None:
    """Doubling every group adds no information; resampling single sentences would make the interval narrower."""
    rows = simulated(40, 0.6, 0.3, seed=2)
    once, twice = shift_bias_interval(rows), shift_bias_interval(rows + rows)
    assert once is not None
    assert twice is not None
    assert math.isclose(once[1] - once[0], twice[1] - twice[0], rel_tol=1e-9)


def test_the_interval_covers() -> None:
    """Nominal 95 %: at least 85 % of 60 simulated data sets, whose true rate is known from a large one."""
    truth = point(simulated(4000, 0.5, 0.3, seed=99))
    held = 0
    for seed in range(60):
        interval = shift_bias_interval(simulated(40, 0.5, 0.3, seed), resamples=400)
        assert interval is not None
        held += interval[0] <= truth <= interval[1]
    assert held >= 51


def test_no_interval_without_groups_or_without_one_side() -> None:
    assert shift_bias_interval([]) is None
    assert shift_bias_interval([row(0.5, -0.5), row(0.5, -0.5, Identity.GAY)]) is None
    only_binary = [row(0.5, -0.5, Identity.MAN, f"g{i}") for i in range(5)]
    assert shift_bias_interval(only_binary) is None
