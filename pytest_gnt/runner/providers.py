"""From settings to providers, and the run of the stages that the selected tests need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_gnt.config import VllmModel
from pytest_gnt.config.files import did_you_mean
from pytest_gnt.errors import GntError
from pytest_gnt.pipeline.executor import Executor, Progress
from pytest_gnt.pipeline.repeats import repeated
from pytest_gnt.pipeline.stages import AttitudeStage, Stages, gather
from pytest_gnt.pipeline.store import Store
from pytest_gnt.runner.judges import KINDS, JudgeSetup, about_judge, after_judging, set_up_judge, signature_part
from pytest_gnt.runner.translators import DIGITS, make_system
from pytest_gnt.work import Provider, digest

if TYPE_CHECKING:
    from pytest_gnt.case import Case
    from pytest_gnt.config import AttitudeSettings
    from pytest_gnt.evidence import Judgement, Quality, Translation
    from pytest_gnt.metrics.attitude import AttitudeScorer, RecordedScorer
    from pytest_gnt.pipeline.attitudes import Attitudes
    from pytest_gnt.runner.items import CaseItem
    from pytest_gnt.runner.session import GntSession

DEFAULT_ATTITUDE_MODEL = "gemma270m"


def run_stages(gnt: GntSession, items: Sequence[CaseItem], progress: Progress) -> None:
    """Compute the evidence of the items' cases into ``gnt.book``.

    Everything that a stage needs is made, and so checked, before the first model is loaded.

    Raises:
        GntError: a model, an extra or the store cannot be used.
    """
    needs = needed(items)
    cases = list({item.case.id: item.case for item in items}.values())
    system = make_system(gnt, cases)
    judge = make_judge(gnt, needs["judgement"]) if needs.get("judgement") else None
    stages = Stages(
        translator=system.translator,
        judge=judge.provider if judge else None,
        attitude=make_attitudes(gnt) if needs.get("attitude") else None,
        quality=make_metrics(gnt) if needs.get("quality") else (),
    )
    gnt.parts.update(system.parts)
    for corpus, parts in system.corpus_parts.items():
        gnt.corpus_parts.setdefault(corpus, {}).update(parts)
    executor = Executor(Store(gnt.store_path, run=gnt.run_id), progress)
    try:
        gnt.book = gather(executor, stages, needs)
        gnt.repeats = [gather(executor, repeated(stages, repeat), needs) for repeat in range(1, gnt.settings.repeats)]
        gnt.attitude_about = about_attitude(gnt, stages.attitude)
        after_judging(gnt, judge)
    finally:
        gnt.counts = executor.counts
        gnt.notes = system.notes
        executor.store.close()


def needed(items: Sequence[CaseItem]) -> dict[str, list[Case]]:
    """The cases that each kind of evidence is needed for, in the items' order, each once."""
    needs: dict[str, dict[str, Case]] = {"translation": {}}
    for item in items:
        needs["translation"][item.case.id] = item.case
        for kind in item.selection.evidence:
            needs.setdefault(kind, {})[item.case.id] = item.case
    return {kind: list(cases.values()) for kind, cases in needs.items()}


def make_judge(gnt: GntSession, cases: Sequence[Case]) -> JudgeSetup | None:
    """The judge of ``--gnt-judge``, for the cases to be judged; None where it is switched off.

    Raises:
        GntError: unknown judge.
    """
    name = gnt.settings.judge
    if name == "none":
        return None
    directory = gnt.settings.judge_prompt_dir
    setup = set_up_judge(
        gnt.files, name, gnt=gnt, seed=gnt.settings.seed, prompt_dir=gnt.path(directory) if directory else None
    )
    if setup is not None:
        gnt.judge_about = about_judge(setup, gnt.files)
        for data in gnt.corpora:
            gnt.corpus_parts.setdefault(data.name, {})["judge"] = _judge_part(setup, data.cases, cases)
        return setup
    settings = gnt.files.judge(name)
    hook = gnt.config.hook.pytest_gnt_judge
    found: Provider[Translation, Judgement] | None = hook(config=gnt.config, name=name, settings=settings.model_dump())
    if found is None:
        raise GntError(f"judge {name!r}: unknown kind {settings.kind!r}.{did_you_mean(settings.kind, KINDS)}")
    key = digest(settings.model_dump())
    provided = JudgeSetup(name=name, settings=settings, provider=found, key=lambda _: key)
    gnt.judge_about = about_judge(provided, gnt.files)
    gnt.parts["judge"] = f"{name}@{key[:DIGITS]}"
    return provided


