"""Hypothesis times the first call of a lazily imported scipy too; a deadline would make such tests flaky."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
