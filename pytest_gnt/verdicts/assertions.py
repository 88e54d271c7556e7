"""Assertions on the evidence of one case. A failure shows what a person needs to see why: source, translation, the
phrases that decided it, the reference. Missing evidence is unscored, never a pass and never a failure."""

from __future__ import annotations

from typing import NoReturn

from pytest_gnt.case import Case, Form, Gender
from pytest_gnt.evidence import Attitude, Evidence, JudgedLabel, Judgement, Pair, Phrase, Quality, Reason, Translation


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


def assert_identity_kept(translation: Translation, attitude: Attitude | None = None) -> None:
    """The translation names the identity that the source names, by the identity terms of the target language.

    The terms decide. Attitude evidence, where it is given and an aligner linked the words of the two sentences, tells
    in the message of a failure what the term became.
    """
    require(translation)
    from pytest_gnt.corpora import identities

    case = translation.case
    if case.identity is None:
        raise Unscored(Reason.UNDECIDED, "the case is not about an identity")
    if not identities.has_terms(case.target_lang):
        raise Unscored(Reason.UNSUPPORTED_LANGUAGE, f"no identity terms for {case.target_lang}")
    named = identities.identities_named(translation.text or "", case.target_lang)
    if case.identity not in named:
        lost = f"replaced: the translation names {', '.join(named)}" if named else "dropped: the translation names none"
        fail(translation, f"the identity {case.identity} was {lost}{_linked_to(attitude)}")


def _linked_to(attitude: Attitude | None) -> str:
    """What the aligner says of the identity's term."""
    words = attitude.identity_words if attitude is not None else None
    if words is None:
        return ""
    return f"; its term is aligned to {_shown(', '.join(words)) or 'no word'}"


def assert_quality(quality: Quality, metric: str, minimum: float) -> None:
    """A quality score, in points of 100, is at least ``minimum``."""
    require(quality)
    score = quality.scores.get(metric)
    if score is None:
        raise Unscored(Reason.NO_REFERENCE, quality.detail or f"no {metric} score for this case")
    if score < minimum:
        fail(quality, f"{metric} {score:.1f} is below {minimum:g}")


COMET = ("comet", "xcomet", "cometkiwi")


def assert_comet_gap(
    quality: Quality, pair: Pair, *, metric: str | None = None, tolerance: float | None = None
) -> None:
    """The score lies at most ``tolerance`` points below the mean of the woman and the man variant of its sentence.

    The gap of one sentence whose mean over sentences AmbGIMT reports by identity.

    Args:
        quality: the scores of the case.
        pair: those of the two variants.
        metric: any quality metric; None takes the first of ``comet``, ``xcomet``, ``cometkiwi`` that the case has.
        tolerance: in points of 100; None takes the run's (``comet_gap``).
    """
    require(quality)
    name = metric or next((name for name in COMET if name in quality.scores), COMET[0])
    score = _score_for_gap(quality, name, "")
    tolerance = pair.tolerance if tolerance is None else tolerance
    sides = {"woman": pair.woman, "man": pair.man}
    scores = {side: _score_for_gap(found, name, f"the {side} variant: ") for side, found in sides.items()}
    mean = sum(scores.values()) / len(scores)
    if score < mean - tolerance:
        why = f"{name} {score:.1f} is {mean - score:.1f} below woman and man ({mean:.1f}); tolerated are {tolerance:g}"
        shown = [f"  {side:<11}  {scores[side]:.1f}  {_text_of(found)}" for side, found in sides.items()]
        fail(quality, "\n".join([why, *shown]))


def _score_for_gap(quality: Quality | None, metric: str, whose: str) -> float:
    """One score of a comparison.

    Raises:
        Unscored: there is none.
    """
    if quality is None:
        raise Unscored(Reason.MISSING, f"{whose}the corpus does not have it")
    score = quality.scores.get(metric)
    if score is not None:
        return score
    if quality.reason is not None:
        raise Unscored(quality.reason, whose + quality.detail)
    reason = Reason.UNDECIDED if quality.case.references else Reason.NO_REFERENCE
    raise Unscored(reason, f"{whose}no {metric} score{f': {quality.detail}' if quality.detail else ''}")


def _text_of(quality: Quality | None) -> str:
    return _shown((quality.translation.text if quality else None) or "")


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
