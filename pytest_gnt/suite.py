"""The decorator that turns a function of a suite into one test a case. Imports the standard library only."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

EVIDENCE = ("translation", "judgement", "attitude", "quality")
"""Parameter names that a suite function may have beside ``case``; each asks for a stage of the pipeline."""

ATTRIBUTE = "__gnt_selection__"

FunctionT = TypeVar("FunctionT", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases a suite function runs on, and which evidence it needs.

    ``sets``, ``identities`` and ``langs`` are None where every value is wanted.
    """

    corpus: str
    sets: frozenset[str] | None
    identities: frozenset[str] | None
    langs: frozenset[str] | None
    evidence: tuple[str, ...]
    wants_case: bool


def cases(
    corpus: str,
    *,
    sets: Iterable[str] | None = None,
    identities: Iterable[str] | None = None,
    langs: Iterable[str] | None = None,
) -> Callable[[FunctionT], FunctionT]:
    """Run the decorated function on each case of a corpus.

    Args:
        corpus: ``mgente``, ``ambgimt`` or the name of a corpus in ``gnt.toml``.
        sets: keep these subsets (``Set-N``, ``Set-G``, ``authentic``, ``synthesized``).
        identities: keep these identities.
        langs: keep these target languages.

    The function's parameters name the evidence it needs: ``case``, ``translation``, ``judgement``, ``attitude``,
    ``quality``. Only the stages behind them are run.

    Raises:
        TypeError: the function asks for something else.
    """

    def decorate(function: FunctionT) -> FunctionT:
        names = tuple(inspect.signature(function).parameters)
        unknown = [name for name in names if name not in ("case", *EVIDENCE)]
        if unknown:
            raise TypeError(
                f"{function.__name__}: unknown parameter {', '.join(unknown)}; "
                f"a function of @cases may have: case, {', '.join(EVIDENCE)}"
            )
        selection = Selection(
            corpus=corpus,
            sets=_frozen(sets),
            identities=_frozen(identities),
            langs=_frozen(langs),
            evidence=tuple(name for name in names if name != "case"),
            wants_case="case" in names,
        )
        setattr(function, ATTRIBUTE, selection)
        return function

    return decorate


def selection_of(candidate: Any) -> Selection | None:
    """The selection of a decorated function; None for anything else, without running foreign ``__getattr__`` code."""
    if not inspect.isfunction(candidate):
        return None
    selection = candidate.__dict__.get(ATTRIBUTE)
    return selection if isinstance(selection, Selection) else None


def _frozen(values: Iterable[str] | None) -> frozenset[str] | None:
    if values is None:
        return None
    if isinstance(values, str):
        raise TypeError(f"give a list of strings, not the string {values!r}")
    return frozenset(str(value) for value in values)
