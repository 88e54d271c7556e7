"""An encoder-decoder model (NLLB-200, MarianMT …) as a translator: sentences in, sentences out, no prompt, no label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Protocol

from pytest_gnt.case import Case
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.evidence import Translation
from pytest_gnt.prompts.reply import ParsedReply, read_text, reply_failure
from pytest_gnt.translators.stage import STAGE, VERSION, about, store_reply, stored_reply
from pytest_gnt.work import Answer, Context, JsonObject, Work


class SequenceEngine(Protocol):
    """A runtime for encoder-decoder models.

    Invariants: as in `Generator`: ``context`` needs no weights in memory and names everything that can change a reply;
    ``translate`` yields every index of ``texts`` exactly once, in any order, and one bad text is one `Reply` with a
    reason. Languages are ISO 639-1 codes; the engine maps them to its own (see `engines.language_codes`).
    """

    def context(self) -> Mapping[str, object]: ...

    def translate(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> Iterator[tuple[int, Reply]]: ...

    def close(self) -> None: ...


class SequenceTranslator:
    """A `Provider[Case, Translation]` for encoder-decoder models.

    Args:
        engine: the runtime; owned, and closed by `close`.
        batch_size: cases that one commit of the store covers.
    """

    stage = STAGE

    def __init__(self, engine: SequenceEngine, *, batch_size: int = 64) -> None:
        self.batch_size = batch_size
        self._engine = engine
        self._context: Context | None = None

    @property
    def movable(self) -> bool:
        """As the engine is."""
        return bool(getattr(self._engine, "movable", False))

    def work(self, subject: Case) -> Work:
        """One sentence with its languages; equal sentences are one request."""
        if self._context is None:
            self._context = Context({"stage": STAGE, "version": VERSION, "engine": dict(self._engine.context())})
        return Work(self._context, about(subject))

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `Provider`. Each language pair of the batch is one call of the engine."""
        pairs = sorted(
            ((str(work.input["source_lang"]), str(work.input["target_lang"])), index)
            for index, work in enumerate(works)
        )
        for (source_lang, target_lang), members in groupby(pairs, key=itemgetter(0)):
            indexes = [index for _, index in members]
            texts = [str(works[index].input["source"]) for index in indexes]
            for place, reply in self._engine.translate(texts, source_lang, target_lang):
                yield indexes[place], store_reply(reply)

    def read(self, subject: Case, answer: JsonObject) -> Translation:
        """The translation, or the reason why there is none."""
        reply = stored_reply(answer)
        parsed: ParsedReply = reply_failure(reply, subject) or read_text(reply.text, subject)
        return parsed.translation(subject, reply)

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()
