"""How often the gates cry wolf, and how often they see the wolf.

Simulates pairs of runs of an mGeNTE-sized suite (4 languages, 750 Set-N and 750 Set-G cases each) with a stated noise
model, sends them through the product's own tests and decisions (`pytest_gnt.verdicts`), and prints a Markdown table.

    python benchmarks/gates.py            # 1,000 pairs for each of the three main rows, 200 for the others
    python benchmarks/gates.py --check    # also sends some pairs through `evaluate`, case by case

Noise model. Each case has a fixed nature; two runs of one system differ as follows, independently from case to case:
the verdict flips from pass to fail in 3% of all cases and back in 3% (`flip`); the system's own label flips in 1% and
back in 1%; replies lose their form in 1% (0.5% in one run only, each way); the judge gives up on 1% (likewise); 15% of
the translations are worded differently, which moves chrF by a normal deviate of 10 points and COMET by one of 3. A
regression turns further passes into failures (or into unscored cases) in one language and set.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pytest_gnt.verdicts.baseline import new_baseline
from pytest_gnt.verdicts.comparison import Comparison, Estimate, p_value, seed_for, worsening
from pytest_gnt.verdicts.decisions import Draft, decide, gate_name
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.gates import GateSettings, evaluate
from pytest_gnt.verdicts.measures import Measure, measure_named
from pytest_gnt.verdicts.results import Outcome, TestResult
from pytest_gnt.verdicts.rules import DEFAULT_RULES, GateRule
from pytest_gnt.verdicts.samples import Flips, Sample
from pytest_gnt.verdicts.statistics import mcnemar, wilson

LANGS = ("it", "es", "de", "el")
MEASURES = (
    "set-n-accuracy",
    "set-g-accuracy",
    "label-macro-f1",
    "coherence",
    "extraction-error-rate",
    "unscored-rate",
    "comet-mean",
    "chrf-mean",
)
RULES = tuple(rule for rule in DEFAULT_RULES if rule.measure in MEASURES)
ACCURACY = (0.6, 0.85)  # Set-N, Set-G
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the table.

    ``hit``: how many points one set of Italian loses, by failures or as unscored cases. ``masked``: share of cases that
    the baseline's judge gave up on, beyond the noise, and the run's did not.
    """

    title: str
    n: int = 750
    flip: float = 0.03
    hit: float = 0.0
    subset: int = 0
    unscored: bool = False
    masked: float = 0.0
    runs: int = 200


