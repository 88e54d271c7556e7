"""Word alignment by awesome-align: contextual embeddings of a multilingual BERT (Dou and Neubig 2021)."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_gnt.engines.devices import pick_device
from pytest_gnt.engines.weights import require, resolve, revision
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.alignment.bert import BertAligner, Row
from pytest_gnt.metrics.alignment.pair import STAGE, Alignment, Link, SentencePair, from_answer, to_answer
from pytest_gnt.metrics.alignment.tokens import ChineseSegmenter, Segmentation, Token, base_lang
from pytest_gnt.work import Answer, Context, JsonObject, Work

VERSION = 1
"""Raised when stored alignments of older versions must not be used any more."""

MODEL = "bert-base-multilingual-cased"
LAYER = 8
THRESHOLD = 1e-3
"""The library's own, and AmbGIMT's, model and settings."""

BATCHES_A_COMMIT = 16


@dataclass(frozen=True, slots=True)
class _Side:
    tokens: list[Token]
    row: Row


class AwesomeAligner:
    """An `Aligner` over awesome-align. The weights are loaded by the first `run`.

    Pairs of like length are computed together; what else is in a batch does not change a pair's links. A side without
    words, or with more sub-words than the model takes, is not aligned and says so: it is never cut.

    Args:
        model: a BERT checkpoint: a folder, ``pkg:NAME`` or a hub id.
        layer: the layer whose hidden states are compared.
        threshold: probability that a link needs in both directions.
        chinese: how Chinese is cut into words, see `Segmentation`.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N``.
        batch_size: pairs computed together.

    Raises:
        GntError: a package is missing, or a setting is impossible.
    """

    stage = STAGE
    movable = True

    def __init__(
        self,
        model: str = MODEL,
        *,
        layer: int = LAYER,
        threshold: float = THRESHOLD,
        chinese: ChineseSegmenter = "jieba",
        device: str = "auto",
        batch_size: int = 32,
    ) -> None:
        if layer < 1 or batch_size < 1 or not 0 < threshold < 1:
            raise GntError("an aligner's layer and batch_size must be at least 1, its threshold between 0 and 1")
        for module in ("awesome_align", "torch"):
            require(module, "align", "word alignment")
        self._model = model
        self._layer = layer
        self._threshold = threshold
        self._segmentation = Segmentation(chinese)
        picked = pick_device(device)
        self._device = "cuda" if picked == "auto" else picked
        self._pairs = batch_size
        self.batch_size = batch_size * BATCHES_A_COMMIT
        self._loaded: BertAligner | None = None
        self._shared: Mapping[str, object] | None = None
        self._contexts: dict[tuple[str, str], Context] = {}

    def context(self) -> Mapping[str, object]:
        """Everything that links depend on beside the languages, for signatures.

        Raises:
            GntError: the model cannot be found.
        """
        if self._shared is None:
            self._shared = {
                "stage": STAGE,
                "version": VERSION,
                "method": f"awesome-align {importlib.metadata.version('awesome-align')}",
                "model": self._model,
                "revision": revision(self._model),
                "layer": self._layer,
                "threshold": self._threshold,
            }
        return self._shared

    def segmenter_key(self, lang: str) -> str:
        """See `Segmentation.key`."""
        return self._segmentation.key(lang)

    def work(self, subject: SentencePair) -> Work:
        """One pair of sentences."""
        langs = base_lang(subject.source_lang), base_lang(subject.target_lang)
        if langs not in self._contexts:
            words = [f"{lang}:{self._segmentation.key(lang)}" for lang in langs]
            self._contexts[langs] = Context({**self.context(), "words": words})
        given = {"source": subject.source, "target": subject.target}
        return Work(self._contexts[langs], given, payload=langs)

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `Provider`."""
        aligner = self._load()
        ready: list[tuple[int, _Side, _Side]] = []
        for index, work in enumerate(works):
            sides = [
                self._side(aligner, str(work.input[name]), lang)
                for name, lang in zip(("source", "target"), work.payload, strict=True)
            ]
            reason = next((found for side in sides if (found := _why_not(side, aligner.window))), None)
            if reason is not None:
                yield index, Answer(to_answer(reason))
            else:
                ready.append((index, sides[0], sides[1]))
        ready.sort(key=lambda one: (len(one[1].row.ids) + len(one[2].row.ids), one[0]))
        for start in range(0, len(ready), self._pairs):
            batch = ready[start : start + self._pairs]
            links = aligner.links([one[1].row for one in batch], [one[2].row for one in batch])
            for (index, source, target), linked in zip(batch, links, strict=True):
                yield index, Answer(to_answer(Alignment(_spans(source.tokens, target.tokens, linked))))

    def read(self, subject: SentencePair, answer: JsonObject) -> Alignment:
        """The links, or why there are none."""
        del subject
        return from_answer(answer)

    def close(self) -> None:
        """Give the model's memory back."""
        if self._loaded is not None:
            from pytest_gnt.engines.checkpoints import unload

            self._loaded = None
            unload()

    def _load(self) -> BertAligner:
        if self._loaded is None:
            self._loaded = BertAligner(
                resolve(self._model), layer=self._layer, threshold=self._threshold, device=self._device
            )
        return self._loaded

    def _side(self, aligner: BertAligner, text: str, lang: str) -> _Side:
        tokens = self._segmentation.tokens(text, lang)
        return _Side(tokens, aligner.row(text, tokens))


def installed() -> bool:
    """Whether the library is there."""
    return importlib.util.find_spec("awesome_align") is not None


def _why_not(side: _Side, window: int) -> Alignment | None:
    if not side.row.words:
        return Alignment(reason=Reason.NOTHING_TO_ALIGN, detail="a sentence holds no word that the aligner knows")
    if len(side.row.ids) > window:
        count = len(side.row.words)
        detail = f"a sentence has {count} sub-words, and the aligner takes {window - 2}"
        return Alignment(reason=Reason.TOO_LONG_TO_ALIGN, detail=detail)
    return None


def _spans(source: Sequence[Token], target: Sequence[Token], linked: set[tuple[int, int]]) -> tuple[Link, ...]:
    return tuple((source[i].start, source[i].end, target[j].start, target[j].end) for i, j in sorted(linked))
