"""Each worker has GPUs of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.engines.gpu_share import COUNT, VARIABLE, WORKER, share, take_share


@given(st.integers(1, 16), st.integers(1, 12))
def test_shares_are_disjoint_and_complete(workers: int, count: int) -> None:
    devices = [f"GPU-{number}" for number in range(count)]
    shares = [share(worker, workers, devices) for worker in range(workers)]
    assert all(shares)
    if workers <= count:
        assert [device for one in shares for device in one] == devices
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
    else:
        assert {device for one in shares for device in one} == set(devices)
        assert {len(one) for one in shares} == {1}


@pytest.mark.parametrize(
    ("visible", "worker", "workers", "mine"),
    [
        ("4,5,6,7", "gw1", "2", "6,7"),
        ("4,5,6,7", "gw3", "4", "7"),
        ("3", "gw1", "2", "3"),
        ("MIG-a,MIG-b", "gw0", "2", "MIG-a"),
        ("0,-1,2", "gw1", "2", "0"),
        ("", "gw0", "2", ""),
        ("-1", "gw0", "2", "-1"),
        ("0,1", "", "2", "0,1"),
        (None, "gw1", "2", "1"),
    ],
)
def test_a_worker_narrows_what_the_caller_allows(
    tmp_path: Path, visible: str | None, worker: str, workers: str, mine: str
) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    environment = {COUNT: workers} | ({WORKER: worker} if worker else {})
    if visible is not None:
        environment[VARIABLE] = visible
    take_share(environment, folder=tmp_path)
    assert environment[VARIABLE] == mine


def test_a_machine_without_gpus_is_left_alone(tmp_path: Path) -> None:
    environment = {COUNT: "2", WORKER: "gw0"}
    take_share(environment, folder=tmp_path)
    assert VARIABLE not in environment
