"""Putting rows of token ids into clusters and batches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.engines.batching import Cluster, batches, clusters, common_length

ROWS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=60), max_size=30)


def shared_rows(prefix: list[int], tails: list[list[int]]) -> list[list[int]]:
    return [prefix + tail for tail in tails]


@given(ROWS, st.lists(st.integers(0, 3), max_size=40))
def test_every_row_is_in_one_cluster_and_what_is_shared_is_shared(rows: list[list[int]], prefix: list[int]) -> None:
    rows = rows + [prefix + row for row in rows]
    found = clusters(rows)
    assert sorted(index for cluster in found for index in cluster.rows) == list(range(len(rows)))
    for cluster in found:
        members = [rows[index] for index in cluster.rows]
        assert all(row[: cluster.shared] == members[0][: cluster.shared] for row in members)
        assert cluster.shared < min(len(row) for row in members)
        assert [len(row) for row in members] == sorted((len(row) for row in members), reverse=True)


def test_prompts_of_two_languages_keep_a_prefix_each() -> None:
    italian = shared_rows(list(range(100)), [[7, 8], [9], [7, 1, 2]])
    spanish = shared_rows(list(range(50, 170)), [[1], [2, 3], [4]])
    mixed = [italian[0], spanish[0], italian[1], spanish[1], italian[2], spanish[2]]
    found = {cluster.shared: cluster.rows for cluster in clusters(mixed)}
    assert found == {100: (4, 0, 2), 120: (3, 1, 5)}


def test_equal_rows_leave_a_token_to_compute() -> None:
    assert clusters([[5] * 40, [5] * 40]) == [Cluster((0, 1), 39)]


def test_nothing_makes_no_cluster() -> None:
    assert clusters([]) == []


def test_batches_cover_a_cluster_in_order() -> None:
    cluster = Cluster((4, 2, 0, 1, 3), 0)
    assert list(batches(cluster, 2)) == [(4, 2), (0, 1), (3,)]


def test_common_length() -> None:
    assert common_length([1, 2, 3], [1, 2, 4]) == 2
    assert common_length([1, 2], [1, 2, 4]) == 2
    assert common_length([], [1]) == 0
