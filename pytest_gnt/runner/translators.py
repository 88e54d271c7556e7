"""Making the system under test from its settings: one function a backend, each importing only what it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_gnt.config import (
    CommandModel,
    ModelSettings,
    OpenAIModel,
    PluginModel,
    RecordedModel,
    RunSettings,
    TransformersModel,
    VllmModel,
)
from pytest_gnt.config.files import did_you_mean
from pytest_gnt.config.models import BACKENDS
from pytest_gnt.errors import GntError
from pytest_gnt.runner.engines import make_generator, reference
from pytest_gnt.work import Provider, digest

if TYPE_CHECKING:
    from pytest_gnt.case import Case
    from pytest_gnt.evidence import Translation
    from pytest_gnt.prompts.builder import PromptBuilder
    from pytest_gnt.runner.session import GntSession

DEFAULT_PROMPT = "G+S"
DEFAULT_SHOTS = 4
DIGITS = 8
WHOLE_BATCH = 128
"""A quarter of the requests that one commit covers for an engine that batches by itself."""


@dataclass(frozen=True, slots=True)
class System:
    """The system under test: its provider, and what a signature says of it."""

    translator: Provider[Case, Translation]
    parts: dict[str, str]
    corpus_parts: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Findings about recorded files, prompts or programs; known once the stage has run."""
        return tuple(getattr(self.translator, "notes", ()))


def make_system(gnt: GntSession, cases: Sequence[Case]) -> System:
    """The translator of ``--gnt-model``. ``cases`` are those to be translated, for prompts that must not show them.

    Raises:
        GntError: the backend is unknown, or something that it needs is not installed or not there.
    """
    name = str(gnt.settings.model)
    settings = gnt.files.model(name)
    if isinstance(settings, PluginModel):
        return _from_plugin(gnt, name, settings)
    maker = _MAKERS.get(settings.backend)
    if maker is None:
        raise GntError(f"the backend {settings.backend!r} of model {name!r} is not part of this version")
    return maker(gnt, name, settings, cases)


def _from_plugin(gnt: GntSession, name: str, settings: PluginModel) -> System:
    hook = gnt.config.hook.pytest_gnt_translator
    translator = hook(config=gnt.config, name=name, settings=settings.model_dump())
    if translator is None:
        near = did_you_mean(settings.backend, BACKENDS)
        raise GntError(
            f"model {name!r}: unknown backend {settings.backend!r}.{near} Known: {', '.join(sorted(BACKENDS))}; "
            "other backends come from plugins."
        )
    return System(translator, {"model": f"{name}@{digest(settings.model_dump())[:DIGITS]}"})


def _recorded(gnt: GntSession, name: str, settings: RecordedModel, cases: Sequence[Case]) -> System:
    from pytest_gnt.translators.recorded import RecordedTranslator

    del cases
    path = gnt.files.path(settings.path)
    if not path.exists():
        raise GntError(f"model {name!r}: there is no file {path}. Its path is relative to the configuration file.")
    every = [case for data in gnt.corpora for case in data.cases]
    translator = RecordedTranslator(path, system=settings.system, columns=settings.columns or None, cases=every)
    return System(translator, {"model": f"{name}@{digest(translator.context())[:DIGITS]}"})


def _transformers(gnt: GntSession, name: str, settings: TransformersModel, cases: Sequence[Case]) -> System:
    if settings.architecture == "seq2seq":
        from pytest_gnt.engines.transformers_seq2seq import Seq2SeqEngine
        from pytest_gnt.translators.sequence import SequenceTranslator

        engine = Seq2SeqEngine(
            reference(settings),
            dtype=settings.dtype,
            device=settings.device,
            batch_size=settings.batch_size,
            num_beams=settings.num_beams,
            max_new_tokens=settings.max_new_tokens,
        )
        return System(SequenceTranslator(engine), {"model": f"{name}@{digest(engine.context())[:DIGITS]}"})
    return _prompted(gnt, name, settings, cases)


