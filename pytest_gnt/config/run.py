"""The settings of one run: the `[run]` table, overlaid by the command line."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pytest_gnt.config.models import Prompt, Shots, Table

Share = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[str, ...], Field(min_length=1)]


class RunSettings(Table):
    """One run. Every field is an option ``--gnt-…`` too, which wins over the file.

    Attributes:
        model: name of the system under test.
        judge: name of the judge of neutrality, or ``none``.
        judge_prompt_dir: the judge's prompts in the published layout; None takes the judge's own.
        attitude_model: name of the attitude model, or ``none``; None takes the model's own, else ``gemma270m``.
        aligner: name of the aligner, which finds the attitude word in the translation.
        comet: names of COMET models, separated by commas, or ``none``.
        data: folder of the public corpora; None takes the shipped, hand-written sample.
        langs, identities: keep only these.
        prompt, shots, constraint: prompt configuration of systems that are prompted.
        sample: keep about this many cases of each corpus, whole groups, stratified by language and set.
        seed: for sampling, decoding and resampling.
        delta: a word is kind above, harsh below this score (AmbGIMT, δ).
        comet_gap: how far below woman and man a COMET score may lie, in points of 100, before `assert_comet_gap` fails.
        max_unscored_rate: the run is red when a larger share of its tests could not be decided.
        max_refused_rate: the run is red when a larger share of a corpus' rows was refused.
        baseline: name or folder of the baseline to compare with, or ``none``; None takes the model's own, if any.
        baselines: folder that holds the stored baselines.
        update_baseline: store this run as the model's baseline; ``force`` even where numbers cannot be compared.
        gate: what makes a run with a baseline red: the gates (``aggregate``), each regressed case (``case``), each
            failing case (``off``). None is ``aggregate``.
        repeats: how often system and judge are run on each case; the first run is the one that is reported, the others
            tell how much results move by chance.
        max_cost: in the currency of the models' prices; the rest is unscored as not run, and another run goes on.
        report, store: where results lie; ``none`` writes no report.
        executor: where models run: in this process (``local``), or on a Ray cluster (``ray``, see the ``[ray]`` table).
        offline: no network: weights must be on this machine.
    """

    model: Name | None = None
    judge: Name = "lexicon"
    judge_prompt_dir: Name | None = None
    attitude_model: Name | None = None
    aligner: Name = "lexicon"
    comet: Name = "none"
    data: Name | None = None
    langs: Names | None = None
    identities: Names | None = None
    prompt: Prompt | None = None
    shots: Shots | None = None
    constraint: Literal["none", "moral", "lexical", "moral+lexical"] = "none"
    prompt_dir: str | None = None
    sample: Annotated[int, Field(gt=0)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    delta: Annotated[float, Field(ge=0)] = 0.2
    comet_gap: Annotated[float, Field(ge=0)] = 10.0
    max_unscored_rate: Share = 0.1
    max_refused_rate: Share = 0.1
    baseline: Name | None = None
    baselines: Name = "baselines"
    update_baseline: Literal["merge", "force"] | None = None
    gate: Literal["aggregate", "case", "off"] | None = None
    repeats: Annotated[int, Field(ge=1, le=20)] = 1
    max_cost: Annotated[float, Field(gt=0)] | None = None
    report: Name = "gnt-report"
    store: Name = ".gnt/store.sqlite"
    executor: Literal["local", "ray"] = "local"
    offline: bool = False
