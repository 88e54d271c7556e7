"""How agreement with people's labels is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_gnt.verdicts.agreement import Confusion

SHOWN_REFUSED = 10


def rows_lines(what: str, files: Sequence[Mapping[str, Any]], used: int, refused: Sequence[str]) -> list[str]:
    """What was read of the files of labels: all rows are used or refused."""
    read = sum(entry["rows"] for entry in files)
    lines = [f"{what}: {read} rows read = {used} used + {len(refused)} refused"]
    lines += [f"  refused {row}" for row in refused[:SHOWN_REFUSED]]
    if len(refused) > SHOWN_REFUSED:
        lines.append(f"  … and {len(refused) - SHOWN_REFUSED} more")
    return lines


def confusion_lines(
    name: str, confusion: Confusion, seed: int, *, rows: str = "gold", columns: str = "judged", done: str = "judged"
) -> list[str]:
    """Accuracy, macro-F1, kappa, the figures of each label, and the matrix.

    Args:
        name: what was compared.
        confusion: the counts.
        seed: of the intervals' draws.
        rows: whose labels count as right.
        columns: whose labels are measured.
        done: what became of the cases that have both.
    """
    from pytest_gnt.verdicts.agreement import quality

    found = quality(confusion, seed)
    lines = [
        f"  {name}: {found['n']} {done}, {found['unscored']} unscored",
        f"    accuracy {with_interval(found, 'accuracy')}   macro-F1 {with_interval(found, 'macro_f1')}   "
        f"kappa {with_interval(found, 'kappa')}",
    ]
    for label, scores in found["labels"].items():
        lines.append(
            f"    {label:<18} precision {with_interval(scores, 'precision')}   "
            f"recall {with_interval(scores, 'recall')}   F1 {number(scores['f1'])}   n {scores['support']}"
        )
    return lines + matrix_lines(rows, columns, found["confusion"])


def matrix_lines(rows: str, columns: str, counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A confusion matrix."""
    names = list(next(iter(counts.values())))
    lines = [f"    {rows + ' ↓  ' + columns + ' →':<20}" + "".join(f"{name:>20}" for name in names)]
    return lines + [f"    {label:<20}" + "".join(f"{row[name]:>20}" for name in names) for label, row in counts.items()]


def with_interval(found: Mapping[str, Any], name: str) -> str:
    """A figure with its interval, where it has one."""
    low, high = found[f"{name}_low"], found[f"{name}_high"]
    interval = f" [{number(low)}, {number(high)}]" if low is not None else ""
    return number(found[name]) + interval


def number(value: float | None) -> str:
    """Three digits; a dash where there is no value."""
    return "–" if value is None else f"{value:.3f}"
