"""Whether a translation is in the language that was asked for.

Two looks, the cheap one first: the script of the letters, then py3langid's identifier (its model is part of its
package). A verdict is given only on enough text, and only where the target and its close relatives together are
improbable. On 17,000 real translations (it, es, de, zh; WinoMT, GENDEROUS, mGeNTE and AmbGIMT references) these bounds
raise no false alarm; of sentences in another language than asked for they find 99 %.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_gnt.prompts.languages import (
    NAMES,
    SISTERS,
    base_code,
    count_letters,
    is_unspaced,
    language_name,
    letters_by_script,
    scripts_of,
)

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

MIN_LETTERS = 20
"""Fewer letters than this are not judged by the identifier: names and exclamations look like any language."""

MIN_WORDS = 3
"""Words that begin with a small letter: a string of names is in no language."""

MAX_PROBABILITY = 0.05
"""The text is in another language when target and close relatives together are not more probable than this, and"""

MIN_PROBABILITY = 0.5
"""when the best of the others is at least as probable as this."""

_MIN_SCRIPT_LETTERS = 8
_MIN_SCRIPT_SHARE = 0.5
_MIN_FOREIGN_WORDS = 2
_LATIN_PER_HAN = 4
"""Letters of Latin script that count as one Han character: a word of English is about one or two of Chinese."""

_LATIN_NAME = re.compile(r"(?<![^\W\d_])[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ž'’-]*")
_CANDIDATES = frozenset(NAMES)
_loading = threading.Lock()


def language_problem(text: str, lang: str, source_lang: str = "en") -> str:
    """One sentence why the text is not in ``lang``, or an empty string where nothing speaks against it."""
    target = base_code(lang)
    if target == base_code(source_lang):
        return ""
    return _script_problem(text, target) or _identified_problem(text, target)


def forget() -> None:
    """Give the identifier's memory back (130 MB); the next text that needs it loads it again."""
    for cached in (_identifier_for, _load):
        cached.cache_clear()


def _script_problem(text: str, target: str) -> str:
    wanted = scripts_of(target)
    # The common case first: at least half of all characters, and so of all letters, are of the script.
    usual = sum(count_letters(text, script) for script in wanted)
    if usual and 2 * usual >= len(text) - text.count(" ") and not (target == "zh" and count_letters(text, "kana")):
        return ""
    named = letters_by_script(text)
    if not any(name in named for name in wanted) and _small_latin_words(text) >= _MIN_FOREIGN_WORDS:
        return f"no letter is in the script of {language_name(target)}"
    counts = named if "latin" in wanted else letters_by_script(_without_latin_names(text))
    if is_unspaced(target):
        counts = {name: count if name != "latin" else -(-count // _LATIN_PER_HAN) for name, count in counts.items()}
    total = sum(counts.values())
    inside = sum(counts.get(name, 0) for name in wanted)
    if target == "zh" and counts.get("kana", 0) >= max(3, total // 20):
        return "the text holds Japanese syllables, asked for was Chinese"
    if total < (_MIN_SCRIPT_LETTERS // 2 if is_unspaced(target) else _MIN_SCRIPT_LETTERS):
        return ""
    if inside >= total * _MIN_SCRIPT_SHARE:
        return ""
    found = max(counts, key=lambda name: counts[name])
    return f"{inside} of {total} letters are in the script of {language_name(target)}, most are {found}"


def _small_latin_words(text: str) -> int:
    return sum(word[0].islower() and count_letters(word[0], "latin") for word in text.split())


def _without_latin_names(text: str) -> str:
    """Names keep their Latin letters in every script, so words with a capital are not held against a text."""
    if text.isupper():
        return text
    return _LATIN_NAME.sub(" ", text)


def _identified_problem(text: str, target: str) -> str:
    if is_unspaced(target) or sum(word[0].islower() for word in text.split()) < MIN_WORDS:
        return ""
    if sum(count_letters(text, script) for script in scripts_of(target)) < MIN_LETTERS:
        return ""
    identifier = _identifier_for(target)
    if identifier is None:
        return ""
    found, probability = identifier.classify(text)
    accepted = _accepted_for(target)
    if found in accepted or probability < MIN_PROBABILITY:
        return ""
    if sum(share for lang, share in identifier.rank(text) if lang in accepted) > MAX_PROBABILITY:
        return ""
    return f"the text is {language_name(found)} (probability {probability:.2f}), asked for was {language_name(target)}"


@lru_cache(maxsize=64)
def _accepted_for(target: str) -> frozenset[str]:
    return frozenset({target}).union(*(sisters for sisters in SISTERS if target in sisters))


@lru_cache(maxsize=32)
def _identifier_for(target: str) -> LanguageIdentifier | None:
    """An identifier for the usual languages and the target; None where it does not know the target."""
    whole = _whole_model()
    if target not in whole.labels:
        return None
    from py3langid.langid import LanguageIdentifier

    # The arrays are shared, so a further target costs no memory worth speaking of.
    narrowed = LanguageIdentifier(
        whole.nb_ptc, whole.nb_pc, whole.nb_classes, whole.tk_nextmove, whole.tk_output, True, tk_row=whole.tk_row
    )
    narrowed.set_languages(sorted((_CANDIDATES | {target}) & set(whole.labels)))
    return narrowed


def _whole_model() -> Any:
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
