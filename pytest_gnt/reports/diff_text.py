"""A diff of two runs for the terminal. Texts of models are shown as text, never as markup or control sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pytest_gnt.verdicts.changes import ChangeKind
from pytest_gnt.verdicts.diff import Diff, DiffRow, Flip
from pytest_gnt.verdicts.wording import (
    MARKS,
    delta_text,
    p_text,
    phrases_text,
    scores_text,
    value_text,
    verdict_text,
    visible,
)
from pytest_gnt.verdicts.words import Segment

LIMIT = 20
_COLOURS = {
    ChangeKind.REGRESSED: "red",
    ChangeKind.LOST: "magenta",
    ChangeKind.FIXED: "green",
    ChangeKind.RECOVERED: "green",
}
_TRENDS = {"worse": "red", "better": "green", "same": "dim"}
_OPS = {"same": "", "removed": "red strike", "added": "green underline"}


def render_diff(diff: Diff, *, limit: int = LIMIT) -> RenderableType:
    """The diff as something rich can print: what is compared, counts, tables, the flips and the largest moves.

    ``limit``: cases shown of each kind; how many more there are is said.
    """
    parts: list[RenderableType] = [*_head(diff)]
    for fields in dict.fromkeys(tuple(row.stratum) for row in diff.rows):
        rows = [row for row in diff.rows if tuple(row.stratum) == fields]
        parts += [Text(""), _table(rows, fields)]
    parts += _cases("changed outcomes, worst first", diff.flips, limit)
    parts += _cases("same outcome, other scores", diff.moves, limit)
    return Group(*parts)


def _head(diff: Diff) -> Iterator[Text]:
    yield Text(f"{visible(diff.before)} → {visible(diff.after)}", style="bold")
    for reason in diff.reasons:
        yield Text(f"NOT COMPARABLE  {visible(reason)}", style="red")
    for note in diff.notes:
        yield Text(f"note  {visible(note)}")
    yield Text(", ".join(f"{count} {kind}" for kind, count in diff.counts.items() if count) or "no test in common")
    for name, ids in (("gone", diff.gone), ("new", diff.new), ("with another source sentence", diff.other_source)):
        if ids:
            more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
            yield Text(f"{len(ids)} cases {name}: {', '.join(map(visible, ids[:3]))}{more}")


def _table(rows: Sequence[DiffRow], fields: tuple[str, ...]) -> Table:
    table = Table(title=f"by {' and '.join(fields)}" if fields else "overall", title_justify="left", box=None)
    for name in ("measure", *fields):
        table.add_column(name)
    for name in ("before", "after", "change", "95% interval", "p (Holm)", "n", "lost"):
        table.add_column(name, justify="right")
    several = len({row.corpus for row in rows}) > 1
    for row in rows:
        name = f"{row.corpus}: {row.measure}" if several else row.measure
        table.add_row(
            Text(visible(name)), *map(visible, row.stratum.values()), *row_cells(row), style=_TRENDS[row.trend]
        )
    return table


def row_cells(row: DiffRow) -> tuple[str, ...]:
    """The numbers of a row as text: before, after, change, interval, p, n, lost."""
    interval = "–" if row.low is None else f"{delta_text(row.low, row.unit)} … {delta_text(row.high, row.unit)}"
    return (
        value_text(row.before, row.unit),
        value_text(row.after, row.unit),
        delta_text(row.delta, row.unit),
        interval,
        p_text(row.p_holm).removeprefix("= "),
        str(row.compared),
        str(row.lost or ""),
    )


def _cases(title: str, flips: Sequence[Flip], limit: int) -> Iterator[RenderableType]:
    if not flips:
        return
    yield Text(f"\n{title}: {len(flips)}", style="bold")
    shown: dict[str, int] = {}
    for flip in flips:
        shown[flip.kind] = shown.get(flip.kind, 0) + 1
        if shown[flip.kind] <= limit:
            yield from _case(flip)
    for kind, count in shown.items():
        if count > limit:
            yield Text(f"… and {count - limit} more {kind}")


def _case(flip: Flip) -> Iterator[RenderableType]:
    head = Text(f"{flip.kind}  ", style=_COLOURS.get(ChangeKind(flip.kind), "") if flip.test else "")
    yield head.append(f"{visible(flip.id)}  {visible(flip.test)}", style="default")
    lines = []
    if flip.source is not None:
        lines.append(Text(f"source   {visible(flip.source)}"))
    lines.append(Text("text     ").append(coloured(flip.words)))
    if flip.judged_before or flip.judged_after or flip.reason:
        lines.append(Text(f"verdict  {verdict_text(flip)}"))
    if flip.phrases_before or flip.phrases_after:
        phrases = f"{phrases_text(flip.phrases_before) or '–'} → {phrases_text(flip.phrases_after) or '–'}"
        lines.append(Text(f"phrases  {phrases}"))
    if flip.scores:
        lines.append(Text(f"scores   {scores_text(flip.scores)}"))
    yield Padding(Group(*lines), (0, 0, 0, 2))


def coloured(segments: Sequence[Segment]) -> Text:
    """A word diff with marks that are readable without colour too."""
    text = Text()
    for segment in segments:
        text.append(MARKS[segment.op].format(visible(segment.text)), style=_OPS[segment.op])
    return text
