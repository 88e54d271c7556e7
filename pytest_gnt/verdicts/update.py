"""Bringing a run's results into a baseline: what was run replaces, what was not run stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_gnt.errors import GntError
from pytest_gnt.files import locked
from pytest_gnt.verdicts.baseline import Baseline, new_baseline, read_baseline, write_unlocked
from pytest_gnt.verdicts.comparability import comparable
from pytest_gnt.verdicts.entry import Entry, entries_of
from pytest_gnt.verdicts.results import CaseResult, Outcome

EVIDENCE = ("translation", "judgement", "quality", "attitude")


@dataclass(frozen=True, slots=True)
class Merge:
    """What a merge did. ``kept`` says for each case that was run and yet not replaced why it was not."""

    baseline: Baseline
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    unchanged: tuple[str, ...]
    kept: dict[str, str]
    untouched: int

    def __str__(self) -> str:
        return (
            f"{self.baseline.corpus}: {len(self.added)} added, {len(self.replaced)} replaced, "
            f"{len(self.unchanged)} unchanged, {len(self.kept)} kept although run, {self.untouched} not run"
        )


def merge(old: Baseline | None, new: Baseline, *, force: bool = False) -> Merge:
    """Bring ``new`` (what was run) into ``old``.

    Cases that were not run stay. Of a case that was run in part (other tests, no quality metric), what was not run
    stays as long as the translation is the same; with another translation the old case stays whole, since its other
    results belong to the old text. A case that has no result now where it had one (unscored) stays whole too. With
    ``force`` what was run always replaces.
    """
    stored = old.entries if old else {}
    entries = dict(stored)
    added: list[str] = []
    replaced: list[str] = []
    unchanged: list[str] = []
    kept: dict[str, str] = {}
    for key, entry in new.entries.items():
        before = stored.get(key)
        if before is None:
            added.append(key)
            entries[key] = entry
            continue
        why = None if force else _reason_to_keep(before, entry)
        if why is not None:
            kept[key] = why
            continue
        entries[key] = _completed(before, entry)
        (unchanged if entries[key].to_line() == before.to_line() else replaced).append(key)
    untouched = len(stored.keys() - new.entries.keys())
    merged = replace(
        new,
        entries={key: entries[key] for key in sorted(entries)},
        older_signatures=_older_signatures(old, new.signature) if untouched or kept else (),
    )
    return Merge(merged, tuple(added), tuple(replaced), tuple(unchanged), kept, untouched)


def update_baseline(
    folder: Path,
    corpus: str,
    cases: Iterable[CaseResult | Entry],
    *,
    model: str,
    signature: str,
    revision: str,
    force: bool = False,
) -> Merge:
    """Merge a run into the stored baseline, reading and writing under one lock.

    Raises:
        GntError: the stored baseline cannot be read; the signatures say that the numbers cannot be compared (unless
            forced); the folder cannot be written. The stored baseline is then as it was.
    """
    new = new_baseline(model, corpus, signature, revision, entries_of(cases))
    with locked(folder):
        old = read_baseline(folder, corpus) if (folder / f"{corpus}.jsonl").is_file() else None
        if old is not None and not force:
            require_comparable(old, signature)
        done = merge(old, new, force=force)
        write_unlocked(folder, done.baseline)
    return done


def require_comparable(baseline: Baseline, signature: str) -> None:
    """Refuse to compare or to mix what differs in more than the system under test.

    Raises:
        GntError: names each reason.
    """
    for stored in (baseline.signature, *baseline.older_signatures):
        reasons = comparable(stored, signature)
        if reasons:
            raise GntError(
                f"the baseline of {baseline.model} on {baseline.corpus} cannot be compared with this run: "
                f"{'; '.join(reasons)}. Run with the settings of the baseline, or store a new one by "
                "forcing the update."
            )


def _older_signatures(old: Baseline | None, signature: str) -> tuple[str, ...]:
    if old is None:
        return ()
    return tuple(sorted({old.signature, *old.older_signatures} - {signature}))


def _reason_to_keep(before: Entry, after: Entry) -> str | None:
    if before.source_digest != after.source_digest:
        return None
    for name, test in after.tests.items():
        earlier = before.tests.get(name)
        if test.outcome is Outcome.UNSCORED and earlier is not None and earlier.outcome is not Outcome.UNSCORED:
            return f"{name} is unscored now ({test.reason})"
    for kind in EVIDENCE:
        if kind in after.why and before.asked(kind) and kind not in before.why:
            return f"no {kind} now ({after.why[kind]})"
    if before.text != after.text and not _covers(before, after):
        return "run in part only, with another translation"
    return None


def _covers(before: Entry, after: Entry) -> bool:
    """Whether the run looked at everything that the stored case holds."""
    return (
        before.tests.keys() <= after.tests.keys()
        and before.scores.keys() <= after.scores.keys()
        and all(after.asked(kind) for kind in EVIDENCE if before.asked(kind))
    )


def _completed(before: Entry, after: Entry) -> Entry:
    """The new entry, with what was not run taken from the old one where that belongs to the same sentences."""
    if before.source_digest != after.source_digest or before.text != after.text:
        return after
    unasked = [kind for kind in EVIDENCE if not after.asked(kind)]
    old_why = {kind: before.why[kind] for kind in unasked if kind in before.why}
    return replace(
        after,
        tests={**before.tests, **after.tests},
        scores=after.scores if "quality" in after.why else {**before.scores, **after.scores},
        judged=before.judged if "judgement" in unasked else after.judged,
        attitude=before.attitude if "attitude" in unasked else after.attitude,
        why={**old_why, **after.why},
    )
