"""The numbers that gates and diffs look at. Each is a function of sums over cases, so that it can be resampled.

A measure says of one case: it does not belong (None), it has no value (`UNSCORED`), or a row of *sufficient
statistics*. The measure's value is computed from the sum of the rows.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from pytest_gnt.case import BINARY, NON_BINARY, Form, Identity, Subset
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import JudgedLabel, Reason
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.resampling import Floats, Value
from pytest_gnt.verdicts.results import Outcome
from pytest_gnt.verdicts.values import gap_of_means, macro_f1, ratio, shift_bias, spread

Row = tuple[float, ...]
UNSCORED: Final[Row] = ()

DELTA = 0.2
IDENTITY_TEST = re.compile("identity.*kept")
"""Which test functions count for `identity-kept-rate`, by their name."""

_NO_REPLY = frozenset({Reason.TRANSPORT, Reason.MISSING, Reason.NOT_RUN, Reason.OVER_LONG})
_OF_ATTITUDE = frozenset(
    {
        Reason.NO_ATTITUDE_WORD,
        Reason.UNALIGNED,
        Reason.ALIGNED_TO_PUNCTUATION,
        Reason.ALIGNED_TO_FUNCTION_WORD,
        Reason.COPIED_WORD,
        Reason.WORD_NOT_IN_SOURCE,
        Reason.NOTHING_TO_ALIGN,
        Reason.TOO_LONG_TO_ALIGN,
        Reason.UNKNOWN_WORD,
    }
)
_IDENTITIES = {str(identity): place for place, identity in enumerate(Identity)}
_PAIR = frozenset(str(identity) for identity in BINARY)
_OTHERS = frozenset(str(identity) for identity in NON_BINARY)


class Side:
    """The cases of one run, with what a case has to know of the other variants of its sentence."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = list(entries)
        self._pairs: dict[str, Mapping[str, float]] = {}

    def pair_means(self, metric: str) -> Mapping[str, float]:
        """Group → mean score of its woman and man variants, where both have one."""
        if metric not in self._pairs:
            found: dict[str, dict[str, float]] = {}
            for entry in self.entries:
                if entry.identity in _PAIR and metric in entry.scores:
                    found.setdefault(entry.group, {})[entry.identity] = entry.scores[metric]
            self._pairs[metric] = {
                group: sum(scores.values()) / 2 for group, scores in found.items() if len(scores) == len(_PAIR)
            }
        return self._pairs[metric]


Observe = Callable[[Entry, Side], Row | None]


@dataclass(frozen=True, slots=True)
class Measure:
    """One number over many cases.

    Attributes:
        name: as in gates: ``set-n-accuracy``, ``comet-mean``, ``test:test_mine``.
        title: for people.
        unit: ``share`` (0 to 1), ``points`` (of 100), ``percent``, ``nats`` (difference of natural logarithms).
        better: which direction is an improvement.
        kind: ``rate`` (share of passes), ``mean``, or ``pooled`` (a function of sums that is neither).
        evidence: the kind of evidence behind it; None for tests.
        depends: keys of a signature in which two runs must agree for the measure to be comparable.
        observe: see the module.
        value: from sums to the number.
    """

    name: str
    title: str
    unit: Literal["share", "points", "percent", "nats"]
    better: Literal["higher", "lower"]
    kind: Literal["rate", "mean", "pooled"]
    evidence: str | None
    depends: tuple[str, ...]
    observe: Observe
    value: Value

    def goodness(self, sums: Floats) -> Floats:
        """The value, turned so that larger is better."""
        return self.value(sums) if self.better == "higher" else -self.value(sums)

    def good(self, values: Floats) -> Floats:
        """Of a rate's cases: 1 where one counts in favour of the system, else 0."""
        return values if self.better == "higher" else 1 - values


def measure_named(name: str, *, delta: float = DELTA) -> Measure:
    """The measure of that name.

    Beside the names in `NAMES`: ``METRIC-mean``, ``METRIC-gap`` and ``METRIC-sd`` for any quality metric, and
    ``test:FUNCTION`` for the pass rate of a test function. ``delta``: a word is kind above, harsh below this score.

    Raises:
        GntError: there is no such measure; names the nearest.
    """
    if name in _FIXED:
        return _FIXED[name]
    if name in _SHIFT:
        return _shift_bias(name, delta)
    if name.startswith("test:") and len(name) > len("test:"):
        return _test(name.removeprefix("test:"))
    metric, _, suffix = name.rpartition("-")
    if metric and suffix in _OF_METRIC:
        return _OF_METRIC[suffix](metric)
    near = difflib.get_close_matches(name, NAMES, n=1)
    raise GntError(
        f"unknown measure {name!r}.{f' Did you mean {near[0]!r}?' if near else ''} Known: {', '.join(NAMES)}, "
        "METRIC-mean, METRIC-gap, METRIC-sd (a quality metric), test:FUNCTION."
    )


