"""Which cases of a corpus a run takes: filters, and a seeded sample of whole groups."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from pytest_gnt.case import Case
from pytest_gnt.config import RunSettings
from pytest_gnt.suite import Selection


def select(cases: Sequence[Case], selection: Selection, settings: RunSettings) -> list[Case]:
    """The cases that the suite's function and the run both want, in the corpus' order.

    The sample is drawn from what the run's filters leave, before the suite's own filter, so that every function of a
    run sees the same sample.
    """
    kept = [
        case
        for case in cases
        if (settings.langs is None or case.target_lang in settings.langs)
        and (settings.identities is None or case.identity is None or case.identity in settings.identities)
    ]
    if settings.sample is not None:
        chosen = sample(kept, settings.sample, settings.seed)
        kept = [case for case in kept if case.id in chosen]
    return [
        case
        for case in kept
        if (selection.sets is None or case.subset in selection.sets)
        and (selection.langs is None or case.target_lang in selection.langs)
        and (selection.identities is None or (case.identity is not None and case.identity in selection.identities))
    ]


def sample(cases: Sequence[Case], size: int, seed: int) -> frozenset[str]:
    """Ids of about ``size`` cases: whole groups, each stratum (language, subset, gender) in proportion.

    A group is taken by a hash of seed and group, so the choice does not depend on order, and rows added to the
    corpus leave most of it as it was. Whole groups keep the identity variants of a sentence together, as paired
    comparisons need. At least one group of each stratum is taken.
    """
    if size >= len(cases):
        return frozenset(case.id for case in cases)
    strata: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        stratum = (case.target_lang, case.subset, case.gender or "")
        strata[stratum][case.group].append(case.id)
    chosen: set[str] = set()
    share = Fraction(size, len(cases))
    for groups in strata.values():
        ranked = sorted(groups, key=lambda group: _rank(seed, group))
        wanted = share * sum(len(ids) for ids in groups.values())
        taken = 0
        for group in ranked:
            if taken and taken + len(groups[group]) > wanted + Fraction(1, 2):
                break
            chosen.update(groups[group])
            taken += len(groups[group])
    return frozenset(chosen)


def _rank(seed: int, group: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{group}".encode("utf-8", "surrogatepass")).digest()
