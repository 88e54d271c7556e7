"""Hooks that other plugins may implement to provide translators, judges, metrics and corpora."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_gnt.case import Case
    from pytest_gnt.corpora.source import CorpusLoader
    from pytest_gnt.evidence import Judgement, Quality, Translation
    from pytest_gnt.work import Provider


@pytest.hookspec(firstresult=True)
def pytest_gnt_translator(
    config: pytest.Config, name: str, settings: Mapping[str, Any]
) -> Provider[Case, Translation] | None:
    """Make the translator of a ``[models.NAME]`` whose ``backend`` is yours; None for any other.

    ``settings`` holds the table as written. The first answer wins. A backend that needs something that is not installed
    raises `pytest_gnt.errors.GntError` with what to install.
    """


@pytest.hookspec(firstresult=True)
def pytest_gnt_judge(
    config: pytest.Config, name: str, settings: Mapping[str, Any]
) -> Provider[Translation, Judgement] | None:
    """Make the judge of a ``[judges.NAME]`` whose ``kind`` is yours; None for any other."""


@pytest.hookspec
def pytest_gnt_metrics(config: pytest.Config) -> Mapping[str, Provider[Translation, Quality]] | None:
    """Further quality metrics, by name. Their scores are merged into the `quality` evidence of each case."""


@pytest.hookspec(firstresult=True)
def pytest_gnt_corpus(config: pytest.Config, loader: str) -> CorpusLoader | None:
    """The loader of a ``[corpora.NAME]`` whose ``loader`` is yours; None for any other."""
