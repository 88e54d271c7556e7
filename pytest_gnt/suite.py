"""The decorator that turns a function of a suite into one test a case. Imports the standard library only."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

EVIDENCE = ("translation", "judgement", "attitude", "quality")
"""Parameter names that ask for a stage of the pipeline."""

PARAMETERS = ("case", *EVIDENCE, "pair")
"""All parameter names that a suite function may have."""

ATTRIBUTE = "__gnt_selection__"

FunctionT = TypeVar("FunctionT", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases a suite function runs on, and which evidence it needs.

    ``sets``, ``identities`` and ``langs`` are None where every value is wanted; ``metrics`` where none is needed.
    """

    corpus: str
    sets: frozenset[str] | None
    identities: frozenset[str] | None
    langs: frozenset[str] | None
    evidence: tuple[str, ...]
    wants_case: bool
    metrics: frozenset[str] | None = None
    wants_pair: bool = False


def cases(
    corpus: str,
    *,
    sets: Iterable[str] | None = None,
    identities: Iterable[str] | None = None,
    langs: Iterable[str] | None = None,
    metrics: Iterable[str] | None = None,
) -> Callable[[FunctionT], FunctionT]:
    """Run the decorated function on each case of a corpus.

    Args:
        corpus: ``mgente``, ``ambgimt`` or the name of a corpus in ``gnt.toml``.
        sets: keep these subsets (``Set-N``, ``Set-G``, ``authentic``, ``synthesized``).
        identities: keep these identities.
        langs: keep these target languages.
        metrics: quality metrics that the function is about; a run that scores none of them does not have its tests.

    The function's parameters name the evidence it needs: ``case``, ``translation``, ``judgement``, ``attitude``,
    ``quality``, and ``pair``, the qualities of the woman and the man variant of the same sentence, which are then
    translated and scored even where they are not selected. Only the stages behind them are run.

    Raises:
        TypeError: the function asks for something else.
    """

    def decorate(function: FunctionT) -> FunctionT:
        names = tuple(inspect.signature(function).parameters)
        unknown = [name for name in names if name not in PARAMETERS]
        if unknown:
            raise TypeError(
                f"{function.__name__}: unknown parameter {', '.join(unknown)}; "
                f"a function of @cases may have: {', '.join(PARAMETERS)}"
            )
        if "pair" in names and "quality" not in names:
            raise TypeError(f"{function.__name__}: pair is compared with quality; ask for both")
        selection = Selection(
            corpus=corpus,
            sets=_frozen(sets),
            identities=_frozen(identities),
            langs=_frozen(langs),
            evidence=tuple(name for name in names if name in EVIDENCE),
            wants_case="case" in names,
            metrics=_frozen(metrics),
            wants_pair="pair" in names,
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
