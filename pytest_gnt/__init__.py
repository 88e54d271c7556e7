"""pytest-gnt: gender-neutral and gender-fair machine translation as pytest cases.

A suite needs these names: `cases` turns a function into one test a case, the ``assert_…`` functions decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_gnt.suite import cases

if TYPE_CHECKING:
    from pytest_gnt.case import NON_BINARY
    from pytest_gnt.verdicts.assertions import (
        assert_attitude_kept,
        assert_comet_gap,
        assert_correctly_gendered,
        assert_form,
        assert_identity_kept,
        assert_neutral,
        assert_quality,
        unscored,
    )

__version__ = "0.1.0"

__all__ = [
    "NON_BINARY",
    "__version__",
    "assert_attitude_kept",
    "assert_comet_gap",
    "assert_correctly_gendered",
    "assert_form",
    "assert_identity_kept",
    "assert_neutral",
    "assert_quality",
    "cases",
    "unscored",
]


def __getattr__(name: str) -> Any:
    # The assertions pull in more than a plugin may import at start-up.
    if name == "NON_BINARY":
        from pytest_gnt.case import NON_BINARY

        return NON_BINARY
    if name in __all__:
        from pytest_gnt.verdicts import assertions

        return getattr(assertions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
