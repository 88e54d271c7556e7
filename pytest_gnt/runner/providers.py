"""From settings to providers, and the run of the stages that the selected tests need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_gnt.config.files import did_you_mean
from pytest_gnt.errors import GntError
from pytest_gnt.pipeline.executor import Progress
from pytest_gnt.pipeline.repeats import repeated
from pytest_gnt.pipeline.stages import AttitudeStage, Stages, gather
from pytest_gnt.runner.aligners import set_up_aligner
from pytest_gnt.runner.attitude_models import DEFAULT_ATTITUDE_MODEL, word_scorer
from pytest_gnt.runner.attitude_models import signature_part as attitude_part
from pytest_gnt.runner.executors import make_executor
from pytest_gnt.runner.judges import KINDS, JudgeSetup, about_judge, after_judging, set_up_judge, signature_part
from pytest_gnt.runner.translators import DIGITS, make_system
from pytest_gnt.work import Provider, digest

if TYPE_CHECKING:
    from pytest_gnt.case import Case
    from pytest_gnt.corpora.source import CorpusData
    from pytest_gnt.evidence import Judgement, Quality, Translation
    from pytest_gnt.pipeline.attitudes import Attitudes
    from pytest_gnt.runner.items import CaseItem
    from pytest_gnt.runner.session import GntSession


def run_stages(gnt: GntSession, items: Sequence[CaseItem], progress: Progress) -> None:
    """Compute the evidence of the items' cases into ``gnt.book``.

    Everything that a stage needs is made, and so checked, before the first model is loaded.

    Raises:
        GntError: a model, an extra or the store cannot be used.
    """
    needs = needed(items)
    cases = needs["translation"]
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
    executor = make_executor(gnt, attitude_model_name(gnt), progress)
    try:
        gnt.book = gather(executor, stages, needs)
        gnt.repeats = [gather(executor, repeated(stages, repeat), needs) for repeat in range(1, gnt.settings.repeats)]
        gnt.attitude_about = about_attitude(gnt, stages.attitude)
        after_judging(gnt, judge)
    finally:
        gnt.counts = executor.counts
        pairs = _note_on_pairs(len(cases) - len({item.case.id for item in items}))
        found = (*system.notes, *getattr(stages.attitude, "notes", ()))
        gnt.notes = (*found, *pairs, *executor.notes, *executor.store.notes)
        executor.close()


def _note_on_pairs(more: int) -> list[str]:
    if not more:
        return []
    return [f"{more} woman and man variants that were not selected were translated and scored: gaps are against them"]


def needed(items: Sequence[CaseItem]) -> dict[str, list[Case]]:
    """The cases that each kind of evidence is needed for, in the items' order, each once; see `pair` in suites."""
    needs: dict[str, dict[str, Case]] = {"translation": {}}
    for item in items:
        needs["translation"][item.case.id] = item.case
        for kind in item.selection.evidence:
            needs.setdefault(kind, {})[item.case.id] = item.case
        for variant in item.gnt.variants(item.case).values() if item.selection.wants_pair else ():
            # Selected or not: what a case is compared with must not depend on the selection.
            needs["translation"][variant.id] = needs["quality"][variant.id] = variant
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


def attitude_model_name(gnt: GntSession) -> str:
    """The attitude model that the run uses, or ``none``."""
    settings = gnt.settings
    return settings.attitude_model or gnt.files.model(str(settings.model)).attitude_model or DEFAULT_ATTITUDE_MODEL


def make_attitudes(gnt: GntSession) -> Attitudes | None:
    """Alignment and attitude scores by ``--gnt-attitude-model``; None where it is switched off.

    Raises:
        GntError: unknown attitude model, or its weights or packages are not there.
    """
    name = attitude_model_name(gnt)
    if name == "none":
        return None
    from pytest_gnt.metrics.attitude import Templates
    from pytest_gnt.pipeline.attitudes import Attitudes

    settings, delta = gnt.files.attitude_model(name), gnt.settings.delta
    templates = Templates(gnt.files.attitude_templates)
    scorer = word_scorer(gnt.files, name, settings, templates)
    aligner = set_up_aligner(gnt.files, gnt.settings.aligner)
    for data in gnt.corpora:
        parts = gnt.corpus_parts.setdefault(data.name, {})
        targets = {case.target_lang for case in data.cases}
        langs = targets | {case.source_lang for case in data.cases}
        part = attitude_part(name, scorer, templates, langs, calibrated=settings.calibrate)
        parts["attitude"] = f"{part}.d{delta:g}"
        parts["aligner"] = aligner.label(targets)
    return Attitudes(scorer, calibrated=settings.calibrate, delta=delta, finder=aligner.finder, templates=templates)


def about_attitude(gnt: GntSession, stage: AttitudeStage | None) -> dict[str, Any] | None:
    """What a report says of the attitude model: how well it tells plainly kind from plainly harsh words."""
    from pytest_gnt.pipeline.attitudes import Attitudes

    if not isinstance(stage, Attitudes):
        return None
    return {
        "name": attitude_model_name(gnt),
        "calibration": [
            {"lang": lang, "auc": found.auc, "zero": found.zero, "unit": found.unit, "n": found.n}
            for lang, found in sorted(stage.calibrations.items())
        ],
    }


def make_metrics(gnt: GntSession) -> list[Provider[Translation, Quality]]:
    """BLEU and chrF, the COMET models of ``--gnt-comet``, and what other plugins provide.

    Raises:
        GntError: a COMET model cannot be used, or a corpus has a target language that is no language code.
    """
    from pytest_gnt.metrics.bleu import OverlapProvider
    from pytest_gnt.runner.comet import make_comet

    metrics: list[Provider[Translation, Quality]] = [OverlapProvider()]
    names = []
    for model in make_comet(gnt):
        metrics.append(model)
        names.append(model.label)
    for provided in gnt.config.hook.pytest_gnt_metrics(config=gnt.config):
        metrics += provided.values()
        names += provided
    if names:
        names.append(f"gap{gnt.settings.comet_gap:g}")
    for data in gnt.corpora:
        gnt.corpus_parts.setdefault(data.name, {})["quality"] = ",".join([_overlap_part(data), *names])
    return metrics


def _overlap_part(data: CorpusData) -> str:
    """BLEU and chrF in a corpus' signature, for all its cases, so that a filtered run has the same."""
    from pytest_gnt.metrics.bleu import part_of_signature

    try:
        return part_of_signature(data.cases)
    except ValueError as error:
        raise GntError(f"corpus {data.name!r}: {error}; BLEU cannot choose a tokenizer for it.") from error
