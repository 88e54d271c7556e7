"""Cases and helpers for the tests of translators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_gnt.case import Case, Form, Subset
from pytest_gnt.evidence import Translation


@pytest.fixture(scope="session")
def make_case() -> Callable[..., Case]:
    """A case from a source, a target language and a local id."""

    def make(
        source: str,
        lang: str = "it",
        number: str = "1",
        *,
        corpus: str = "mgente",
        expected: Form | None = Form.NEUTRAL,
        subset: Subset = Subset.SET_N,
    ) -> Case:
        return Case(
            id=f"{corpus}/en-{lang}/{number}",
            corpus=corpus,
            subset=subset,
            target_lang=lang,
            source=source,
            group=f"{corpus}/{number}",
            expected=expected,
        )

    return make


@pytest.fixture(scope="session")
def translate() -> Callable[..., list[Translation]]:
    """Work, run and read, as the pipeline does, with answers that go through JSON."""
    import json

    def run(translator: Any, cases: Sequence[Case]) -> list[Translation]:
        works = [translator.work(case) for case in cases]
        answers = dict(translator.run(works))
        assert sorted(answers) == list(range(len(cases)))
        return [translator.read(case, json.loads(json.dumps(answers[n].value))) for n, case in enumerate(cases)]

    return run
