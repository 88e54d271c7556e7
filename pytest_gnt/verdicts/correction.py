"""What a rate would be with a judge that makes no mistakes, as far as its measured mistakes tell.

Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test", American Journal of Epidemiology
107(1), 71–76: with the judged share p, the judge's sensitivity Se (share of true ones judged so) and specificity Sp
(share of others judged otherwise), the true share is

    π = (p + Sp − 1) / (Se + Sp − 1)

cut off at 0 and 1. Se and Sp are estimated on gold labels, p on the run, so both samples add to the uncertainty. The
interval is a parametric bootstrap: p, Se and Sp are drawn from Beta(successes + ½, failures + ½) independently, and the
2.5th and 97.5th percentile of π are its ends. The halves (Jeffreys) keep a judge that made no mistake on a few gold
labels from counting as one that never errs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DRAWS = 10_000
MAX_USELESS = 0.01
"""With a larger share of draws in which the judge is no better than chance, the gold labels tell too little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Successes among trials."""

    successes: int
    trials: int

    @property
    def share(self) -> float:
        return self.successes / self.trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A corrected share with its 95% interval; all None, and ``why`` set, where there is none."""

    rate: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


def true_share(observed: float, sensitivity: float, specificity: float) -> float | None:
    """Rogan and Gladen's estimate, cut off at 0 and 1; None where the judge is no better than chance."""
    informedness = sensitivity + specificity - 1
    if informedness <= 0:
        return None
    return min(1.0, max(0.0, (observed + specificity - 1) / informedness))


def correct(run: Counted, sensitivity: Counted, specificity: Counted, *, seed: int = 0) -> Corrected:
    """A run's share, corrected by a judge's error rates.

    Args:
        run: cases judged to be so, among the decided ones.
        sensitivity: gold ones that were judged so.
        specificity: gold others that were judged otherwise.
        seed: of the bootstrap.
    """
    if not (run.trials and sensitivity.trials and specificity.trials):
        return Corrected(why="there are no cases to correct, or no gold labels of both kinds")
    rate = true_share(run.share, sensitivity.share, specificity.share)
    if rate is None:
        return Corrected(why="on the gold labels the judge is no better than chance")
    generator = np.random.default_rng(seed)
    p, se, sp = (
        generator.beta(counted.successes + 0.5, counted.trials - counted.successes + 0.5, DRAWS)
        for counted in (run, sensitivity, specificity)
    )
    informedness = se + sp - 1
    useful = informedness > 0
    if useful.mean() < 1 - MAX_USELESS:
        return Corrected(why="there are too few gold labels, or the judge errs too often, to correct anything")
    drawn = np.clip((p + sp - 1)[useful] / informedness[useful], 0.0, 1.0)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Corrected(rate=rate, low=min(rate, float(low)), high=max(rate, float(high)))
