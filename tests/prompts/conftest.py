"""Cases for the tests of prompts and replies."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_gnt.case import Case, Form, Subset

CaseMaker = Callable[..., Case]


@pytest.fixture(scope="session")
def make_case() -> CaseMaker:
    """A case from a source and a target language; ``expected`` makes it one that asks for a form."""

    def make(source: str, lang: str = "it", expected: Form | None = Form.NEUTRAL) -> Case:
        return Case(
            id=f"table/en-{lang}/1",
            corpus="table",
            subset=Subset.SET_N,
            target_lang=lang,
            source=source,
            group="table/1",
            expected=expected,
        )

    return make
