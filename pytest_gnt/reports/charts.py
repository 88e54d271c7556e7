"""Geometry of the report's charts: numbers in, positions and classes out. The templates draw them as inline SVG."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

POINT_STEPS = (0.5, 1.0, 2.0, 4.0)
"""Steps of a gap's colour, in points of 100 of a quality score."""
RATE_STEPS = (1.0, 2.0, 5.0, 10.0)
"""The same in percentage points of a pass rate."""
SCORE_STEPS = (0.05, 0.1, 0.2, 0.4)
"""The same in units of the attitude score."""

PLOT_SIZE = 320.0
"""Side of the square plot, in user units of its SVG."""

MOST_CELLS = 44
"""Cells along a side of a dense plot."""

DENSE = 600
"""Number of points from which cells are drawn instead of (nearly) single points."""

COVERED = 0.995
"""Share of the points that the axes have to hold; the rest is drawn on the border."""


def level(value: float | None, steps: Sequence[float]) -> int:
    """The class of a value on a diverging scale: how many steps it passes, negative below zero; 0 for None."""
    if value is None or not math.isfinite(value):
        return 0
    passed = sum(abs(value) >= step for step in steps)
    return passed if value > 0 else -passed


def share_level(share: float | None) -> int:
    """The class of a share on a sequential scale, 0 to 5."""
    return 0 if share is None else min(5, math.floor(share * 5 + 1e-9) + (share > 0))


def position(share: float) -> str:
    """A share as a horizontal position in an SVG of any width."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"


@dataclass(frozen=True, slots=True)
class Dot:
    """One mark: centre and radius in user units, the number of points it stands for, and its class."""

    x: float
    y: float
    radius: float
    count: int
    kind: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """A square plot with equal axes from ``-limit`` to ``limit``; ``outside`` points stand on its border."""

    dots: tuple[Dot, ...]
    limit: float
    ticks: tuple[tuple[float, str], ...]
    band: tuple[float, float]
    outside: int
    cell: float

    @property
    def size(self) -> float:
        return PLOT_SIZE


def scatter(cells: Mapping[tuple[int, int], int], grain: float, delta: float) -> Scatter:
    """Draw counted points.

    Args:
        cells: how many points lie in the cell whose lower corner is ``(i * grain, j * grain)``: source, target.
        grain: width of a cell.
        delta: half the width of the band in which a word is neither kind nor harsh.
    """
    total = sum(cells.values())
    limit = _limit(cells, grain, total)
    factor = max(1, math.ceil(2 * limit / grain / MOST_CELLS)) if total > DENSE else 1
    merged: Counter[tuple[int, int, str]] = Counter()
    for (i, j), count in cells.items():
        # The kind is that of the fine cell, so that a wide one across the border of a quadrant does not change it.
        merged[i // factor, j // factor, _kind((i + 0.5) * grain, (j + 0.5) * grain, delta)] += count
    unit = PLOT_SIZE / (2 * limit)
    reach = math.floor(limit / grain)
    return Scatter(
        dots=tuple(_dots(merged, grain * factor, limit, dense=total > DENSE)),
        limit=limit,
        ticks=tuple((_along(tick, limit, unit), _tick_text(tick)) for tick in _ticks(limit)),
        band=(_along(-delta, limit, unit), _along(delta, limit, unit)),
        outside=sum(count for (i, j), count in cells.items() if not (-reach <= i < reach and -reach <= j < reach)),
        cell=grain * factor,
    )


def _dots(merged: Mapping[tuple[int, int, str], int], width: float, limit: float, *, dense: bool) -> Iterator[Dot]:
    """Marks whose area is the number of points; in a dense plot the fullest cell is just covered."""
    most = max(merged.values())
    unit = PLOT_SIZE / (2 * limit)
    for (i, j, kind), count in sorted(merged.items()):
        x = _along((i + 0.5) * width, limit, unit)
        y = PLOT_SIZE - _along((j + 0.5) * width, limit, unit)
        radius = max(0.7, 0.575 * unit * width * math.sqrt(count / most)) if dense else min(9.0, 2.2 * math.sqrt(count))
        yield Dot(x, round(y, 2), round(radius, 2), count, kind)


def _kind(source: float, target: float, delta: float) -> str:
    if source > delta and target < -delta:
        return "worse"
    if source < -delta and target > delta:
        return "better"
    return "other"


def _along(value: float, limit: float, unit: float) -> float:
    return round((min(limit, max(-limit, value)) + limit) * unit, 2)


def _limit(cells: Mapping[tuple[int, int], int], grain: float, total: int) -> float:
    """The smallest half unit that holds nearly all points, at least 1."""
    reach: Counter[float] = Counter()
    for (i, j), count in cells.items():
        reach[max(abs(i + 0.5), abs(j + 0.5)) * grain] += count
    held = 0
    for distance in sorted(reach):
        held += reach[distance]
        if held >= COVERED * total:
            return max(1.0, math.ceil(distance * 2) / 2)
    return 1.0


def _tick_text(tick: float) -> str:
    return f"{tick:+g}".replace("-", "−") if tick else "0"


def _ticks(limit: float) -> list[float]:
    step = next((step for step in (0.5, 1.0, 2.0, 5.0, 10.0) if limit / step <= 4), limit / 2)
    count = math.floor(limit / step + 1e-9)
    return [step * place for place in range(-count, count + 1)]
