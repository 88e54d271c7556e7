"""Errors that are meant for the user: each message says what is wrong and what to do about it."""

from __future__ import annotations


class GntError(Exception):
    """A setting, a file, a model or an extra that the run cannot go on without.

    The plugin turns it into one ``pytest.UsageError`` (exit status 4), the ``gnt`` command into one line on
    standard error (exit status 2). It never stands for a single bad case.
    """


class EngineFailure(GntError):
    """An engine died or could not start: one error for the run, not one a case."""


class MetricUnavailable(EngineFailure):
    """An engine works, but not for what one metric needs: that metric is unscored, and everything else goes on."""
