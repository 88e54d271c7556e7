"""COMET, xCOMET and CometKiwi: learned scores of a translation, computed by a worker process.

Rei et al. 2020 (COMET), Rei et al. 2022 (CometKiwi), Guerreiro et al. 2024 (xCOMET). COMET and xCOMET compare with
source and reference, CometKiwi with the source alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pytest_gnt.engines.devices import pick_device
from pytest_gnt.evidence import Quality, Reason, Translation
from pytest_gnt.metrics.comet_process import CometProcess, Sample, Scored
from pytest_gnt.metrics.comet_runtime import PACKAGE, Installed, Kind
from pytest_gnt.work import Answer, Context, JsonObject, Work

STAGE = "comet"
VERSION = 1
"""Raised when stored scores of older versions must not be used any more."""

BATCHES_A_COMMIT = 32
DIGITS = 8
_REMEMBERED = 100_000

Triple = tuple[str, str, str | None]


@dataclass(slots=True)
class _Open:
    """A piece of work whose samples are being scored."""

    triples: list[Triple]
    missing: set[Triple] = field(default_factory=set)


class CometProvider:
    """A `Provider[Translation, Quality]` for one COMET model.

    Scores are given in points of 100 under the name of the kind: ``comet``, ``xcomet`` or ``cometkiwi``. With several
    references that is the best of them, and their mean stands beside it (``comet_mean``). The weights are loaded by the
    first `run`, in the worker.

    Args:
        name: the model's name in the configuration.
        model: where it is, see `pytest_gnt.metrics.comet_runtime.identify`.
        kind: what it is.
        batch_size: samples that the model is given at once.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N`` (as the worker sees the GPUs).
        offline: the encoder's files must be on this machine.
        timeout: seconds without an answer after which the worker is taken to hang.

    Raises:
        GntError: the device is unknown.
    """

    movable = True

    def __init__(
        self,
        name: str,
        model: Installed,
        kind: Kind,
        *,
        batch_size: int = 16,
        device: str = "auto",
        offline: bool = False,
        timeout: float = 3600.0,
    ) -> None:
        self.name = name
        self.stage: str = kind
        self.metric: str = kind
        self.needs_reference = kind != "cometkiwi"
        self.batch_size = BATCHES_A_COMMIT * batch_size
        self._model = model
        self._samples_at_once = batch_size
        self._device = pick_device(device)
        self._offline = offline
        self._timeout = timeout
        self._process: CometProcess | None = None
        self._known: dict[Triple, Scored] = {}
        self._context = Context(
            {
                "stage": STAGE,
                "version": VERSION,
                "kind": kind,
                "model": model.fingerprint,
                "packages": {package: version or "" for package, version in model.versions.items()},
            }
        )

    @property
    def label(self) -> str:
        """Model and version for a signature, e.g. ``xcomet@1f0a3b77.comet2.2.7``."""
        return f"{self.name}@{self._context.key[:DIGITS]}.comet{self._model.versions[PACKAGE]}"

    def work(self, subject: Translation) -> Work:
        """Scores depend on the texts alone: the order of references and their repetition do not matter."""
        references = sorted(set(_references(subject))) if self.needs_reference else []
        return Work(self._context, {"src": subject.case.source, "mt": subject.text or "", "references": references})

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """Score each different sample once; an answer is yielded when the last of its samples is done."""
        opened = {index: _Open(self._triples(work)) for index, work in enumerate(works)}
        waiting: dict[Triple, list[int]] = {}
        for index, one in opened.items():
            one.missing = {triple for triple in one.triples if triple not in self._known}
            for triple in one.missing:
                waiting.setdefault(triple, []).append(index)
        yield from ((index, self._answer(one)) for index, one in opened.items() if not one.missing)
        triples = list(waiting)
        if not triples:
            return
        for place, scored in self._started().score([_sample(triple) for triple in triples]):
            triple = triples[place]
            self._known[triple] = scored
            for index in waiting[triple]:
                opened[index].missing.discard(triple)
                if not opened[index].missing:
                    yield index, self._answer(opened[index])
        if len(self._known) > _REMEMBERED:
            self._known.clear()

    def read(self, subject: Translation, answer: JsonObject) -> Quality:
        """The stored scores of one translation as evidence."""

        def missing(reason: Reason, why: str) -> Quality:
            return Quality(case=subject.case, translation=subject, reason=reason, detail=f"{self.metric}: {why}")

        if not (subject.text or "").strip():
            return missing(Reason.EMPTY, "the translation is empty")
        references = _references(subject) if self.needs_reference else [None]
        if not references:
            return missing(Reason.NO_REFERENCE, "the case has no reference")
        places = {reference: place for place, reference in enumerate(sorted(set(_references(subject))))}
        rows = [answer["scores"][places[reference] if reference is not None else 0] for reference in references]
        errors = [row["error"] for row in rows if row["error"]]
        if errors:
            return missing(Reason.UNDECIDED, f"not scored: {errors[0]}")
        values = [row["score"] for row in rows]
        if any(value is None for value in values):
            return missing(Reason.NOT_FINITE, "the model gave a score that is no finite number")
        scores = {self.metric: _points(max(values))}
        if len(values) > 1:
            scores[f"{self.metric}_mean"] = _points(fmean(values))
        return Quality(
            case=subject.case, translation=subject, scores=scores, detail=self._detail(rows, answer["window"])
        )

    def close(self) -> None:
        """End the worker; what it has scored is forgotten."""
        if self._process is not None:
            self._process.close()
            self._process = None
        self._known.clear()

    def _triples(self, work: Work) -> list[Triple]:
        source, translation, references = work.input["src"], work.input["mt"], work.input["references"]
        if not translation.strip() or (self.needs_reference and not references):
            return []  # nothing for a model: `read` says why
        return [(source, translation, reference) for reference in references or [None]]

    def _answer(self, one: _Open) -> Answer:
        scored = [self._known[triple] for triple in one.triples]
        rows = [{"score": each.score, "cut": list(each.cut), "error": each.error} for each in scored]
        # A number that is not finite may come of a faulty device: the next run tries again.
        window = self._process.window if self._process is not None else 0
        return Answer({"scores": rows, "window": window}, keep=all(each.score is not None for each in scored))

    def _started(self) -> CometProcess:
        if self._process is None:
            self._process = CometProcess(
                self._model,
                device=self._device,
                batch_size=self._samples_at_once,
                offline=self._offline,
                timeout=self._timeout,
            )
        return self._process

    def _detail(self, rows: Sequence[JsonObject], window: int) -> str:
        cut = sorted({_PARTS.get(part, part) for row in rows for part in row["cut"]})
        return f"{self.metric}: cut to the encoder's {window} tokens: {', '.join(cut)}" if cut else ""


_PARTS = {"src": "source", "mt": "translation", "ref": "reference", "together": "the parts together"}


def _references(subject: Translation) -> list[str]:
    return [reference for reference in subject.case.references if reference.strip()]


def _sample(triple: Triple) -> Sample:
    source, translation, reference = triple
    sample = {"src": source, "mt": translation}
    return sample if reference is None else {**sample, "ref": reference}


def _points(score: float) -> float:
    return round(100 * score, 4)
