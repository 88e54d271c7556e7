"""AmbGIMT's tables as Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pytest_gnt.reports.html_text import shown
from pytest_gnt.reports.table_sheets import Place, Sheet, sheets

_CSV_HEADS = (
    "corpus",
    "lang",
    "subset",
    "table",
    "measure",
    "level",
    "identity",
    "value",
    "n",
    "unscored",
    "gap",
    "sentences",
    "low",
    "high",
)
_ATTITUDE = ("source", "target", "coverage", "r_tn", "r_tp", "r_tn_aligned", "r_tp_aligned")
_LATEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "−": "$-$",
        "–": "--",
        "δ": r"$\delta$",
        "|": r"\textbar{}",
    }
)


def markdown(tables: Sequence[Place]) -> str:
    """One Markdown table a sheet, its notes beneath."""
    return "\n".join(line for sheet in sheets(tables) for line in [*markdown_lines(sheet, "##"), ""])


def markdown_lines(sheet: Sheet, heading: str) -> Iterator[str]:
    """A sheet in Markdown, which names of corpora and metrics cannot leave."""
    yield from (f"{heading} {_plain(sheet.title)}", "")
    if sheet.heads:
        yield f"| {' | '.join(map(_plain, sheet.heads))} |"
        yield "| --- |" + " ---: |" * (len(sheet.heads) - 1)
        for row in sheet.rows:
            mark = "**" if row.kind == "total" else ""
            yield f"| {mark}{_plain(row.label)}{mark} | {' | '.join(map(_plain, row.cells))} |"
        yield ""
    for note in sheet.notes:
        yield from (_plain(note), "")


def _plain(text: str) -> str:
    """Text that stays in its cell and is no markup; readable as it is, unlike what is escaped for hostile texts."""
    flat = shown(" ".join(text.split())).replace("\\", "\\\\")
    return re.sub(r"[|<&`*]", lambda found: f"\\{found[0]}", flat)


def latex(tables: Sequence[Place]) -> str:
    """One ``table`` with booktabs rules a sheet."""
    return "\n".join(line for sheet in sheets(tables) if sheet.heads for line in [*_latex_lines(sheet), ""])


def _latex_lines(sheet: Sheet) -> Iterator[str]:
    yield r"\begin{table}"
    yield rf"\caption{{{_tex(sheet.title)}. {_tex(' '.join(sheet.notes))}}}"
    yield rf"\begin{{tabular}}{{l{'r' * (len(sheet.heads) - 1)}}}"
    yield r"\toprule"
    yield _latex_row(sheet.heads)
    yield r"\midrule"
    for place, row in enumerate(sheet.rows):
        if row.kind == "total" and sheet.rows[place - 1].kind != "total":
            yield r"\midrule"
        yield _latex_row((row.label, *row.cells))
    yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}")


def _latex_row(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(_tex, cells))} \\\\"


def _tex(text: str) -> str:
    return text.translate(_LATEX)


def to_csv(tables: Sequence[Place]) -> str:
    """One line a number, not rounded, every place and ``all`` included; shares from 0 to 1."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, _CSV_HEADS, lineterminator="\n")
    writer.writeheader()
    for place in tables:
        for line in (*_quality_lines(place), *_attitude_lines(place)):
            writer.writerow({"corpus": place["corpus"], "lang": place["lang"], "subset": place["subset"], **line})
    return out.getvalue()


def _quality_lines(place: Place) -> Iterator[dict[str, Any]]:
    for metric in place["quality"]:
        common = {"table": "quality", "measure": metric["metric"], "level": metric["level"]}
        for row in metric["rows"]:
            yield common | row
        for name in ("mean", "sd"):
            yield common | {
                "identity": name,
                "value": metric[name],
                "n": metric["identities"],
                "gap": metric[f"gap_{name}"],
            }


def _attitude_lines(place: Place) -> Iterator[dict[str, Any]]:
    attitude: Mapping[str, Any] | None = place["attitude"]
    if attitude is None:
        return
    for row in attitude["rows"]:
        for name in _ATTITUDE:
            yield {
                "table": "attitude",
                "measure": name,
                "identity": row["name"],
                "value": row[name],
                "n": row["n"],
                "unscored": row["unscored"],
            }
    for name in ("shift_bias", "shift_bias_aligned"):
        found = attitude[name]
        yield {"table": "attitude", "measure": name, "identity": "NBG − BG", **found}


def to_json(tables: Sequence[Place]) -> str:
    """The tables as ``report.json`` holds them."""
    return json.dumps(list(tables), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Sequence[Place]], str]] = {
    "md": markdown,
    "csv": to_csv,
    "latex": latex,
    "json": to_json,
}
