"""The woman and the man variant of a case's sentence: what its quality is compared with, whatever is selected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pytest_gnt.case import BINARY, Case, Identity
from pytest_gnt.evidence import Pair, Quality

if TYPE_CHECKING:
    from pytest_gnt.pipeline.stages import Book


class Variants:
    """Looks variants up among all cases of a corpus."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._found: dict[tuple[str, str, Identity], list[Case]] = defaultdict(list)
        for case in cases:
            if case.identity in BINARY:
                self._found[case.target_lang, case.group, case.identity].append(case)

    def of(self, case: Case) -> dict[Identity, Case]:
        """The variants of the case's sentence in its language.

        A sentence that a corpus holds twice has two of each: that of the case's own block counts, whose id has the
        same stem, else the first by id.
        """
        found = {}
        for identity in BINARY:
            there = self._found.get((case.target_lang, case.group, identity), [])
            if there:
                found[identity] = min(there, key=lambda one: (_stem(one) != _stem(case), one.id))
        return found


def _stem(case: Case) -> str:
    return case.id.rpartition("/")[0]


def pair_of(variants: Mapping[Identity, Case], book: Book, tolerance: float) -> Pair:
    """The variants' qualities in one run."""

    def quality(identity: Identity) -> Quality | None:
        evidence = book.get(variants[identity], "quality") if identity in variants else None
        return evidence if isinstance(evidence, Quality) else None

    return Pair(woman=quality(Identity.WOMAN), man=quality(Identity.MAN), tolerance=tolerance)
