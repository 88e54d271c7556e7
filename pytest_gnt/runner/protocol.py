"""Running one case: the phases of pytest's protocol, without those in which nothing can happen.

A case has no fixtures, so setup and teardown of its item do nothing, unless a plugin or a conftest.py has hooks for
them or the suite's function carries marks such as ``skip``. Most of what pytest does around the two phases (redirecting
output and log records three times a test) is then for nothing, and so are their reports, which pytest keeps to the end,
where nobody reads them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import pytest
from _pytest.logging import caplog_records_key
from _pytest.runner import call_and_report

from pytest_gnt.runner.items import CaseItem

_OWN = frozenset(
    {
        "assertion",
        "cacheprovider",
        "capturemanager",
        "faulthandler",
        "gnt-cases",
        "lfplugin",
        "logging-plugin",
        "nfplugin",
        "runner",
        "skipping",
        "stepwiseplugin",
        "threadexception",
        "tmpdir",
        "unittest",
        "unraisableexception",
        "warnings",
    }
)
"""pytest's plugins. None has anything to do around a case without marks."""

_READERS = _OWN | {"gnt-record", "session", "terminalreporter"}
"""Plugins that read reports and make nothing of a setup or teardown that passed."""

_AROUND = ("pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_teardown")


class CaseRunner:
    """Runs the cases of a session; a plugin of its own, registered where there are any.

    Args:
        config: pytest's.
        items: the cases that will be run.
    """

    def __init__(self, config: pytest.Config, items: Sequence[CaseItem]) -> None:
        option = config.option
        self._quiet = not (option.setupshow or option.setuponly) and _only(config, _AROUND, _OWN)
        self._silent = option.durations is None and _only(config, ("pytest_runtest_logreport",), _READERS)
        # The evidence of a case is held until its last test has run, and to the end where tests look at other cases.
        keep = any(item.selection.wants_pair for item in items)
        self._left = None if keep else Counter(item.case.id for item in items)

    @classmethod
    def register(cls, config: pytest.Config, items: Sequence[CaseItem]) -> None:
        """Run these cases from here on."""
        config.pluginmanager.register(cls(config, items), "gnt-cases")

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a case; everything else is pytest's."""
        if not isinstance(item, CaseItem) or not self._quiet:
            return None
        if any(mark.name != "gnt" for mark in item.iter_markers()):
            return None
        ihook = item.ihook
        ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        self._run(item, nextitem)
        ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _run(self, item: CaseItem, nextitem: pytest.Item | None) -> None:
        """The three phases of a case whose setup and teardown have nothing to do."""
        self._report(item, "setup")
        item.stash[caplog_records_key] = {}  # pytest's own setup makes it, and its hooks around the call expect it
        call_and_report(item, "call")
        del item.stash[caplog_records_key]
        os.environ.pop("PYTEST_CURRENT_TEST", None)
        session = item.session
        # What tests before it have set up in this module goes with the module's last test, whichever that is.
        session._setupstate.teardown_exact(None if session.shouldfail or session.shouldstop else nextitem)
        self._report(item, "teardown")
        self._forget(item)

    def _report(self, item: CaseItem, when: Literal["setup", "teardown"]) -> None:
        """Report a phase that has passed since nothing was to be done, where somebody reads it."""
        if self._silent:
            return
        call = pytest.CallInfo.from_call(_nothing, when=when)
        ihook = item.ihook
        ihook.pytest_runtest_logreport(report=ihook.pytest_runtest_makereport(item=item, call=call))

    def _forget(self, item: CaseItem) -> None:
        """Let go of what the case's last test has used."""
        item.result = None
        if self._left is None:
            return
        self._left[item.case.id] -= 1
        if not self._left[item.case.id]:
            for book in item.gnt.books():
                book.release(item.case)


def _only(config: pytest.Config, hooks: Sequence[str], known: frozenset[str]) -> bool:
    """Whether no other plugin than the known ones has one of these hooks."""
    callers = (getattr(config.hook, name) for name in hooks)
    return all(implementation.plugin_name in known for caller in callers for implementation in caller.get_hookimpls())


def _nothing() -> None:
    """What setup and teardown of a case do."""