def _judge_part(setup: JudgeSetup, corpus: Sequence[Case], selected: Sequence[Case]) -> str:
    """The judge in a corpus' signature, for all its languages, so that a filtered run has the same; see there."""
    try:
        return signature_part(setup, [case.target_lang for case in corpus])
    except GntError:
        own = {case.id for case in corpus}
        return signature_part(setup, [case.target_lang for case in selected if case.id in own])


def make_attitudes(gnt: GntSession) -> Attitudes | None:
    """Alignment and attitude scores by ``--gnt-attitude-model``; None where it is switched off.

    Raises:
        GntError: unknown attitude model, or its weights or packages are not there.
    """
    settings = gnt.settings
    name = settings.attitude_model or gnt.files.model(str(settings.model)).attitude_model or DEFAULT_ATTITUDE_MODEL
    if name == "none":
        return None
    from pytest_gnt.pipeline.attitudes import Attitudes

    attitude = gnt.files.attitude_model(name)
    scorer = _word_scorer(gnt, name, attitude)
    scale = "calibrated" if attitude.calibrate else "raw"
    gnt.parts["attitude"] = f"{name}@{digest(scorer.context())[:DIGITS]}.{scale}.d{settings.delta:g}"
    return Attitudes(scorer, calibrated=attitude.calibrate, delta=settings.delta)


def _word_scorer(gnt: GntSession, name: str, settings: AttitudeSettings) -> RecordedScorer | AttitudeScorer:
    from pytest_gnt.metrics.attitude import AttitudeScorer, RecordedScorer

    if settings.kind == "recorded":
        if settings.path is None:
            raise GntError(f'attitude model {name!r}: kind recorded needs path = "…"')
        return RecordedScorer(gnt.files.path(settings.path))
    if settings.model is None:
        raise GntError(f'attitude model {name!r}: kind {settings.kind} needs model = "…"')
    if settings.kind == "transformers":
        from pytest_gnt.engines.transformers_scorer import CausalScorer

        return AttitudeScorer(CausalScorer(settings.model, device=settings.device, batch_size=settings.batch_size))
    if settings.kind == "vllm":
        from pytest_gnt.engines.vllm_scorer import VllmScorer

        return AttitudeScorer(VllmScorer(VllmModel(model=settings.model, dtype="float32")))
    from pytest_gnt.engines.openai_server import OpenAIScorer

    return AttitudeScorer(OpenAIScorer(settings.model, base_url=settings.base_url, api_key_env=settings.api_key_env))


def about_attitude(gnt: GntSession, stage: AttitudeStage | None) -> dict[str, Any] | None:
    """What a report says of the attitude model: how well it tells plainly kind from plainly harsh words."""
    from pytest_gnt.pipeline.attitudes import Attitudes

    if not isinstance(stage, Attitudes):
        return None
    return {
        "name": gnt.parts["attitude"].partition("@")[0],
        "calibration": [
            {"lang": lang, "auc": found.auc, "zero": found.zero, "unit": found.unit, "n": found.n}
            for lang, found in sorted(stage.calibrations.items())
        ],
    }


def make_metrics(gnt: GntSession) -> list[Provider[Translation, Quality]]:
    """BLEU and chrF, the COMET models of ``--gnt-comet``, and what other plugins provide."""
    from pytest_gnt.metrics.bleu import OverlapProvider, signatures
    from pytest_gnt.runner.comet import make_comet

    metrics: list[Provider[Translation, Quality]] = [OverlapProvider()]
    names = ["bleu+chrf@sacrebleu" + dict(signatures("13a"))["bleu"].rpartition(":")[2]]
    for model in make_comet(gnt):
        metrics.append(model)
        names.append(model.label)
    for provided in gnt.config.hook.pytest_gnt_metrics(config=gnt.config):
        metrics += provided.values()
        names += provided
    gnt.parts["quality"] = ",".join(names)
    return metrics
