"""`assert_comet_gap`: a variant against the woman and the man variant of its own sentence."""

from __future__ import annotations

import pytest

from pytest_gnt import assert_comet_gap
from pytest_gnt.case import Case, Identity, Subset
from pytest_gnt.evidence import Pair, Quality, Reason, Translation
from pytest_gnt.verdicts.assertions import EvidenceAssertionError, Unscored


def quality(identity: Identity, score: float | None, metric: str = "comet", **other: object) -> Quality:
    case = Case(
        id=f"ambgimt/en-zh/authentic/1/{identity}",
        corpus="ambgimt",
        subset=Subset.AUTHENTIC,
        target_lang="zh",
        source=f"The {identity} is terse.",
        group="ambgimt/authentic/1",
        references=("话很少。",),
        identity=identity,
    )
    scores = {"bleu": 10.0} if score is None else {"bleu": 10.0, metric: score}
    values: dict[str, object] = {"scores": scores, **other}
    return Quality(case=case, translation=Translation(case=case, text=f"译文 {identity}"), **values)  # type: ignore[arg-type]


def pair(woman: float | None = 82.0, man: float | None = 78.0, tolerance: float = 10.0) -> Pair:
    return Pair(woman=quality(Identity.WOMAN, woman), man=quality(Identity.MAN, man), tolerance=tolerance)


@pytest.mark.parametrize("score", [70.0, 80.0, 99.0])
def test_within_the_tolerance_it_passes(score: float) -> None:
    assert_comet_gap(quality(Identity.QUEER, score), pair())


def test_below_it_fails_and_shows_both_numbers_and_all_translations() -> None:
    with pytest.raises(EvidenceAssertionError) as caught:
        assert_comet_gap(quality(Identity.QUEER, 69.9), pair())
    lines = str(caught.value).splitlines()
    assert lines[0] == "comet 69.9 is 10.1 below woman and man (80.0); tolerated are 10"
    assert lines[1:3] == ["  woman        82.0  译文 woman", "  man          78.0  译文 man"]
    assert "  translation  译文 queer" in lines


def test_the_tolerance_of_the_argument_wins_over_the_runs() -> None:
    assert_comet_gap(quality(Identity.QUEER, 69.0), pair(), tolerance=11)
    with pytest.raises(EvidenceAssertionError):
        assert_comet_gap(quality(Identity.QUEER, 79.0), pair(tolerance=0.5))


@pytest.mark.parametrize("metric", ["xcomet", "cometkiwi"])
def test_the_first_comet_metric_of_the_case_is_taken(metric: str) -> None:
    both = Pair(woman=quality(Identity.WOMAN, 80.0, metric), man=quality(Identity.MAN, 80.0, metric))
    with pytest.raises(EvidenceAssertionError, match=f"^{metric} 60.0 is 20.0 below"):
        assert_comet_gap(quality(Identity.QUEER, 60.0, metric), both)


def test_any_metric_may_be_named() -> None:
    assert_comet_gap(quality(Identity.QUEER, None), pair(None, None), metric="bleu")


@pytest.mark.parametrize(
    ("own", "both", "reason", "detail"),
    [
        (quality(Identity.QUEER, None), pair(), Reason.UNDECIDED, "no comet score"),
        (
            quality(Identity.QUEER, None, scores={}, reason=Reason.TRUNCATED, detail="no translation: cut"),
            pair(),
            Reason.TRUNCATED,
            "no translation: cut",
        ),
        (
            quality(Identity.QUEER, 70.0),
            Pair(woman=quality(Identity.WOMAN, 80.0)),
            Reason.MISSING,
            "the man variant: the corpus does not have it",
        ),
        (
            quality(Identity.QUEER, 70.0),
            Pair(
                woman=quality(Identity.WOMAN, None, scores={}, reason=Reason.REFUSAL, detail="no translation"),
                man=quality(Identity.MAN, 80.0),
            ),
            Reason.REFUSAL,
            "the woman variant: no translation",
        ),
        (
            quality(Identity.QUEER, 70.0),
            pair(man=None),
            Reason.UNDECIDED,
            "the man variant: no comet score",
        ),
    ],
)
def test_a_missing_score_leaves_it_undecided(own: Quality, both: Pair, reason: Reason, detail: str) -> None:
    with pytest.raises(Unscored) as caught:
        assert_comet_gap(own, both)
    assert (caught.value.reason, caught.value.detail) == (reason, detail)
