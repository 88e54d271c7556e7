"""Agreement figures against scikit-learn, the calibration file, and corrected rates against published examples."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.agreement import THREE, TWO, Confusion, quality, vote_agreement
from pytest_gnt.verdicts.calibration import (
    Calibration,
    Place,
    corrected_rows,
    read_calibration,
    restricted,
    write_calibration,
)
from pytest_gnt.verdicts.correction import Counted, correct, true_share

LABELS = st.sampled_from(THREE)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=60))
def test_figures_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, judged = [one for one, _ in pairs], [one for _, one in pairs]
    found = quality(Confusion.of(pairs, THREE))
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(gold, judged))
    assert found["macro_f1"] == pytest.approx(metrics.f1_score(gold, judged, average="macro"))
    kappa = metrics.cohen_kappa_score(gold, judged) if len({*gold, *judged}) > 1 else math.nan
    assert found["kappa"] is None if math.isnan(kappa) else found["kappa"] == pytest.approx(kappa)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        gold, judged, labels=list(THREE), zero_division=np.nan
    )
    for place, label in enumerate(THREE):
        row = found["labels"][label]
        assert row["support"] == support[place]
        for name, values in (("precision", precision), ("recall", recall)):
            expected = None if math.isnan(values[place]) else pytest.approx(values[place])
            assert row[name] == expected
        if label in {*gold, *judged}:
            assert row["f1"] == pytest.approx(0.0 if math.isnan(f1[place]) else f1[place])
    matrix = metrics.confusion_matrix(gold, judged, labels=list(THREE))
    assert [[found["confusion"][row][column] for column in THREE] for row in THREE] == matrix.tolist()


def test_unscored_cases_are_counted_and_in_no_share() -> None:
    pairs = [("NEUTRAL", "NEUTRAL"), ("NEUTRAL", None), ("WRONGLY GENDERED", None)]
    found = quality(Confusion.of(pairs, THREE))
    assert (found["n"], found["cases"], found["unscored"], found["accuracy"]) == (1, 3, 2, 1.0)
    assert found["confusion"]["NEUTRAL"]["unscored"] == 1


def test_nothing_judged_has_no_figures() -> None:
    found = quality(Confusion.of([("NEUTRAL", None)], THREE))
    assert (found["accuracy"], found["macro_f1"], found["kappa"]) == (None, None, None)
    json.dumps(found, allow_nan=False)


def test_a_judge_without_a_mistake_on_few_labels_is_not_held_for_faultless() -> None:
    found = quality(Confusion.of([(label, label) for label in THREE for _ in range(3)], THREE))
    for name in ("accuracy", "macro_f1", "kappa"):
        assert found[name] == 1.0
        assert found[f"{name}_high"] == 1.0
        assert 0.3 < found[f"{name}_low"] < 0.95


def test_intervals_hold_what_they_promise() -> None:
    generator = np.random.default_rng(7)
    truth = np.array([[20, 4, 2], [5, 18, 4], [3, 2, 42]]) / 100
    wanted = quality(Confusion(THREE, tuple(tuple((truth * 100).astype(int)[row]) for row in range(3)), (0, 0, 0)))
    inside = {"macro_f1": 0, "kappa": 0}
    rounds = 200
    for seed in range(rounds):
        counts = generator.multinomial(120, truth.ravel()).reshape(3, 3)
        found = quality(Confusion(THREE, tuple(map(tuple, counts.tolist())), (0, 0, 0)), seed)
        for name in inside:
            inside[name] += found[f"{name}_low"] <= wanted[name] <= found[f"{name}_high"]
    for name, count in inside.items():
        assert 0.90 <= count / rounds <= 0.99, name


def test_alpha_of_votes_is_krippendorffs() -> None:
    krippendorff = pytest.importorskip("krippendorff")
    votes = [
        ("NEUTRAL", "NEUTRAL", "NEUTRAL"),
        ("NEUTRAL", "WRONGLY GENDERED", "NEUTRAL"),
        ("WRONGLY GENDERED", "WRONGLY GENDERED", "truncated"),
        ("CORRECTLY GENDERED",) * 3,
        ("invalid-verdict", "truncated", "NEUTRAL"),
    ]
    found = vote_agreement(votes)
    codes = {"NEUTRAL": 1, "WRONGLY GENDERED": 2, "CORRECTLY GENDERED": 3}
    data = [[codes.get(unit[rater], np.nan) for unit in votes] for rater in range(3)]
    assert found["alpha"] == pytest.approx(krippendorff.alpha(data, level_of_measurement="nominal"))
    assert (found["cases"], found["unanimous"]) == (4, 0.75)


def test_votes_that_are_all_one_label_have_no_alpha() -> None:
    assert vote_agreement([("NEUTRAL", "NEUTRAL")])["alpha"] is None
    assert vote_agreement([])["unanimous"] is None


def test_correction_gives_the_published_example_of_epir() -> None:
    # Stevenson et al., R package epiR, example of epi.prev: 23 of 150 cows react to a brucellosis test of sensitivity
    # 96% and specificity 89%; the estimated true prevalence is 5.1 cases in 100 cows.
    assert 100 * (true_share(23 / 150, 0.96, 0.89) or 0) == pytest.approx(5.1, abs=0.05)


def test_correction_gives_the_published_example_of_rsurveillance() -> None:
    # Sergeant, R package RSurveillance, example of tp(): 20 of 120, sensitivity 0.9, specificity 0.99. The estimate is
    # 0.17603; the five intervals printed there, for a test whose errors are known, begin at 0.101 to 0.113 and end at
    # 0.251 to 0.265. Known errors are a calibration without end here.
    assert true_share(20 / 120, 0.9, 0.99) == pytest.approx(0.17603, abs=5e-6)
    many = 10**8
    found = correct(
        Counted(successes=20, trials=120),
        Counted(successes=9 * many // 10, trials=many),
        Counted(successes=99 * many // 100, trials=many),
    )
    assert found.rate == pytest.approx(0.17603, abs=5e-6)
    assert 0.101 <= (found.low or 0) <= 0.1135
    assert 0.2505 <= (found.high or 0) <= 0.265


def test_spread_is_that_of_rogan_and_gladens_variance() -> None:
    # Rogan and Gladen 1978, variance of the estimate with sensitivity and specificity estimated on separate samples.
    p, n, se, n_se, sp, n_sp = 0.6, 600, 0.85, 400, 0.9, 500
    j = se + sp - 1
    share = (p + sp - 1) / j
    variance = (p * (1 - p) / n + share**2 * se * (1 - se) / n_se + (1 - share) ** 2 * sp * (1 - sp) / n_sp) / j**2
    found = correct(
        Counted(successes=int(p * n), trials=n),
        Counted(successes=int(se * n_se), trials=n_se),
        Counted(successes=int(sp * n_sp), trials=n_sp),
    )
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(math.sqrt(variance), rel=0.03)


def test_corrected_interval_covers_the_truth() -> None:
    generator = np.random.default_rng(3)
    truth, se, sp = 0.7, 0.9, 0.8
    inside = 0
    rounds = 300
    for seed in range(rounds):
        run = Counted(successes=int(generator.binomial(200, truth * se + (1 - truth) * (1 - sp))), trials=200)
        sensitivity = Counted(successes=int(generator.binomial(60, se)), trials=60)
        specificity = Counted(successes=int(generator.binomial(60, sp)), trials=60)
        found = correct(run, sensitivity, specificity, seed=seed)
        inside += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.91 <= inside / rounds <= 0.99


@pytest.mark.parametrize(
    ("run", "sensitivity", "specificity", "why"),
    [
        ((5, 10), (5, 10), (5, 10), "no better than chance"),
        ((5, 10), (2, 10), (3, 10), "no better than chance"),
        ((5, 10), (3, 4), (2, 4), "too few"),
        ((0, 0), (9, 10), (9, 10), "no cases"),
        ((5, 10), (0, 0), (9, 10), "no gold labels"),
    ],
)
def test_what_cannot_be_corrected_says_why(
    run: tuple[int, int], sensitivity: tuple[int, int], specificity: tuple[int, int], why: str
) -> None:
    found = correct(*(Counted(successes=a, trials=b) for a, b in (run, sensitivity, specificity)))
    assert (found.rate, found.low, found.high) == (None, None, None)
    assert why in found.why


def test_estimate_is_cut_off_at_its_bounds() -> None:
    assert true_share(0.02, 0.9, 0.9) == 0.0
    assert true_share(0.98, 0.9, 0.9) == 1.0


def confusion(right: int, wrong: int) -> Confusion:
    """As many of each label right, and wrong by the next label."""
    counts = [[0] * 3 for _ in range(3)]
    for row in range(3):
        counts[row][row], counts[row][(row + 1) % 3] = right, wrong
    return Confusion(THREE, tuple(map(tuple, counts)), (0, 0, 0))


def calibration(cells: dict[Place, Confusion], labels: tuple[str, ...] = THREE) -> Calibration:
    keys = {place.lang: f"key-{place.lang}" for place in cells}
    return Calibration(judge="j", keys=keys, gold=[{"file": "gold.tsv"}], labels=labels, cells=cells)


def test_file_comes_back_as_it_was(tmp_path: Path) -> None:
    made = calibration({Place("it", "Set-N"): confusion(9, 1), Place("de", None): confusion(5, 5)})
    write_calibration(tmp_path / "c.json", made)
    assert read_calibration(tmp_path / "c.json") == made
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]
    first = (tmp_path / "c.json").read_bytes()
    write_calibration(tmp_path / "c.json", made)
    assert (tmp_path / "c.json").read_bytes() == first


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(schema=2),
        lambda data: data.pop("cells"),
        lambda data: data["cells"][0]["counts"].pop(),
        lambda data: data["cells"][0]["counts"][0].__setitem__(0, -1),
        lambda data: data["cells"][0]["counts"][0].__setitem__(0, 1.5),
        lambda data: data.update(labels=["A", "B", "C"]),
        lambda data: data["cells"].__setitem__(0, 7),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, change: object) -> None:
    data = calibration({Place("it", None): confusion(9, 1)}).to_json()
    change(data)  # type: ignore[operator]
    path = tmp_path / "c.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(GntError, match="cannot be used as a calibration"):
        read_calibration(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(GntError, match="cannot be used"):
        read_calibration(path)
    with pytest.raises(GntError, match="gnt judge-eval"):
        read_calibration(tmp_path / "none.json")


def test_quality_by_language_adds_up_the_sets() -> None:
    cells = {
        Place("it", "Set-N"): confusion(9, 1),
        Place("it", "Set-G"): confusion(8, 2),
        Place("de", None): confusion(5, 5),
    }
    rows = calibration(cells).rows()
    assert [(row["lang"], row["n"], row["gold"]) for row in rows] == [("de", 30, "gold.tsv"), ("it", 60, "gold.tsv")]
    assert rows[1]["accuracy"] == pytest.approx(51 / 60)
    assert set(restricted(calibration(cells), ["de"]).cells) == {Place("de", None)}


def judged(subset: str, **labels: int) -> list[tuple[str, str, str, dict[str, int]]]:
    return [("mgente", "it", subset, {name.replace("_", " "): count for name, count in labels.items()})]


def test_corrected_rows_use_the_set_where_it_has_enough_labels() -> None:
    cells = {Place("it", "Set-N"): confusion(9, 1), Place("it", "Set-G"): confusion(2, 1)}
    (row,) = corrected_rows(calibration(cells), judged("Set-N", NEUTRAL=60, WRONGLY_GENDERED=40, unscored=7))
    assert (row["n"], row["observed"], row["basis"]) == (100, 0.6, "it, Set-N")
    assert row["rate"] == pytest.approx(true_share(0.6, 0.9, 0.95))
    assert row["low"] < row["rate"] < row["high"]
    (pooled,) = corrected_rows(calibration(cells), judged("Set-G", CORRECTLY_GENDERED=60, NEUTRAL=40))
    assert pooled["basis"] == "it"


def test_corrected_rows_say_why_there_is_no_correction() -> None:
    (row,) = corrected_rows(calibration({Place("it", None): confusion(1, 0)}), judged("Set-N", NEUTRAL=5))
    assert row["rate"] is None
    assert "fewer than 10" in row["why"]
    two = Confusion(TWO, ((30, 5), (4, 31)), (0, 0))
    made = calibration({Place("it", None): two}, TWO)
    (neutral,) = corrected_rows(made, judged("Set-N", NEUTRAL=60, WRONGLY_GENDERED=40))
    assert neutral["rate"] is not None
    (strict,) = corrected_rows(made, judged("Set-G", CORRECTLY_GENDERED=60, NEUTRAL=40))
    assert strict["rate"] is None, "two labels do not tell right from wrong"


def test_only_sets_with_a_rule_are_corrected() -> None:
    made = calibration({Place("it", None): confusion(20, 1)})
    assert corrected_rows(made, judged("authentic", NEUTRAL=5)) == []
    assert corrected_rows(made, judged("Set-N", unscored=5)) == []
