"""Fail closed: a run that could read or decide too little is red, whatever its rates say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def overrun(
    counts: Mapping[str, int],
    corpora: Sequence[Mapping[str, Any]],
    *,
    max_unscored_rate: float,
    max_refused_rate: float,
) -> list[str]:
    """What makes a run red by itself, one sentence each.

    Args:
        counts: ``tests`` and ``unscored`` of the run.
        corpora: the corpora's rows of a report: ``name``, ``rows_read``, ``refused``.
        max_unscored_rate: largest share of tests that may stay undecided.
        max_refused_rate: largest share of a corpus' rows that may be refused.
    """
    found = []
    tests, unscored = counts["tests"], counts["unscored"]
    if tests and unscored / tests > max_unscored_rate:
        found.append(f"{unscored / tests:.1%} of the tests could not be decided, more than {max_unscored_rate:.1%}")
    for corpus in corpora:
        read, refused = corpus["rows_read"], corpus["refused"]
        if read and refused / read > max_refused_rate:
            found.append(
                f"{refused / read:.1%} of the rows of {corpus['name']} were refused, more than {max_refused_rate:.1%}"
            )
    return found
