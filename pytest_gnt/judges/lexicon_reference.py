"""Evidence from the gendered reference: its gendered words (mGeNTE, column G-WORDS) where the translation has them."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_gnt.evidence import PhraseGender
from pytest_gnt.judges.lexicon_forms_de import look_up
from pytest_gnt.judges.lexicon_sentence import Finding, Sentence
from pytest_gnt.judges.lexicon_text import Token, tokenize, without_accents

# of words that the lexicon lacks; a doubtful ending (-e, -ες) is masculine, as the references of Set-N mostly are
_FEMININE_ENDINGS = {
    "it": ("a", "trici", "trice", "iste", "ghe", "che", "ate", "ite", "ute", "esse"),
    "es": ("a", "as"),
    "de": ("in", "innen", "frau", "frauen"),
    "el": ("η", "ή", "α", "ά", "τριες", "ισσες", "μένες", "ίδες"),
}
_CLOSED = ("det", "art", "pron", "func", "we", "stop")


def reference_evidence(sentence: Sentence, words: Iterable[str], stated: PhraseGender | None) -> None:
    """Add or settle phrases whose words are gendered words of the reference.

    A word of a closed class is evidence only as part of a longer entry (``agli interpreti``), a fixed-gender noun and
    what agrees with it never, an adjective only where no other noun stands before it.
    """
    for entry in words:
        wanted = [token.low for token in tokenize(entry) if token.is_word]
        if not wanted or (len(wanted) == 1 and _is_closed(sentence, wanted[0])):
            continue
        for start in _places(sentence.tokens, wanted):
            _settle(sentence, start, start + len(wanted) - 1, stated)


def _is_closed(sentence: Sentence, word: str) -> bool:
    return any(sentence.lexicon.has(kind, word) for kind in _CLOSED)


def _places(tokens: tuple[Token, ...], wanted: list[str]) -> Iterable[int]:
    size = len(wanted)
    for start in range(len(tokens) - size + 1):
        if all(tokens[start + offset].low == word for offset, word in enumerate(wanted)):
            yield start


def _settle(sentence: Sentence, start: int, end: int, stated: PhraseGender | None) -> None:
    owner = sentence.owner[end]
    gender = stated or _form_gender(sentence, end)
    note = f"“{sentence.low(end)}” is a gendered word of the reference"
    if owner is not None:
        if owner.gender == "N" and not owner.fixed and owner.lemma and start < end:
            sentence.decide(owner, gender, note)
    elif start < end or _may_stand(sentence, end):
        sentence.add(Finding(start, end, gender, "", note))


def _may_stand(sentence: Sentence, index: int) -> bool:
    if not _adjective_like(sentence, index):
        return True
    if not sentence.is_word(index - 1):
        return True
    before = sentence.owner[index - 1]
    if before is not None:
        return not before.fixed
    subject = sentence.subject_before(index)
    if subject is not None and subject.fixed == _form_gender(sentence, index):
        return False
    return any(sentence.lexicon.has(kind, sentence.low(index - 1)) for kind in ("cop", "perf", "adv", "func", "pron"))


def _adjective_like(sentence: Sentence, index: int) -> bool:
    lexicon, token = sentence.lexicon, sentence.tokens[index]
    if lexicon.lang == "de":
        return not token.capital
    key = without_accents(token.text) if lexicon.lang == "el" else token.low
    noun = any("head" not in entry.flags for entry in lexicon.forms.get(key, ()))
    return not noun


def _form_gender(sentence: Sentence, index: int) -> PhraseGender:
    lexicon, token = sentence.lexicon, sentence.tokens[index]
    if lexicon.lang == "de":
        entries = look_up(lexicon, token.text)
    else:
        entries = lexicon.forms.get(without_accents(token.text) if lexicon.lang == "el" else token.low, ())
    genders = {entry.gender for entry in entries if entry.role == "noun"}
    if len(genders) == 1:
        return "M" if genders == {"M"} else "F"
    return "F" if token.low.endswith(_FEMININE_ENDINGS[lexicon.lang]) else "M"