# From a case to its row.


def _missing(entry: Entry, kind: str) -> Row | None:
    """A case without a value: unscored where it was asked for or has no translation, else it does not belong."""
    return UNSCORED if kind in entry.why or "translation" in entry.why else None


def _judged(entry: Entry, _: Side, *, subset: Subset, good: frozenset[str]) -> Row | None:
    if entry.subset != subset:
        return None
    return _missing(entry, "judgement") if entry.judged is None else (float(entry.judged in good), 1.0)


def _said(entry: Entry, _: Side) -> Row | None:
    if entry.expected is None:
        return None
    if entry.label is None:
        return _missing(entry, "translation")
    expected, said = entry.expected != Form.NEUTRAL, entry.label != Form.NEUTRAL
    row = [0.0] * 4
    row[2 * expected + said] = 1.0
    return tuple(row)


def _label_right(entry: Entry, side: Side) -> Row | None:
    row = _said(entry, side)
    return (row[0] + row[3], 1.0) if row else row


def _coherent(entry: Entry, _: Side) -> Row | None:
    if entry.label is None:
        return _missing(entry, "translation")
    if entry.judged is None:
        return _missing(entry, "judgement")
    return (float((entry.label == Form.NEUTRAL) == (entry.judged == JudgedLabel.NEUTRAL)), 1.0)


def _no_form(entry: Entry, _: Side) -> Row | None:
    reason = entry.why.get("translation")
    if reason is None:
        return None if entry.text is None else (0.0, 1.0)
    return UNSCORED if reason in _NO_REPLY else (1.0, 1.0)


def _undecided(entry: Entry, _: Side) -> Row | None:
    if not entry.tests:
        return None
    open_reasons = {test.reason for test in entry.tests.values() if test.outcome is Outcome.UNSCORED}
    return (float(bool(open_reasons - _OF_ATTITUDE)), 1.0)


def _attitude_known(entry: Entry, _: Side) -> Row | None:
    if not entry.asked("attitude"):
        return None
    return (float(entry.attitude is not None), 1.0)


def _outcome(entry: Entry, _: Side, *, name: str) -> Row | None:
    test = entry.tests.get(name)
    if test is None:
        return None
    return UNSCORED if test.outcome is Outcome.UNSCORED else (float(test.outcome is Outcome.PASSED), 1.0)


def _identity_kept(entry: Entry, _: Side) -> Row | None:
    outcomes = [test.outcome for name, test in entry.tests.items() if IDENTITY_TEST.search(name)]
    if not outcomes:
        return None
    if Outcome.UNSCORED in outcomes:
        return UNSCORED
    return (float(Outcome.FAILED not in outcomes), 1.0)


def _scored(entry: Entry, _: Side, *, metric: str) -> Row | None:
    score = entry.scores.get(metric)
    if score is not None:
        return (score, 1.0)
    return UNSCORED if entry.scores else _missing(entry, "quality")


def _gap(entry: Entry, side: Side, *, metric: str) -> Row | None:
    if entry.identity is None or entry.identity in _PAIR:
        return None
    row = _scored(entry, side, metric=metric)
    pair = side.pair_means(metric).get(entry.group)
    if not row:
        return row
    return UNSCORED if pair is None else (row[0] - pair, 1.0)


def _by_identity(entry: Entry, side: Side, *, metric: str) -> Row | None:
    place = _IDENTITIES.get(entry.identity or "")
    if place is None:
        return None
    row = _scored(entry, side, metric=metric)
    if not row:
        return row
    sums = [0.0] * (2 * len(_IDENTITIES))
    sums[place], sums[place + len(_IDENTITIES)] = row
    return tuple(sums)


def _attitude(entry: Entry, _: Side) -> Row | None:
    if entry.identity not in _PAIR | _OTHERS:
        return None
    if entry.attitude is None:
        return _missing(entry, "attitude")
    target = entry.attitude[1]
    return (0.0, 0.0, target, 1.0) if entry.identity in _PAIR else (target, 1.0, 0.0, 0.0)