def _prompted(
    gnt: GntSession, name: str, settings: TransformersModel | VllmModel | OpenAIModel, cases: Sequence[Case]
) -> System:
    from pytest_gnt.engines.protocol import Decoding
    from pytest_gnt.translators.prompted import PromptedTranslator

    generator = make_generator(gnt, name, settings)
    # All cases of the corpora, not the selected ones: selection must not change a prompt.
    every = [case for data in gnt.corpora for case in data.cases]
    prompts = make_prompts(gnt, settings, every)
    decoding = Decoding(max_tokens=settings.max_new_tokens, temperature=settings.temperature, seed=gnt.settings.seed)
    translator = PromptedTranslator(
        generator, prompts, decoding=decoding, constrain=settings.constrain, batch_size=commit_size(settings)
    )
    config = prompts.config
    text = f"{config.configuration}.{config.shots}"
    if config.constraint != "none":
        text += f".{config.constraint}"
    parts = {
        "model": f"{name}@{digest(generator.context())[:DIGITS]}",
        "decoding": f"t{decoding.temperature:g}.max{decoding.max_tokens}" + ("" if settings.constrain else ".free"),
    }
    by_corpus = {data.name: {"prompt": f"{text}@{_prompt_digest(prompts, data.cases, cases)}"} for data in gnt.corpora}
    return System(translator, parts, by_corpus)


def commit_size(settings: ModelSettings) -> int:
    """How many requests one commit of the store covers: a few batches, or a few rounds of requests to a server."""
    at_once = getattr(settings, "batch_size", None) or getattr(settings, "concurrency", None) or WHOLE_BATCH
    return 4 * int(at_once)


def make_prompts(gnt: GntSession, model: ModelSettings, cases: Sequence[Case]) -> PromptBuilder:
    """The prompts of a run: the run's setting, else the model's, else the default."""
    from pytest_gnt.prompts.builder import PromptBuilder
    from pytest_gnt.prompts.config import PromptConfig
    from pytest_gnt.prompts.published import PublishedWording

    run: RunSettings = gnt.settings
    configuration, shots = configured_prompt(run, model)
    config = PromptConfig(configuration=configuration, shots=shots, constraint=run.constraint)
    wording = PublishedWording(gnt.path(run.prompt_dir)) if run.prompt_dir else None
    return PromptBuilder(config, wording, exclude_sources=[case.source for case in cases])


def configured_prompt(run: RunSettings, model: ModelSettings) -> tuple[Any, Any]:
    """Prompt configuration and number of shots: the run's setting, else the model's, else the default."""
    of_model = [getattr(model, name, None) for name in ("prompt", "shots")]
    return _first(run.prompt, of_model[0], DEFAULT_PROMPT), _first(run.shots, of_model[1], DEFAULT_SHOTS)


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def _prompt_digest(prompts: PromptBuilder, corpus: Sequence[Case], selected: Sequence[Case]) -> str:
    """Hash of a corpus' prompts, of all its languages, so that a filtered run has the same signature.

    Prompt files of the user's own may lack a language that is not run; then the languages that are run count.
    """
    try:
        return _fingerprint(prompts, corpus)
    except GntError:
        return _fingerprint(prompts, [case for case in selected if case.corpus == corpus[0].corpus])


def _fingerprint(prompts: PromptBuilder, cases: Sequence[Case]) -> str:
    kinds = sorted({(prompts.form(case) == "labelled", case.target_lang) for case in cases})
    prints = [
        prompts.fingerprint([lang for kind, lang in kinds if kind == labelled], labelled=labelled)
        for labelled in sorted({kind for kind, _ in kinds})
    ]
    return digest(prints)[:DIGITS]


def _command(gnt: GntSession, name: str, settings: CommandModel, cases: Sequence[Case]) -> System:
    from pytest_gnt.translators.command import CommandTranslator

    del cases
    translator = CommandTranslator(
        settings.argv, version=settings.version, timeout=settings.timeout, cwd=gnt.files.folder
    )
    return System(translator, {"model": f"{name}@{digest(translator.context())[:DIGITS]}"})


_MAKERS: dict[str, Callable[[Any, str, Any, Sequence[Any]], System]] = {
    "recorded": _recorded,
    "transformers": _transformers,
    "openai": _prompted,
    "vllm": _prompted,
    "command": _command,
}
