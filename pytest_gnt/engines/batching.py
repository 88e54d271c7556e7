"""How prompts are put into batches: pure arithmetic on token ids, the same for every runtime.

Two things cost time: padding, so rows of like length go together, and the long prefix (instructions, shots) that most
prompts share, so rows behind one prefix go together and the prefix is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Ids = list[int]

_SHORTEST_SHARED = 16
"""A shared prefix of fewer tokens is not worth a cache."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Rows that begin alike: their indices, longest row first, and how many tokens all of them share.

    ``shared`` is less than the shortest row's length, so that every row has at least one token of its own.
    """

    rows: tuple[int, ...]
    shared: int


def common_length(left: Ids, right: Ids) -> int:
    """Number of equal tokens at the start of two rows."""
    limit = min(len(left), len(right))
    if left[:limit] == right[:limit]:
        return limit
    return next(index for index in range(limit) if left[index] != right[index])


def clusters(rows: Sequence[Ids]) -> list[Cluster]:
    """Divide rows into groups that share at least half of their tokens, in one pass over the sorted rows.

    Every index occurs in exactly one cluster. Rows without a worthwhile common prefix are in one with ``shared == 0``.
    """
    order = sorted(range(len(rows)), key=lambda index: rows[index])
    found: list[Cluster] = []
    lonely: list[int] = []
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order) and _belong_together(rows[order[end - 1]], rows[order[end]]):
            continue
        members = order[start:end]
        start = end
        # In sorted order the first and the last row differ earliest.
        shared = min(common_length(rows[members[0]], rows[members[-1]]), min(len(rows[i]) for i in members) - 1)
        if len(members) > 1 and shared >= _SHORTEST_SHARED:
            found.append(Cluster(_longest_first(rows, members), shared))
        else:
            lonely.extend(members)
    if lonely:
        found.append(Cluster(_longest_first(rows, lonely), 0))
    return found


def batches(cluster: Cluster, size: int) -> Iterator[tuple[int, ...]]:
    """Cut a cluster into batches of at most ``size`` rows, longest first: a batch that does not fit fails at once."""
    for start in range(0, len(cluster.rows), size):
        yield cluster.rows[start : start + size]


def _belong_together(left: Ids, right: Ids) -> bool:
    return common_length(left, right) * 2 >= max(len(left), len(right), 2 * _SHORTEST_SHARED)


def _longest_first(rows: Sequence[Ids], members: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(members, key=lambda index: (-len(rows[index]), index)))
