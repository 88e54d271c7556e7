"""Fixtures that several test files share."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np  # noqa: F401 - pytester forgets modules that a test imported, and numpy cannot be loaded twice
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public test data, which is not part of the project."""
    folder = Path(os.environ.get("GNT_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("public test data are absent: set GNT_SHARED_DATA to the folder that holds ambgimt/, mgente/ …")
    return folder