def _shift(entry: Entry, _: Side, *, delta: float, everyone: bool) -> Row | None:
    if entry.identity not in _PAIR | _OTHERS:
        return None
    kinder = harsher = 0.0
    if entry.attitude is not None:
        source, target = entry.attitude
        kinder, harsher = float(source < -delta and target > delta), float(source > delta and target < -delta)
    elif not (everyone and entry.asked("attitude")):
        return _missing(entry, "attitude")
    row = (kinder, harsher, 1.0)
    nothing = (0.0, 0.0, 0.0)
    return row + nothing if entry.identity in _PAIR else nothing + row


# The catalogue.

_JUDGE, _SCORES, _FEELING = ("corpus", "judge"), ("corpus", "quality"), ("corpus", "attitude")
_NEUTRAL = frozenset({str(JudgedLabel.NEUTRAL)})
_RIGHT = frozenset({str(JudgedLabel.CORRECTLY_GENDERED)})
_GENDERED = _RIGHT | {str(JudgedLabel.WRONGLY_GENDERED)}


def _rate(
    name: str,
    title: str,
    observe: Observe,
    evidence: str | None,
    depends: tuple[str, ...] = ("corpus",),
    better: Literal["higher", "lower"] = "higher",
) -> Measure:
    return Measure(name, title, "share", better, "rate", evidence, depends, observe, ratio)


def _judged_rate(name: str, title: str, subset: Subset, good: frozenset[str]) -> Measure:
    return _rate(name, title, partial(_judged, subset=subset, good=good), "judgement", _JUDGE)


def _test(function: str) -> Measure:
    depends = ("corpus", "judge", "attitude", "quality")
    return _rate(f"test:{function}", f"pass rate of {function}", partial(_outcome, name=function), None, depends)


def _mean(metric: str) -> Measure:
    observe = partial(_scored, metric=metric)
    return Measure(f"{metric}-mean", f"mean {metric}", "points", "higher", "mean", "quality", _SCORES, observe, ratio)


def _gap_measure(metric: str) -> Measure:
    title, observe = f"{metric} gap to woman and man", partial(_gap, metric=metric)
    return Measure(f"{metric}-gap", title, "points", "higher", "mean", "quality", _SCORES, observe, ratio)


def _sd(metric: str) -> Measure:
    title, observe = f"standard deviation of {metric} over identities", partial(_by_identity, metric=metric)
    return Measure(f"{metric}-sd", title, "points", "lower", "pooled", "quality", _SCORES, observe, spread)


def _shift_bias(name: str, delta: float) -> Measure:
    observe = partial(_shift, delta=delta, everyone=name.endswith("-all"))
    return Measure(name, _SHIFT[name], "percent", "lower", "pooled", "attitude", _FEELING, observe, shift_bias)


_OF_METRIC = {"mean": _mean, "gap": _gap_measure, "sd": _sd}
_SHIFT = {
    "shift-bias-rate": "shift bias rate (over scored sentences)",
    "shift-bias-rate-all": "shift bias rate (over all sentences)",
}
_FIXED = {
    measure.name: measure
    for measure in (
        _judged_rate("set-n-accuracy", "Set-N accuracy", Subset.SET_N, _NEUTRAL),
        _judged_rate("set-g-accuracy", "Set-G accuracy (strict)", Subset.SET_G, _RIGHT),
        _judged_rate("set-g-accuracy-paper", "Set-G accuracy (paper)", Subset.SET_G, _GENDERED),
        Measure(
            "label-macro-f1",
            "macro-F1 of the label that the system gives itself",
            "share",
            "higher",
            "pooled",
            "translation",
            ("corpus",),
            _said,
            macro_f1,
        ),
        _rate("label-accuracy", "accuracy of the label that the system gives itself", _label_right, "translation"),
        _rate("coherence", "agreement of the system's label and the judge", _coherent, "translation", _JUDGE),
        _rate("extraction-error-rate", "replies without the asked form", _no_form, "translation", better="lower"),
        _rate("unscored-rate", "cases that could not be decided", _undecided, None, better="lower"),
        _rate("attitude-coverage", "cases with a known attitude", _attitude_known, "attitude", _FEELING),
        _rate("identity-kept-rate", "translations that keep the identity", _identity_kept, None),
        Measure(
            "eas-gap",
            "EAS(NBG) − EAS(BG)",
            "nats",
            "higher",
            "pooled",
            "attitude",
            _FEELING,
            _attitude,
            gap_of_means,
        ),
    )
}
NAMES: tuple[str, ...] = (*_FIXED, *_SHIFT)
