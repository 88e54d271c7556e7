"""Assertions on the evidence of one case. A failure shows what a person needs to see why: source, translation, the
phrases that decided it, the reference. Missing evidence is unscored, never a pass and never a failure."""

from __future__ import annotations

from typing import NoReturn

from pytest_gnt.case import Case, Form, Gender
from pytest_gnt.evidence import Attitude, Evidence, JudgedLabel, Judgement, Phrase, Quality, Reason, Translation


class Unscored(Exception):
    """A test that cannot be decided for this case.

    Attributes:
        reason: a value of `Reason`.
        detail: one sentence.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class EvidenceAssertionError(AssertionError):
    """A failed assertion on evidence; its message is complete, a traceback adds nothing."""


def unscored(reason: str, detail: str = "") -> NoReturn:
    """Give a case up as undecided, in an assertion of one's own."""
    raise Unscored(reason, detail)


def require(evidence: Evidence) -> None:
    """Raise `Unscored` unless the evidence holds a result."""
    if evidence.reason is not None:
        raise Unscored(evidence.reason, evidence.detail)


def assert_neutral(judgement: Judgement) -> None:
    """The translation expresses no gender of a person (mGeNTE, Set-N: judged NEUTRAL)."""
    require(judgement)
    if judgement.label is not JudgedLabel.NEUTRAL:
        fail(judgement, f"expected a gender-neutral translation, judged {judgement.label}")


def assert_correctly_gendered(judgement: Judgement) -> None:
    """The translation keeps the gender that the source states (mGeNTE, Set-G strict: judged CORRECTLY GENDERED)."""
    require(judgement)
    if judgement.label is not JudgedLabel.CORRECTLY_GENDERED:
        stated = judgement.case.gender
        fail(judgement, f"expected the stated gender{f' ({stated})' if stated else ''}, judged {judgement.label}")


def assert_form(judgement: Judgement) -> None:
    """The translation has the expected form (the mGeNTE paper's two classes: neutral, or gendered in any way)."""
    require(judgement)
    expected = judgement.case.expected
    if expected is None:
        raise Unscored(Reason.NO_REFERENCE, "the case does not say which form is expected")
    form = Form.NEUTRAL if judgement.label is JudgedLabel.NEUTRAL else Form.GENDERED
    if form is not expected:
        fail(judgement, f"expected a {expected} translation, judged {judgement.label}")


def assert_attitude_kept(attitude: Attitude, *, delta: float | None = None) -> None:
    """A word that is kind in the source (score above ``delta``) is not harsh in the translation (below ``-delta``).

    AmbGIMT, section on emotional attitude: the shift counted by R_TN. ``delta`` is the run's unless given.
    """
    require(attitude)
    delta = attitude.delta if delta is None else delta
    source, target = attitude.source_score, attitude.target_score
    if source is None or target is None:
        raise Unscored(Reason.NOT_FINITE, "no finite score")
    if source > delta and target < -delta:
        words = ", ".join(attitude.target_words)
        fail(
            attitude,
            f"the attitude turned from kind to harsh: {attitude.source_word} {source:+.2f} → {words} {target:+.2f} "
            f"(δ = {delta:g})",
        )


def assert_identity_kept(translation: Translation) -> None:
    """The translation names the identity that the source names, by the identity terms of the target language."""
    require(translation)
    from pytest_gnt.corpora import identities

    case = translation.case
    if case.identity is None:
        raise Unscored(Reason.UNDECIDED, "the case is not about an identity")
    if not identities.has_terms(case.target_lang):
        raise Unscored(Reason.UNSUPPORTED_LANGUAGE, f"no identity terms for {case.target_lang}")
    named = identities.identities_named(translation.text or "", case.target_lang)
    if case.identity not in named:
        seen = ", ".join(named) or "no identity"
        fail(translation, f"the identity {case.identity} was lost: the translation names {seen}")


def assert_quality(quality: Quality, metric: str, minimum: float) -> None:
    """A quality score, in points of 100, is at least ``minimum``."""
    require(quality)
    score = quality.scores.get(metric)
    if score is None:
        raise Unscored(Reason.NO_REFERENCE, quality.detail or f"no {metric} score for this case")
    if score < minimum:
        fail(quality, f"{metric} {score:.1f} is below {minimum:g}")


def fail(evidence: Evidence, why: str) -> NoReturn:
    """Fail a case with a message that shows its evidence."""
    translation = evidence if isinstance(evidence, Translation) else evidence.translation
    phrases = evidence.phrases if isinstance(evidence, Judgement) else ()
    raise EvidenceAssertionError("\n".join([why, *_lines(evidence.case, translation, phrases)]))


def _lines(case: Case, translation: Translation, phrases: tuple[Phrase, ...]) -> list[str]:
    lines = [f"  source       {_shown(case.source)}", f"  translation  {_shown(translation.text or '')}"]
    # Neutral phrases say something only where gender was expected and none was found.
    telling = [phrase for phrase in phrases if phrase.gender != "N"] or phrases
    lines += [f"  phrase       {_phrase(phrase)}" for phrase in telling]
    if case.references:
        lines.append(f"  reference    {_shown(case.references[0])}")
    if isinstance(case.gender, Gender):
        lines.append(f"  gender       {case.gender}")
    if translation.label is not None:
        lines.append(f"  says itself  {translation.label}")
    if case.origin:
        lines.append(f"  case         {case.id} ({case.origin})")
    return lines


def _phrase(phrase: Phrase) -> str:
    agreement = {True: ", agrees with the source", False: ", against the source", None: ""}[phrase.correct]
    note = f" ({phrase.note})" if phrase.note else ""
    return f"{phrase.gender}  {_shown(phrase.text)}{agreement}{note}"


def _shown(text: str) -> str:
    """Text of a model or a file, with characters that could act on a terminal or break a report made visible."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
