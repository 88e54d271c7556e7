"""From phrases to a verdict: which of them agree with the source, and the label that follows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_gnt.evidence import JudgedLabel, Phrase, PhraseGender, Reason
from pytest_gnt.judges.lexicon_forms import load_lexicon
from pytest_gnt.judges.lexicon_german import GermanRules
from pytest_gnt.judges.lexicon_greek import GreekRules
from pytest_gnt.judges.lexicon_predicates import RomancePredicates
from pytest_gnt.judges.lexicon_reference import reference_evidence
from pytest_gnt.judges.lexicon_romance import RomanceNouns
from pytest_gnt.judges.lexicon_sentence import Finding, Sentence
from pytest_gnt.judges.lexicon_text import without_accents

_GREEK = re.compile(r"[Ͱ-Ͽἀ-῿]")
_LATIN = re.compile(r"[A-Za-zÀ-ÿ]")
_ENOUGH_WORDS = 4
NO_PERSON = "no-person-phrase"
PAIRED = "paired-form"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the lexicon judge makes of one translation; ``label`` is None exactly when ``reason`` is set."""

    phrases: tuple[Phrase, ...] = ()
    label: JudgedLabel | None = None
    reason: Reason | None = None
    detail: str = ""
    flags: tuple[str, ...] = ()


def judge_text(
    lang: str, source: str, text: str, stated: PhraseGender | None, gendered_words: Sequence[str] = ()
) -> Verdict:
    """Judge one translation.

    Args:
        lang: ``it``, ``es``, ``de`` or ``el``.
        source: the English sentence; its gender cues decide what is correct.
        text: the translation.
        stated: the gender that the corpus states for the source, or None.
        gendered_words: gendered words of the gendered reference.
    """
    sentence = Sentence(text, source, load_lexicon(lang))
    if not _is_readable(sentence):
        detail = (
            f"The lexicon knows no word of the translation as language {lang!r}, so it cannot tell who is spoken of."
        )
        return Verdict(reason=Reason.UNDECIDED, detail=detail)
    _find(sentence, stated)
    reference_evidence(sentence, gendered_words, stated)
    findings = sentence.findings
    phrases = tuple(_phrase(sentence, finding, stated) for finding in findings)
    label = _label(phrases)
    return Verdict(phrases, label, detail=_detail(phrases, label), flags=_flags(findings))


def _find(sentence: Sentence, stated: PhraseGender | None) -> None:
    lang = sentence.lexicon.lang
    if lang == "de":
        GermanRules(sentence, stated).run()
    elif lang == "el":
        GreekRules(sentence).run()
    else:
        RomanceNouns(sentence).run()
        RomancePredicates(sentence).run()


def _is_readable(sentence: Sentence) -> bool:
    """Whether the text can be in the language at all: its script, and in a longer text at least one word of it."""
    words = [token for token in sentence.tokens if token.is_word]
    if not (_GREEK if sentence.lexicon.lang == "el" else _LATIN).search(sentence.text):
        return False
    if len(words) < _ENOUGH_WORDS:
        return True
    return any(_is_known(sentence, index) for index in range(len(sentence.tokens)))


def _is_known(sentence: Sentence, index: int) -> bool:
    lexicon, token = sentence.lexicon, sentence.tokens[index]
    if any(lexicon.has(kind, token.low) for kind in ("func", "det", "pron", "cop")):
        return True
    form = {"de": token.text, "el": without_accents(token.text)}.get(lexicon.lang, token.low)
    return form in lexicon.forms


def _phrase(sentence: Sentence, finding: Finding, stated: PhraseGender | None) -> Phrase:
    text, gender = sentence.phrase(finding), finding.gender
    if gender == "N":
        return Phrase(text, "N", True, finding.note)
    cue = sentence.cues.support(gender, finding.number)
    if stated == gender:
        return Phrase(text, gender, True, f"{finding.note}; the case states {gender}")
    if cue:
        return Phrase(text, gender, True, f"{finding.note}; the source says “{cue}”")
    against = f"the case states {stated}" if stated else "the source gives no gender"
    return Phrase(text, gender, False, f"{finding.note}; {against}")


def _label(phrases: Sequence[Phrase]) -> JudgedLabel:
    gendered = [phrase for phrase in phrases if phrase.gender != "N"]
    if not gendered:
        return JudgedLabel.NEUTRAL
    if all(phrase.correct for phrase in gendered):
        return JudgedLabel.CORRECTLY_GENDERED
    return JudgedLabel.WRONGLY_GENDERED


def _detail(phrases: Sequence[Phrase], label: JudgedLabel) -> str:
    if label is JudgedLabel.NEUTRAL:
        return f"None of {len(phrases)} phrases about people expresses a gender."
    gendered = [phrase for phrase in phrases if phrase.gender != "N"]
    wrong = sum(not phrase.correct for phrase in gendered)
    return f"{len(gendered)} of {len(phrases)} phrases about people express a gender, {wrong} against the source."


def _flags(findings: Sequence[Finding]) -> tuple[str, ...]:
    """``no-person-phrase``: nothing was seen, so NEUTRAL rests on absence; ``paired-form``: both genders are named."""
    if not findings:
        return (NO_PERSON,)
    genders: dict[str, set[str]] = {}
    for finding in findings:
        if finding.lemma and finding.gender != "N":
            genders.setdefault(finding.lemma, set()).add(finding.gender)
    return (PAIRED,) if any(len(found) > 1 for found in genders.values()) else ()
