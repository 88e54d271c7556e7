"""Translations that somebody else's system has made before: a file in place of a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_gnt.case import Case, Form
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.evidence import Translation
from pytest_gnt.prompts.reply import ParsedReply, read_reply, read_text
from pytest_gnt.translators.recordings import Entry, read_recording
from pytest_gnt.translators.stage import STAGE, VERSION
from pytest_gnt.work import Answer, Context, JsonObject, Work

_LABELS = {form.value: form for form in Form}


class RecordedTranslator:
    """A `Provider[Case, Translation]` that looks translations up (layouts: see `recordings`).

    A case without a row is MISSING, a blank one EMPTY. Where a row of a labelled case has the raw reply, that is read
    and the columns made from it are not: published extraction code cuts texts at inner brackets and takes what it
    cannot read for NEUTRAL. Words such as ``None`` and ``NA`` are text.

    Args:
        path: file or folder.
        system: which system's rows, where the file has several.
        columns: own column names by documented ones.
        lang: target language of tables that do not tell it.
        cases: all cases of the run's corpora in their order, before any selection: line-aligned files are matched with
            them, and rows of no case are counted.

    Raises:
        GntError: the file cannot be used; names file and line.
    """

    stage = STAGE
    batch_size = 5000

    def __init__(
        self,
        path: Path,
        *,
        system: str | None = None,
        columns: Mapping[str, str] | None = None,
        lang: str | None = None,
        cases: Sequence[Case] = (),
    ) -> None:
        self._recording = read_recording(path, system=system, columns=columns, lang=lang, order=cases)
        if cases:
            self._recording.note_unknown(cases)
        self._context = Context(
            {
                "stage": STAGE,
                "version": VERSION,
                "engine": {
                    "backend": "recorded",
                    "files": self._recording.digests,
                    "system": system,
                    "columns": dict(columns or {}),
                    "lang": lang,
                },
            }
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Findings about the files: rows that were refused or belong to no case."""
        return tuple(self._recording.notes)

    def context(self) -> Mapping[str, object]:
        """What a signature has to say of this system: the files' hashes and how they were read."""
        engine: Mapping[str, object] = self._context.data["engine"]
        return engine

    def work(self, subject: Case) -> Work:
        """A look-up; which row belongs to the case is decided here."""
        return Work(self._context, {"case_id": subject.id}, self._recording.find(subject))

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `Provider`."""
        for index, work in enumerate(works):
            entry: Entry | None = work.payload
            yield index, Answer({"entry": dataclasses.asdict(entry) if entry else None})

    def read(self, subject: Case, answer: JsonObject) -> Translation:
        """The recorded translation, held against the same rules as a model's."""
        fields = answer["entry"]
        entry = Entry(**fields) if fields else Entry(None, None, None, "")
        parsed = _parse(entry, subject)
        reply = Reply(text=entry.raw or entry.text)
        return parsed.translation(subject, reply)

    def close(self) -> None:
        """Nothing is open."""


def _parse(entry: Entry, case: Case) -> ParsedReply:
    if entry.raw and case.expected is not None:
        return read_reply(Reply(text=entry.raw), case, "labelled")
    text = entry.raw if entry.text is None and entry.raw else entry.text
    parsed = read_text(text, case)
    label, flags = _label(entry.label)
    if parsed.text is None:
        label = None
    return dataclasses.replace(parsed, label=label, flags=(*parsed.flags, *flags))


def _label(cell: str | None) -> tuple[Form | None, tuple[str, ...]]:
    """A label cell: NEUTRAL or GENDERED, with or without the stars of the reply's form; anything else is no label."""
    word = (cell or "").strip()
    if not word:
        return None, ()
    if word.startswith("**") and word.endswith("**"):
        word = word[2:-2]
    label = _LABELS.get(word)
    return label, () if label else ("unreadable-label",)
