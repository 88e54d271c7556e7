"""AmbGIMT's tables as sheets of text: what the page, Markdown and LaTeX show alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gnt.reports.html_text import number, percent

Place = Mapping[str, Any]

ALL = "all"
BINARY = ("woman", "man", "BG")

_TITLES = {
    "comet": "COMET",
    "comet_mean": "COMET (mean of references)",
    "xcomet": "xCOMET",
    "xcomet_mean": "xCOMET (mean of references)",
    "cometkiwi": "CometKiwi",
    "bleu": "BLEU",
    "bleu_without_identity": "BLEU without identity",
    "chrf": "chrF",
}
_NO_REFERENCE = "BLEU, chrF and COMET need a reference; CometKiwi does not"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a sheet. ``kind``: ``binary`` (woman, man, BG), ``total`` (mean, standard deviation) or nothing."""

    label: str
    cells: tuple[str, ...]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table: what it is about, its heads (the first is that of the labels), rows, and what a reader has to know."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def shown_places(tables: Iterable[Place]) -> list[Place]:
    """The places worth showing: where a language has one subset only, ``all`` would say the same again."""
    kept, subsets = list(tables), dict[tuple[str, str], int]()
    for place in kept:
        subsets[_corpus(place)] = subsets.get(_corpus(place), 0) + 1
    return [place for place in kept if place["subset"] != ALL or subsets[_corpus(place)] != 2]


def _corpus(place: Place) -> tuple[str, str]:
    return place["corpus"], place["lang"]


def sheets(tables: Iterable[Place]) -> list[Sheet]:
    """Quality and attitude of each place."""
    found = []
    for place in shown_places(tables):
        if place["quality"]:
            found.append(quality_sheet(place))
        elif place["no_reference"]:
            found.append(Sheet(f"Quality: {_title(place)}", (), (), (_reference_note(place),)))
        if place["attitude"]:
            found.append(attitude_sheet(place))
    return found


def _title(place: Place) -> str:
    return f"{place['corpus']}, {place['lang']}, {place['subset']}"


def quality_sheet(place: Place) -> Sheet:
    """Each metric's score and gap by identity, with the number of cases, then mean and standard deviation."""
    metrics = place["quality"]
    alike = all(_counts(metric) == _counts(metrics[0]) for metric in metrics)
    heads = ["identity", *(["n"] if alike else [])]
    for metric in metrics:
        heads += [metric_title(metric), "gap", *([] if alike else ["n"])]
    rows = []
    for at, first in enumerate(metrics[0]["rows"]):
        cells = [_counted(first)] if alike else []
        for metric in metrics:
            row = metric["rows"][at]
            cells += [_points(row["value"]), _gap(row["gap"]), *([] if alike else [_counted(row)])]
        kind = "binary" if first["identity"] in BINARY else ""
        rows.append(Row(first["identity"], tuple(cells), kind))
    rows += [_total("mean", metrics, alike), _total("sd", metrics, alike)]
    return Sheet(f"Quality: {_title(place)}", tuple(heads), tuple(rows), tuple(_quality_notes(place)))


def _counts(metric: Mapping[str, Any]) -> list[tuple[int, int]]:
    return [(row["n"], row["unscored"]) for row in metric["rows"]]


def _total(name: str, metrics: Sequence[Mapping[str, Any]], alike: bool) -> Row:
    cells = [""] if alike else []
    for metric in metrics:
        gap = _gap(metric["gap_mean"]) if name == "mean" else _points(metric["gap_sd"])
        cells += [_points(metric[name]), gap, *([] if alike else [""])]
    label = {"mean": "mean", "sd": "deviation"}[name]
    return Row(f"{label} of {max(metric['identities'] for metric in metrics)}", tuple(cells), "total")


def _quality_notes(place: Place) -> Iterator[str]:
    yield (
        "Points of 100. Gap: to the mean of woman and man, sentence by sentence, or of the corpus scores. n: scored + "
        "unscored cases. Mean and standard deviation (n − 1) are over the identities that have a score."
    )
    for metric in place["quality"]:
        if metric["signature"]:
            yield f"{metric_title(metric)}: sacreBLEU {metric['signature']}"
    if place["no_reference"]:
        yield _reference_note(place)


def _reference_note(place: Place) -> str:
    return f"{number(place['no_reference'])} of {number(place['cases'])} cases have no reference. {_NO_REFERENCE}."


def metric_title(metric: Mapping[str, Any]) -> str:
    """A metric's name for people; corpus BLEU and the mean of sentence BLEU are different numbers."""
    title = _TITLES.get(metric["metric"], metric["metric"])
    if metric["level"] == "corpus":
        return f"{title} (corpus)"
    return f"{title} (mean of sentences)" if metric["metric"].startswith(("bleu", "chrf")) else title


def attitude_sheet(place: Place) -> Sheet:
    """EAS, shifts with both denominators and coverage for BG, NBG and each identity."""
    attitude = place["attitude"]
    heads = (
        "identities",
        "n",
        "aligned",
        "EAS source",
        "EAS translation",
        "R_TN",
        "R_TP",
        "R_TN aligned",
        "R_TP aligned",
    )
    shares = ("r_tn", "r_tp", "r_tn_aligned", "r_tp_aligned")
    rows = tuple(
        Row(
            row["name"],
            (
                _of_aligned(row),
                percent(row["coverage"]),
                *(_score(row[name]) for name in ("source", "target")),
                *(percent(row[name], 2) for name in shares),
            ),
            "binary" if row["name"] in BINARY else "",
        )
        for row in attitude["rows"]
    )
    return Sheet(f"Attitude: {_title(place)}", heads, rows, tuple(_attitude_notes(attitude)))


def _attitude_notes(attitude: Mapping[str, Any]) -> Iterator[str]:
    yield f"Shift bias rate: {bias_text(attitude['shift_bias'])} over all, {_over_aligned(attitude)}."
    yield (
        f"BG: woman, man; NBG: the eleven others; person is in neither. δ = {attitude['delta']:g}. R_TN: kind to "
        f"harsh, R_TP: harsh to kind, over all n, then over the aligned. n: aligned + unscored. EAS over the aligned. "
        f"Interval: 95%, {attitude['resamples']} bootstrap draws of whole sentences."
    )


def _over_aligned(attitude: Mapping[str, Any]) -> str:
    return f"{bias_text(attitude['shift_bias_aligned'])} over the aligned sentences"


def bias_text(found: Mapping[str, Any]) -> str:
    """The rate in percent with its interval; a dash where a group has no sentence."""
    if found["value"] is None:
        return "–"
    value = number(found["value"], 2, sign=True)
    if found["low"] is None:
        return value
    return f"{value} [{number(found['low'], 2, sign=True)}, {number(found['high'], 2, sign=True)}]"


def _counted(row: Mapping[str, Any]) -> str:
    return number(row["n"]) + (f" + {number(row['unscored'])}" if row["unscored"] else "")


def _of_aligned(row: Mapping[str, Any]) -> str:
    return number(row["aligned"]) + (f" + {number(row['unscored'])}" if row["unscored"] else "")


def _points(value: float | None) -> str:
    return "–" if value is None else number(value, 2)


def _gap(value: float | None) -> str:
    return "–" if value is None else number(value, 2, sign=True)


def _score(value: float | None) -> str:
    return "–" if value is None else number(value, 3, sign=True)
