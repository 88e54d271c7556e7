"""Attitude scores of words from a table, for machines without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.attitude.scorer import STAGE, VERSION
from pytest_gnt.metrics.attitude.template import Templates, base_language
from pytest_gnt.metrics.attitude.word import WordQuery, WordScore, is_log_probability, read_score
from pytest_gnt.work import Answer, Context, JsonObject, Work, digest

COLUMNS = ("lang", "word", "log_p_positive", "log_p_negative")


class _Readable(Protocol):
    def read_bytes(self) -> bytes: ...


class RecordedScorer:
    """A `Provider[WordQuery, WordScore]` that looks words up. A word that is not in the table has no score.

    Args:
        path: a tab-separated UTF-8 table; its first lines may begin with ``#`` and say where the values come from, then
            come the columns' names (`COLUMNS`). None takes the shipped table.
        templates: languages that a model could be asked in; the shipped ones by default.

    Raises:
        GntError: the table cannot be read; the message names file and line.
    """

    stage = STAGE
    batch_size = 4096

    def __init__(self, path: Path | None = None, *, templates: Templates | None = None) -> None:
        self._templates = templates or Templates()
        source: _Readable = path or files("pytest_gnt.metrics").joinpath("data", "attitude_scores.tsv")
        name = str(path) if path else "attitude_scores.tsv"
        try:
            content = source.read_bytes()
            text = content.decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise GntError(f"cannot read the table of attitude scores {name}: {error}") from error
        self.provenance, self._scores = _read(text, name)
        self._contexts: dict[str, Context] = {}

    def context_of(self, lang: str) -> Mapping[str, object]:
        """Everything that the scores of one language depend on: its rows, but not those of other languages."""
        return self._context(base_language(lang)).data

    def work(self, subject: WordQuery) -> Work:
        """One word."""
        return Work(self._context(subject.lang), {"lang": subject.lang, "word": subject.word})

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `Provider`."""
        for index, work in enumerate(works):
            lang, word = str(work.input["lang"]), str(work.input["word"])
            yield index, self._answer(lang, word)

    def read(self, subject: WordQuery, answer: JsonObject) -> WordScore:
        """The raw score, or the reason why there is none."""
        return read_score(subject, answer)

    def close(self) -> None:
        """Nothing to close."""

    def words(self) -> tuple[WordQuery, ...]:
        """The words in the table, in its order."""
        return tuple(self._scores)

    def _context(self, lang: str) -> Context:
        if lang not in self._contexts:
            rows = sorted((query.word, *values) for query, values in self._scores.items() if query.lang == lang)
            engine = {"backend": "recorded", "table": digest(rows)[:12]}
            self._contexts[lang] = Context({"stage": STAGE, "version": VERSION, "engine": engine})
        return self._contexts[lang]

    def _answer(self, lang: str, word: str) -> Answer:
        found = self._scores.get(WordQuery(lang, word))
        if found is not None:
            return Answer({"log_p_positive": found[0], "log_p_negative": found[1]})
        if self._templates.find(lang) is None:
            reason, detail = Reason.UNSUPPORTED_LANGUAGE, f"no attitude scores are recorded for the language {lang!r}"
        else:
            reason = Reason.UNKNOWN_WORD
            detail = f"no attitude score is recorded for {word!r}: use an attitude model that runs a language model"
        return Answer({"reason": str(reason), "detail": detail})


def _read(text: str, name: str) -> tuple[str, dict[WordQuery, tuple[float, float]]]:
    lines = text.split("\n")
    notes = [line for line in lines if line.startswith("#")]
    numbered = [(number, line.rstrip("\r")) for number, line in enumerate(lines, 1) if line.rstrip("\r")]
    body = [(number, line) for number, line in numbered if not line.startswith("#")]
    if not body or tuple(body[0][1].split("\t")) != COLUMNS:
        raise GntError(f"{name}: the columns must be {', '.join(COLUMNS)}, separated by tabs")
    scores: dict[WordQuery, tuple[float, float]] = {}
    for number, line in body[1:]:
        query, values = _row(line, f"{name}:{number}")
        if scores.setdefault(query, values) != values:
            raise GntError(f"{name}:{number}: {query.word!r} ({query.lang}) is there twice with different values")
    return "\n".join(note.lstrip("# ").rstrip() for note in notes), scores


def _row(line: str, where: str) -> tuple[WordQuery, tuple[float, float]]:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise GntError(f"{where}: {len(cells)} columns, expected {len(COLUMNS)}")
    try:
        positive, negative = float(cells[2]), float(cells[3])
    except ValueError as error:
        raise GntError(f"{where}: {cells[2]!r} and {cells[3]!r} must be numbers") from error
    if not (is_log_probability(positive) and is_log_probability(negative)):
        raise GntError(f"{where}: {cells[2]} and {cells[3]} must be finite logarithms of probabilities")
    return WordQuery(cells[0], cells[1]), (positive, negative)
