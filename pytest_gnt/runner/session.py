"""What one pytest session knows: settings, corpora, and the evidence of its cases. Made at first need."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from pytest_gnt.errors import GntError
from pytest_gnt.garbage import begin, settle
from pytest_gnt.runner.options import given
from pytest_gnt.suite import Selection

if TYPE_CHECKING:
    from pytest_gnt.case import Case, Identity
    from pytest_gnt.config import Config, RunSettings
    from pytest_gnt.corpora.source import CorpusData
    from pytest_gnt.engines.protocol import Generator
    from pytest_gnt.evidence import Pair
    from pytest_gnt.pipeline.executor import Progress, StageCount
    from pytest_gnt.pipeline.stages import Book
    from pytest_gnt.runner.gating import Gating
    from pytest_gnt.runner.items import CaseItem
    from pytest_gnt.runner.variants import Variants

REFUSED_SHOWN = 20

_BEHIND = {"judge": "judgement", "attitude": "attitude", "aligner": "attitude", "quality": "quality"}
"""Part of a signature → the evidence it stands for."""


class GntSession:
    """State of the plugin in one pytest process.

    ``failure`` is the first error met while collecting; the plugin raises it once collection is over, as one
    ``UsageError``, since pytest would report it once a module.
    """

    def __init__(self, config: pytest.Config) -> None:
        begin()
        self.config = config
        self.failure: GntError | None = None
        self.made = 0
        self.selected = 0
        self.book: Book | None = None
        self.repeats: list[Book] = []
        self.counts: list[StageCount] = []
        self.parts: dict[str, str] = {}
        self.corpus_parts: dict[str, dict[str, str]] = {}
        self.kinds: dict[str, set[str]] = {}
        self.told: dict[str, Any] | None = None
        self.notes: tuple[str, ...] = ()
        self.engines: dict[str, Generator] = {}
        self.attitude_about: dict[str, Any] | None = None
        self.judge_about: dict[str, Any] | None = None
        self._selected: dict[str, set[str]] = {}
        self._corpora: dict[str, CorpusData] = {}
        self._variants: dict[str, Variants] = {}
        self._run_id = uuid4().hex  # the number of a process comes again
        self.unscored_metrics: set[str] = set()

    @property
    def worker(self) -> bool:
        """Whether this is a worker process of pytest-xdist."""
        return hasattr(self.config, "workerinput")

    @cached_property
    def files(self) -> Config:
        from pytest_gnt.config import load_config

        return load_config(self.config.rootpath)

    @cached_property
    def settings(self) -> RunSettings:
        """The run's settings: the file's, overlaid by the command line's.

        Raises:
            GntError: a value is not allowed, or a name is not known.
        """
        settings = self.files.overlay(given(self.config))
        if settings.model is not None:
            self.files.model(settings.model)
        if settings.judge != "none":
            self.files.judge(settings.judge)
        if settings.attitude_model not in (None, "none"):
            self.files.attitude_model(str(settings.attitude_model))
        self.files.aligner(settings.aligner)
        self.files.comet_models(settings.comet)
        self._check_filters(settings)
        return settings

    def _check_filters(self, settings: RunSettings) -> None:
        from pytest_gnt.case import Identity
        from pytest_gnt.config.files import did_you_mean

        known = [str(identity) for identity in Identity]
        for identity in settings.identities or ():
            if identity not in known:
                raise GntError(
                    f"--gnt-identities: unknown identity {identity!r}.{did_you_mean(identity, known)} "
                    f"Known: {', '.join(known)}."
                )

    def path(self, text: str) -> Path:
        """A path of an option or of the ``[run]`` table, relative to the root directory of the session."""
        from pytest_gnt.config.files import usable_path

        return usable_path(self.config.rootpath, text)

    @property
    def store_path(self) -> Path:
        return self.path(self.settings.store)

    @property
    def run_id(self) -> str:
        """The same in every process of one run."""
        if self.worker:
            return str(self.config.workerinput["testrunuid"])  # type: ignore[attr-defined]
        return self._run_id

    def corpus(self, name: str) -> CorpusData:
        """A corpus, read once a session.

        Raises:
            GntError: there is no such corpus, or its files cannot be read.
        """
        if name not in self._corpora:
            from pytest_gnt.runner.corpora import load_corpus

            self._corpora[name] = load_corpus(self, name)
        return self._corpora[name]

    @property
    def corpora(self) -> list[CorpusData]:
        return [self._corpora[name] for name in sorted(self._corpora)]

    @cached_property
    def gating(self) -> Gating:
        """The run's baseline and how it decides."""
        from pytest_gnt.runner.gating import Gating

        return Gating(self)

    def corpus_names(self) -> list[str]:
        """Names of the corpora that are run; the controlling process of xdist knows them from its workers."""
        if self.told is not None:
            return [row["name"] for row in self.told["corpora"]]
        return sorted(self._corpora)

    def select(self, selection: Selection) -> list[Case]:
        """The cases of one suite function; none, and ``failure`` set, where they cannot be had."""
        from pytest_gnt.runner.selection import select

        try:
            if selection.metrics is not None and not self._scores_one_of(selection.metrics):
                self.unscored_metrics.update(selection.metrics)
                return []
            return select(self.corpus(selection.corpus).cases, selection, self.settings)
        except GntError as error:
            self.failure = self.failure or error
            return []

    def _scores_one_of(self, metrics: frozenset[str]) -> bool:
        """Whether the run scores one of these quality metrics."""
        from pytest_gnt.metrics.bleu import METRICS

        own = {*METRICS, *(comet.kind for comet in self.files.comet_models(self.settings.comet).values())}
        if metrics & own:
            return True
        return any(metrics & set(names) for names in self.config.hook.pytest_gnt_metrics(config=self.config))

    def variants(self, case: Case) -> dict[Identity, Case]:
        """The woman and the man variant of a case's sentence, those that its corpus has."""
        if case.corpus not in self._variants:
            from pytest_gnt.runner.variants import Variants

            self._variants[case.corpus] = Variants(self.corpus(case.corpus).cases)
        return self._variants[case.corpus].of(case)

    def pair(self, case: Case, book: Book) -> Pair:
        """What the case's quality is compared with."""
        from pytest_gnt.runner.variants import pair_of

        return pair_of(self.variants(case), book, self.settings.comet_gap)

    def selection_text(self) -> str:
        """What was asked for, and what there was to choose from."""
        settings = self.settings
        asked = [
            f"--gnt-{name}={','.join(values)}"
            for name, values in (("langs", settings.langs), ("identities", settings.identities))
            if values
        ]
        there = [f"{data.name} has {len(data.cases)} cases" for data in self.corpora]
        if self.unscored_metrics:
            there.append(f"tests about {', '.join(sorted(self.unscored_metrics))} need --gnt-comet")
        return "; ".join([", ".join(asked) or "check -k, -m and the suites given", *there])

    def check_settings(self) -> None:
        """Raise a wrong setting as one usage error, before anything is collected or loaded."""
        from pytest_gnt.runner.executors import check_executor

        try:
            check_executor(self.settings, self.config)
            _ = self.gating.folder
            if self.settings.model is not None and not self.worker and not self.config.option.collectonly:
                self.check_report()
        except GntError as error:
            raise pytest.UsageError(str(error)) from error

    def check_report(self) -> None:
        """Find a report folder that cannot be written before any model work is done for it.

        Raises:
            GntError: it cannot be made, or nothing can be written into it.
        """
        if self.settings.report == "none":
            return
        folder = self.path(self.settings.report)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            usable = os.access(folder, os.W_OK)
        except OSError as error:
            raise GntError(
                f"the report folder {folder} cannot be made: {error.strerror}. Choose another --gnt-report."
            ) from error
        if not usable:
            raise GntError(f"the report folder {folder} cannot be written. Choose another --gnt-report.")

    def check(self) -> None:
        """Raise the failure met while collecting, and refuse to run cases without a model."""
        self.check_settings()
        if self.failure is not None:
            raise pytest.UsageError(str(self.failure))
        if self.settings.model is None and not self.config.option.collectonly:
            raise pytest.UsageError(
                "no system under test: give --gnt-model=NAME. "
                f"Known: {', '.join(sorted(self.files.models))}. Add your own as [models.NAME] in gnt.toml."
            )

    def prepare(self, items: Sequence[CaseItem], progress: Progress) -> None:
        """Run the stages that the items need, once a case.

        Raises:
            pytest.UsageError: a model, an extra or the store cannot be used; what was computed is kept.
        """
        from pytest_gnt.runner.providers import run_stages

        self.selected = len(items)
        for item in items:
            self._selected.setdefault(item.case.corpus, set()).add(item.case.id)
            self.kinds.setdefault(item.case.corpus, set()).update(item.selection.evidence)
        try:
            self.gating.check()
            run_stages(self, items, progress)
            settle()
        except GntError as error:
            raise pytest.UsageError(str(error)) from error

    def books(self) -> list[Book]:
        """The evidence that `prepare` computed: the run's own, then that of its repeats.

        Raises:
            RuntimeError: the stages have not run.
        """
        if self.book is None:
            raise RuntimeError("the stages have not run")
        return [self.book, *self.repeats]

    def header(self) -> list[str]:
        """Lines for pytest's header."""
        settings = self.settings
        data = f"data {settings.data}, " if settings.data else ""
        return [f"gnt: system {settings.model or 'none'}, judge {settings.judge}, {data}store {settings.store}"]

    def stage_rows(self) -> list[dict[str, Any]]:
        """What each stage did in this process, as plain builtins."""
        return [
            {
                "stage": row.stage,
                "requested": row.requested,
                "stored": row.stored,
                "computed": row.computed,
                "elsewhere": row.elsewhere,
                "seconds": round(row.seconds, 3),
            }
            for row in self.counts
        ]

    def about(self) -> dict[str, Any]:
        """What a report says of the run beside its results, as plain builtins."""
        from pytest_gnt import __version__
        from pytest_gnt.runner.engines import usage_rows
        from pytest_gnt.verdicts.signature import signature

        name = self.settings.model or "none"
        settings = self.files.models.get(name)
        return {
            "product": f"pytest-gnt {__version__}",
            "model": {
                "name": name,
                "backend": settings.backend if settings else "none",
                "title": settings.title if settings else "",
            },
            "judge": self.judge_about,
            "attitude": self.attitude_about,
            "notes": list(dict.fromkeys([*self.notes, *self._engine_notes()])),
            "usage": usage_rows(self.engines),
            "signature": {
                data.name: signature(
                    {"gnt": __version__, "corpus": f"{data.name}@{data.revision}", **self._parts_of(data.name)}
                )
                for data in self.corpora
            },
            "corpora": (rows := [self._corpus_row(data) for data in self.corpora]),
            "partial": self.selected < self.made or any(row["selected"] < row["cases"] for row in rows),
        }

    def _engine_notes(self) -> list[str]:
        return [f"{name}: {note}" for name, engine in self.engines.items() for note in getattr(engine, "notes", ())]

    def _parts_of(self, corpus: str) -> dict[str, str]:
        """The signature's parts that the numbers of one corpus depend on."""
        kinds = self.kinds.get(corpus, set())
        own = self.corpus_parts.get(corpus, {})
        parts = {"model": self.settings.model or "none", **self.parts, **own, "seed": str(self.settings.seed)}
        if self.settings.sample is not None:
            parts["sample"] = str(self.settings.sample)
        for part, kind in _BEHIND.items():
            if kind in kinds:
                parts.setdefault(part, "off")
        unused = [part for part, kind in _BEHIND.items() if kind not in kinds]
        return {key: value for key, value in parts.items() if key not in unused}

    def _corpus_row(self, data: CorpusData) -> dict[str, Any]:
        return {
            "name": data.name,
            "title": data.title,
            "revision": data.revision,
            "rows_read": data.rows_read,
            "cases": len(data.cases),
            "selected": len(self._selected.get(data.name, ())),
            "refused": len(data.refused),
            "refused_rows": [str(row) for row in data.refused[:REFUSED_SHOWN]],
            "notes": list(data.notes),
        }
