"""Numbers of gates and diffs as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_gnt.verdicts.comparison import Comparison
from pytest_gnt.verdicts.measures import Measure
from pytest_gnt.verdicts.samples import Sample
from pytest_gnt.verdicts.words import Segment

if TYPE_CHECKING:
    from pytest_gnt.verdicts.diff import Flip

NONE = "–"
MARKS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


def value_text(value: float | None, unit: str) -> str:
    """A value in its unit: shares as percent with one decimal, nats with three, others with two."""
    if value is None:
        return NONE
    if unit == "share":
        return f"{100 * value:.1f}%"
    return f"{value:.2f}%" if unit == "percent" else f"{value:.3f}" if unit == "nats" else f"{value:.2f}"


def delta_text(delta: float | None, unit: str) -> str:
    """A change with its sign: of shares in percentage points."""
    if delta is None:
        return NONE
    if unit == "share":
        return f"{100 * delta:+.1f}"
    return f"{delta:+.3f}" if unit == "nats" else f"{delta:+.2f}"


def p_text(p: float | None) -> str:
    """A p-value with its sign: ``= 0.012``, ``< 0.0001``."""
    if p is None:
        return NONE
    return "< 0.0001" if p < 0.0001 else f"= {p:.2g}"


def change_text(measure: Measure, found: Comparison, sample: Sample, p_holm: float | None) -> str:
    """What changed, on how many cases, and how sure that is."""
    unit = measure.unit
    text = (
        f"{value_text(found.before, unit)} → {value_text(found.after, unit)} ({delta_text(found.delta, unit)}) on "
        f"{sample.compared} cases"
    )
    if sample.lost or sample.recovered:
        text += f", {sample.lost} lost their value ({sample.gone} gone), {sample.recovered} gained one"
    return text if p_holm is None else f"{text}, p {p_text(p_holm)} after Holm"


def visible(text: str) -> str:
    """Text of a model or a file with every character that could act on a terminal or reorder a line made visible."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def marked(segments: Iterable[Segment]) -> str:
    """A word diff in plain text: ``[-removed-]``, ``{+added+}``."""
    return "".join(MARKS[segment.op].format(visible(segment.text)) for segment in segments)


def phrases_text(phrases: Iterable[Mapping[str, Any]]) -> str:
    """A judge's phrases: ``F la direttrice (wrong)``."""
    return ", ".join(
        f"{visible(str(phrase.get('gender', '?')))} {visible(str(phrase.get('text', '')))}"
        + {True: "", False: " (wrong)"}.get(phrase.get("correct", True), "")
        for phrase in phrases
    )


def scores_text(scores: Mapping[str, float]) -> str:
    """Changes of scores: ``comet -12.30, attitude -0.412``."""
    return ", ".join(
        f"{name} {delta_text(change, 'nats' if name == 'attitude' else 'points')}" for name, change in scores.items()
    )


def verdict_text(flip: Flip) -> str:
    """What the judge said before and after, or why there is no verdict."""
    after = flip.judged_after or (f"unscored: {flip.reason}" if flip.reason else NONE)
    return f"{visible(flip.judged_before or NONE)} → {visible(after)}"
