"""Fixtures for runs in bad conditions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.runs import Runs


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with Runs() as runs:
        yield runs