SCENARIOS = (
    Scenario("no change", runs=1000),
    Scenario("Set-N of one language falls by 5 points", hit=0.05, runs=1000),
    Scenario("Set-G of one language falls by 5 points", hit=0.05, subset=1, runs=1000),
    Scenario("Set-N falls by 5 points, as unscored cases", hit=0.05, unscored=True),
    Scenario("Set-N falls by 5 points, 5% of the baseline was unscored", hit=0.05, masked=0.05),
    Scenario("Set-N falls by 3 points", hit=0.03),
    Scenario("Set-N falls by 4 points", hit=0.04),
    Scenario("Set-N falls by 7 points", hit=0.07),
    Scenario("no change, noisier system", flip=0.06),
    Scenario("Set-N falls by 5 points, noisier system", hit=0.05, flip=0.06),
    Scenario("Set-N falls by 5 points, quieter system", hit=0.05, flip=0.01),
    Scenario("no change, small sets", n=100),
    Scenario("Set-N falls by 10 points, small sets", n=100, hit=0.1),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One side of one language: 2n cases, Set-N first."""

    passed: Bools
    said_neutral: Bools
    form: Bools
    judged: Bools
    comet: Floats
    chrf: Floats

    @property
    def decided(self) -> Bools:
        return self.form & self.judged


def flipped(rng: np.random.Generator, share: Floats, each_way: float) -> tuple[Bools, Bools]:
    """Two runs of a yes/no property with the given share of yes; each way, this share of all cases flips."""
    size = len(share)
    draw = rng.random(size)
    down, up = draw < each_way, (draw >= each_way) & (draw < 2 * each_way)
    both = rng.random(size) < (share - each_way) / (1 - 2 * each_way)
    return down | (both & ~up), up | (both & ~down)


def two_runs(rng: np.random.Generator, scenario: Scenario, hit: bool) -> tuple[Run, Run]:
    """Baseline and candidate of one language."""
    n = scenario.n
    size = 2 * n
    level = np.repeat(ACCURACY, n)
    passed = flipped(rng, level, scenario.flip)
    right = flipped(rng, np.full(size, 0.9), 0.01)
    form = flipped(rng, np.full(size, 0.99), 0.005)
    judged = flipped(rng, np.full(size, 0.99), 0.005)
    expects_neutral = np.arange(size) < n
    reworded = rng.random(size) < 0.15
    nature = rng.normal(size=size)
    runs = [
        Run(
            passed[side],
            right[side] == expects_neutral,
            form[side],
            judged[side],
            np.round(80 + 6 * nature + reworded * rng.normal(0, 3 / np.sqrt(2), size), 4),
            np.round(55 + 15 * nature + reworded * rng.normal(0, 10 / np.sqrt(2), size), 4),
        )
        for side in (0, 1)
    ]
    if hit:
        # In expectation the pass rate falls by `hit`: that share of all cases, drawn from the passes.
        members = np.arange(size) // n == scenario.subset
        struck = members & passed[1] & (rng.random(size) < scenario.hit / ACCURACY[scenario.subset])
        (runs[1].judged if scenario.unscored else runs[1].passed)[struck] = False
        runs[0].judged[members & (rng.random(size) < scenario.masked)] = False
    return runs[0], runs[1]


def rate_sample(values: tuple[Bools, Bools], there: tuple[Bools, Bools], better: str) -> Sample:
    """The sample of a rate, each case a group of its own."""
    good = values if better == "higher" else (~values[0], ~values[1])
    both = there[0] & there[1]
    lost, back = there[0] & ~there[1], ~there[0] & there[1]
    flips = Flips(
        worse=int(np.sum(both & good[0] & ~good[1])),
        better=int(np.sum(both & ~good[0] & good[1])),
        lost=int(np.sum(lost & good[0])),
        recovered=int(np.sum(back & good[1])),
    )
    return Sample(
        **rows(tuple(value[:, None].astype(float) for value in values), there),
        **counts(there),
        same=False,
        flips=flips,
    )


def rows(values: tuple[Floats, ...], there: tuple[Bools, Bools]) -> dict[str, Floats]:
    """Sums a case, with a count of 1 beside single values."""
    full = [np.hstack([value, np.ones((len(value), 1))]) if value.shape[1] == 1 else value for value in values]
    both = there[0] & there[1]
    return {"now": full[1][there[1]], "before": full[0][both], "after": full[1][both]}


def counts(there: tuple[Bools, Bools]) -> dict[str, int]:
    n = int(np.sum(there[1]))
    return {
        "n": n,
        "unscored": len(there[1]) - n,
        "had": int(np.sum(there[0])),
        "compared": int(np.sum(there[0] & there[1])),
        "lost": int(np.sum(there[0] & ~there[1])),
        "recovered": int(np.sum(~there[0] & there[1])),
    }


def language_samples(before: Run, after: Run) -> Iterator[tuple[str, Sample]]:
    """Every measure's sample in one language, from arrays."""
    size = len(before.passed)
    pair = (before, after)
    halves = (slice(0, size // 2), slice(size // 2, size))
    for name, half in zip(MEASURES[:2], halves, strict=True):
        yield (
            name,
            rate_sample(
                (before.passed[half], after.passed[half]), (before.decided[half], after.decided[half]), "higher"
            ),
        )
    form = (before.form, after.form)
    expects_neutral = np.arange(size) < size // 2
    confusion = tuple(np.eye(4)[2 * ~expects_neutral + ~run.said_neutral] for run in pair)
    yield "label-macro-f1", Sample(**rows(confusion, form), **counts(form))
    judged_neutral = [np.where(expects_neutral, run.passed, False) for run in pair]
    coherent = tuple(run.said_neutral == judged for run, judged in zip(pair, judged_neutral, strict=True))
    yield "coherence", rate_sample(coherent, (before.decided, after.decided), "higher")
    always = (np.ones(size, bool), np.ones(size, bool))
    yield "extraction-error-rate", rate_sample((~before.form, ~after.form), always, "lower")
    yield "unscored-rate", rate_sample((~before.decided, ~after.decided), always, "lower")
    for name, scores in (("comet-mean", (before.comet, after.comet)), ("chrf-mean", (before.chrf, after.chrf))):
        yield name, Sample(**rows(tuple(score[:, None] for score in scores), form), **counts(form))


def draft(rule: GateRule, measure: Measure, lang: str, sample: Sample) -> Draft:
    """A gate with what its verdict needs; intervals, which only people need, are left out."""
    before, after = (float(measure.value(side.sum(axis=0))) for side in (sample.before, sample.after))
    seed = seed_for(gate_name("mgente", (("lang", lang),), measure.name), 0)
    return Draft(
        corpus="mgente",
        stratum=(("lang", lang),),
        measure=measure,
        rule=rule,
        sample=sample,
        estimate=Estimate(float(measure.value(sample.now.sum(axis=0)))),
        comparison=Comparison(
            before=before,
            after=after,
            delta=after - before,
            interval=None,
            error=None,
            worsening=worsening(measure, sample, after - before),
            p=p_value(measure, sample, seed),
            p_common=mcnemar(sample.flips.worse, sample.flips.better) if measure.kind == "rate" else None,
        ),
    )


def red_gates(runs: dict[str, tuple[Run, Run]]) -> set[str]:
    """Names of the gates that make the run red."""
    measures = {name: measure_named(name) for name in MEASURES}
    rules = {rule.measure: rule for rule in RULES}
    drafts = [
        draft(rules[name], measures[name], lang, sample)
        for lang, (before, after) in runs.items()
        for name, sample in language_samples(before, after)
    ]
    return {gate.name for gate in decide(drafts) if gate.red}


def entries(lang: str, run: Run) -> Iterator[Entry]:
    """The same run as the product has it: one entry a case."""
    n = len(run.passed) // 2
    for place in range(2 * n):
        neutral = place < n
        passed, form, decided = bool(run.passed[place]), bool(run.form[place]), bool(run.decided[place])
        label = ("NEUTRAL" if passed else "WRONGLY GENDERED") if neutral else "CORRECTLY GENDERED"
        judged = label if neutral or passed else "WRONGLY GENDERED"
        outcome = Outcome.UNSCORED if not decided else Outcome.PASSED if passed else Outcome.FAILED
        why = {} if decided else {"judgement": "invalid-verdict"} if form else {"translation": "no-form"}
        key = f"mgente/en-{lang}/{place:05}"
        yield Entry(
            id=key,
            lang=lang,
            subset="Set-N" if neutral else "Set-G",
            group=key,
            source_digest="0",
            expected="NEUTRAL" if neutral else "GENDERED",
            tests={"test_form": TestResult(outcome, None if decided else next(iter(why.values())))},
            text=f"{place}" if form else None,
            label=("NEUTRAL" if run.said_neutral[place] else "GENDERED") if form else None,
            judged=judged if decided else None,
            scores={"comet": float(run.comet[place]), "chrf": float(run.chrf[place])} if form else {},
            why=why,
        )


def red_gates_case_by_case(runs: dict[str, tuple[Run, Run]]) -> set[str]:
    """`red_gates` through the product's front door."""
    stored = [entry for lang, (before, _) in runs.items() for entry in entries(lang, before)]
    current = [entry for lang, (_, after) in runs.items() for entry in entries(lang, after)]
    baseline = new_baseline("simulated", "mgente", "gnt:0", "0", stored)
    gates = evaluate(current, {"mgente": baseline}, GateSettings(resamples=100))
    return {gate.name for gate in gates if gate.red}


def simulate(scenario: Scenario, seed: int) -> Iterator[dict[str, tuple[Run, Run]]]:
    rng = np.random.default_rng(seed)
    for _ in range(scenario.runs):
        yield {lang: two_runs(rng, scenario, scenario.hit > 0 and lang == "it") for lang in LANGS}


def table_row(scenario: Scenario, seed: int) -> str:
    """Simulate one scenario: how often the run is red, and how often by the gate that ought to be."""
    target = gate_name("mgente", (("lang", "it"),), MEASURES[scenario.subset])
    red = [red_gates(runs) for runs in simulate(scenario, seed)]
    share, hits = sum(map(bool, red)), sum(target in gates for gates in red)
    wrong = sum(any("[it]" not in name for name in gates) for gates in red) if scenario.hit else share
    interval = wilson(share, scenario.runs)
    bounds = f"{100 * interval.low:.1f}–{100 * interval.high:.1f}%" if interval else "–"
    cells = (
        scenario.title,
        f"{scenario.n}",
        f"{100 * scenario.flip:.0f}%",
        f"{scenario.runs}",
        f"{100 * share / scenario.runs:.1f}% ({bounds})",
        f"{100 * hits / scenario.runs:.1f}%" if scenario.hit else "",
        f"{100 * wrong / scenario.runs:.1f}%",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="False alarms and power of the release gates, by simulation.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, help="pairs of runs for every row")
    parser.add_argument("--check", action="store_true", help="compare with the product's case-by-case path")
    options = parser.parse_args()
    started = time.process_time()
    print("| scenario | n a set | flips each way | pairs | red run (95%) | by the right gate | by another language |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for place, scenario in enumerate(SCENARIOS):
        if options.runs:
            scenario = replace(scenario, runs=options.runs)
        print(table_row(scenario, options.seed + place), flush=True)
    if options.check:
        for runs in simulate(Scenario("check", hit=0.05, runs=10), options.seed):
            if red_gates(runs) != red_gates_case_by_case(runs):
                raise SystemExit("the simulation and the product disagree")
        print("\n10 pairs gave the same red gates case by case.")
    print(f"\n{time.process_time() - started:.0f} s of processor time, numpy {np.__version__}, seed {options.seed}")


if __name__ == "__main__":
    main()
