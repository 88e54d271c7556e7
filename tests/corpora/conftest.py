"""Small files and sources for the loaders' tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gnt.corpora.source import CorpusData, CorpusSource

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's folder; a text is written byte for byte as UTF-8."""

    def _write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


@pytest.fixture
def source(tmp_path: Path) -> Callable[..., CorpusSource]:
    """A source named after its corpus, with the test's folder as its root."""

    def _source(name: str = "mgente", root: Path | None = None, **rest: object) -> CorpusSource:
        return CorpusSource(name=name, root=root or tmp_path, **rest)  # type: ignore[arg-type]

    return _source


@pytest.fixture
def balanced() -> Callable[[CorpusData], CorpusData]:
    """Check what holds for every corpus: no row lost, no id twice, ids and groups plain ASCII; hands the data back."""

    def _balanced(data: CorpusData) -> CorpusData:
        assert data.rows_read == len(data.cases) + len(data.refused)
        ids = [case.id for case in data.cases]
        assert len(set(ids)) == len(ids)
        for case in data.cases:
            assert case.id.isascii()
            assert case.group.isascii()
            assert case.id.startswith(f"{data.name}/")
            assert case.source.strip()
        return data

    return _balanced
