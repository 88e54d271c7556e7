"""The numbers behind the charts, against values worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from make_folder import Recipe, baseline_of, make_folder, record_of

from pytest_gnt.reports import charts
from pytest_gnt.reports.html_attitude import Attitudes, level, shift_of
from pytest_gnt.reports.html_baseline import Before, changes_of, entry_of
from pytest_gnt.reports.html_changed import changed_strata
from pytest_gnt.reports.html_coherence import NOT_JUDGED, Coherence
from pytest_gnt.reports.html_gaps import Gaps
from pytest_gnt.reports.html_heat import heat_maps
from pytest_gnt.reports.html_rates import identity_panels, matrices, set_panels, weakest
from pytest_gnt.reports.html_run import corrected_rows, judge_view, notes_of, stage_rows, usage_rows, when
from pytest_gnt.reports.html_text import duration, fragment, number, percent, shown, spoken
from pytest_gnt.verdicts.rates import tally
from pytest_gnt.verdicts.results import CaseResult, read_results, read_summary


def case(name: str, **fields: Any) -> CaseResult:
    return CaseResult.from_json(record_of(name, **fields))


def scored(identity: str, comet: float, group: str = "g1", outcome: str = "passed", **fields: Any) -> CaseResult:
    tests = {"test_kept": {"outcome": outcome, "reason": None, "message": ""}}
    quality = {"scores": {"comet": comet}}
    return case(
        f"a/en-zh/{group}/{identity}", group=group, identity=identity, lang="zh", quality=quality, tests=tests, **fields
    )


def test_gaps_are_means_over_sentences_with_all_three() -> None:
    gaps = Gaps()
    for result in (
        scored("woman", 80.0), scored("man", 90.0), scored("queer", 70.0, outcome="failed"),
        scored("woman", 60.0, "g2"), scored("man", 62.0, "g2"), scored("queer", 63.0, "g2"),
        scored("woman", 10.0, "g3"), scored("queer", 99.0, "g3"),  # no man: no gap
    ):  # fmt: skip
        gaps.add(result)
    cells = gaps.table()["a", "zh"]
    queer = cells["comet"]["queer"]
    assert queer["gap"] == pytest.approx(((70 - 85) + (63 - 61)) / 2)
    assert queer["sentences"] == 2
    assert queer["mean"] == pytest.approx((70 + 63 + 99) / 3)
    assert cells["comet"]["woman"]["gap"] == pytest.approx((-5 - 1) / 2)
    assert cells["test_kept"]["queer"]["gap"] == pytest.approx(-50)


def test_a_gap_is_coloured_only_where_chance_would_rarely_give_it() -> None:
    steady, shaky = Gaps(), Gaps()
    for place in range(20):
        for gaps, spread in ((steady, 0.5), (shaky, 40.0)):
            swing = spread if place % 2 else -spread
            for identity, value in (("woman", 80.0), ("man", 80.0), ("queer", 75.0 + swing)):
                gaps.add(scored(identity, value, f"g{place}"))
    levels = []
    for gaps in (steady, shaky):
        (found,) = heat_maps(gaps, ["test_kept"])
        column = [each["name"] for each in found["columns"]].index("comet")
        row = next(row for row in found["rows"] if row["identity"] == "queer")
        assert row["cells"][column]["gap"] == pytest.approx(-5)
        levels.append(row["cells"][column]["level"])
    assert levels == [-4, 0]


def test_coherence_counts_forms() -> None:
    coherence = Coherence()
    pairs = [("NEUTRAL", "NEUTRAL")] * 3 + [("NEUTRAL", "WRONGLY GENDERED"), ("GENDERED", "CORRECTLY GENDERED")]
    pairs += [("GENDERED", None), (None, "NEUTRAL")]
    for place, (said, judged) in enumerate(pairs):
        coherence.add(case(f"a/en-it/{place}", translation={"text": "x", "label": said}, judgement={"label": judged}))
    view = coherence.view()
    assert view is not None
    assert (view["all"]["passed"], view["all"]["n"], view["all"]["unscored"]) == (4, 5, 1)
    assert view["rows"][0]["cells"]["NEUTRAL"]["share"] == pytest.approx(0.75)
    assert view["rows"][1]["cells"][NOT_JUDGED]["count"] == 1
    assert not view["rows"][1]["cells"][NOT_JUDGED]["agrees"]
    assert view["languages"] == []
    assert Coherence().view() is None


def attitude(source: float | None, target: float | None, identity: str = "woman", **more: Any) -> CaseResult:
    scores = {"source_score": source, "target_score": target, **more}
    return case(f"a/en-zh/1/{identity}", identity=identity, attitude=scores)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (0.5, -0.5, "kind-harsh"), (-0.5, 0.5, "harsh-kind"), (0.2, -0.2, "neither-neither"),
        (0.21, 0.0, "kind-neither"),
        (None, 0.5, None), (math.nan, 0.5, None), (math.inf, 0.5, None),
    ],
)  # fmt: skip
def test_shifts(source: float | None, target: float | None, expected: str | None) -> None:
    assert shift_of(attitude(source, target)) == expected


def test_a_record_may_state_its_own_delta() -> None:
    assert shift_of(attitude(0.3, -0.3, delta=0.4)) == "neither-neither"
    assert level(0.3, 0.2) == "kind"


def test_shares_of_shifts_are_over_all_cases_of_the_group() -> None:
    attitudes = Attitudes()
    for result in (
        attitude(0.5, -0.5, "queer"), attitude(0.5, None, "queer"), attitude(-0.5, 0.5, "woman"),
        attitude(0.5, 0.5, "man"), attitude(0.5, -0.5, "person"),
    ):  # fmt: skip
        attitudes.add(result)
    view = attitudes.view()
    assert view is not None
    groups = {row["name"]: row for row in view["groups"]}
    assert groups["other identities"]["down_share"] == pytest.approx(1 / 2)
    assert groups["other identities"]["missing"] == 1
    assert groups["woman, man"]["up_share"] == pytest.approx(1 / 2)
    assert groups["all"]["down"] == 2
    assert view["scored"] == 4
    assert sum(cell["count"] for _, cells in view["rows"] for cell in cells) == 4
    assert view["plot"] is not None
    assert sorted(dot.kind for dot in view["plot"].dots for _ in range(dot.count)) == [
        "better",
        "other",
        "worse",
        "worse",
    ]


def test_a_dense_plot_has_few_marks_and_loses_no_point() -> None:
    cells = {(i, j): 3 for i in range(-60, 60) for j in range(-60, 60)}
    cells[400, -400] = 2
    plot = charts.scatter(cells, 0.05, 0.2)
    assert sum(dot.count for dot in plot.dots) == sum(cells.values())
    assert len(plot.dots) < 3000
    assert plot.outside == 2
    assert plot.limit == 3.0
    assert all(0 <= dot.x <= plot.size and 0 <= dot.y <= plot.size for dot in plot.dots)


def test_scales() -> None:
    assert [charts.level(value, charts.RATE_STEPS) for value in (0.5, 1.0, -2.0, -100.0, None, math.nan)] == [
        0,
        1,
        -2,
        -4,
        0,
        0,
    ]
    assert [charts.share_level(share) for share in (None, 0.0, 0.1, 0.2, 0.99, 1.0)] == [0, 0, 1, 2, 5, 5]
    assert [charts.position(share) for share in (-1, 0.123456, 2)] == ["0.00%", "12.35%", "100.00%"]


def test_changes_by_group(tmp_path: Path) -> None:
    old = baseline_of(make_folder(tmp_path / "old", Recipe(version=1)))
    new = make_folder(tmp_path / "new", Recipe(version=2))
    before = Before()
    for result in read_results(new):
        entry = entry_of(old[result.id])
        before.add(result, changes_of(result, entry))
    rates = read_summary(new)["rates"]
    rows = changed_strata(rates, before)
    assert rows
    for row in rows:
        assert row["regressed"] + row["lost"] > row["better"]
        assert row["before"] is not None
    by_lang = {"lang": "it", "subset": "Set-N"}
    old_rates = tally(CaseResult.from_json(record) for record in old.values()).rates()
    wanted = next(row["rate"] for row in old_rates if row["by"] == by_lang)
    assert before.rate("mgente", "test_neutral_where_gender_is_open", by_lang) == pytest.approx(wanted)
    panel = next(panel for panel in set_panels(rates, before) if panel["title"] == "neutral where gender is open")
    row = next(row for row in panel["rows"] if row["label"] == "it · Set-N")
    assert row["delta"] == pytest.approx(row["rate"] - wanted)


def test_a_changed_source_is_not_compared() -> None:
    before = entry_of(record_of("a/en-it/1"))
    change = changes_of(case("a/en-it/1", source="Another sentence."), before)
    assert [each.kind for each in change.values()] == ["not-comparable"]


def test_panels_and_matrices(tmp_path: Path) -> None:
    rates = read_summary(make_folder(tmp_path))["rates"]
    panels = identity_panels(rates, None)
    assert [row["label"] for row in panels[0]["rows"]][:3] == ["person", "woman", "man"]
    binary = [row for row in panels[0]["rows"] if row["label"] in ("woman", "man")]
    assert panels[0]["reference"] == pytest.approx(
        sum(row["passed"] for row in binary) / sum(row["n"] for row in binary)
    )
    gendered = next(panel for panel in set_panels(rates, None) if panel["title"].startswith("gendered"))
    assert [row["label"] for row in gendered["rows"]][:3] == ["de · Set-G", "de · Set-G · F", "de · Set-G · M"]
    shape = {each["corpus"]: (len(each["rows"]), len(each["columns"])) for each in matrices(rates, None)}
    assert shape == {"ambgimt": (1, 4), "mgente": (4, 2)}
    worst = weakest(rates)
    assert worst == sorted(worst, key=lambda row: (row["high"], row["rate"]))


def test_the_judge_and_the_stages() -> None:
    rows = [
        {
            "lang": "it",
            "gold": "g",
            "n": 10,
            "accuracy": 0.9,
            "accuracy_low": 0.6,
            "accuracy_high": 0.98,
            "macro_f1": None,
        },
        {"lang": "xx", "gold": "g", "n": 0, "accuracy": 0.0, "macro_f1": 0.0},
    ]
    agreement = {"cases": 3, "unanimous": 1.0, "alpha": 0.8, "note": ""}
    view = judge_view({"name": "j", "title": "", "quality": rows, "note": "beware", "agreement": agreement})
    assert view is not None
    assert [(row["accuracy"], row["macro_f1"]) for row in view["quality"]] == [("0.90 [0.60, 0.98]", "–")]
    assert view["notes"][0] == "beware"
    assert "alpha 0.80" in view["notes"][1]
    assert judge_view(None) is None
    table = stage_rows([{"stage": "judge", "requested": 5, "stored": 1, "computed": 4, "seconds": 2.0, "tokens": 1234}])
    assert table["columns"] == ["requested", "stored", "computed", "failed", "tokens"]
    assert table["rows"][0]["cells"] == ["5", "1", "4", "–", "1,234"]
    assert table["rows"][0]["pace"] == "2.0/s"
    usage = {"model": "m", "requests": 1200, "prompt_tokens": 3, "completion_tokens": 4, "cost": 0.5}
    assert usage_rows([usage])[0]["requests"] == "1,200"
    assert [row["cost"] for row in usage_rows([usage, usage | {"cost": None}])] == ["0.5000", "–"]
    repeats = {"runs": 3, "unstable": 12, "cases": 1000, "rate": 0.008}
    assert "two runs disagree on 0.8%" in notes_of({"notes": ["a"], "repeats": repeats})[1]
    assert notes_of({"notes": ["a"], "repeats": None}) == ["a"]
    none = corrected_rows(
        [
            {
                "corpus": "m",
                "lang": "it",
                "subset": "Set-N",
                "n": 5,
                "observed": 0.5,
                "rate": None,
                "low": None,
                "high": None,
                "why": "few",
            }
        ]
    )
    assert none[0]["basis"] == "few"


def test_texts() -> None:
    assert shown("a\u202eb\ud800\x00") == "a⟨U+202E⟩b⟨U+D800⟩⟨U+0000⟩"
    assert shown("two\nlines\tand café 固执 😀") == "two\nlines\tand café 固执 😀"
    assert fragment(test="a b&c=d", identity=None, lang="\ud800") == "#test=a%20b%26c%3Dd&lang=%3F"
    assert [number(-0.0004, 2, sign=True), number(-1234.5, 1), number(0.26, 1, sign=True)] == [
        "0.00",
        "−1,234.5",
        "+0.3",
    ]
    assert [percent(None), percent(0.1234)] == ["–", "12.3%"]
    assert [duration(value) for value in (0.25, 12.4, 200, 7300)] == ["0.2 s", "12 s", "3 min 20 s", "2 h 1 min"]
    assert spoken("test_identity_is_kept") == "identity is kept"
    assert when("2026-03-02T09:58:11+00:00") == "2026-03-02 09:58 UTC"
