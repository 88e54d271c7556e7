"""What the prompts and the reply reader know of languages: names, scripts, and which ones are hard to tell apart."""

from __future__ import annotations

import re
from functools import lru_cache

NAMES: dict[str, str] = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fi": "Finnish",
    "fr": "French",
    "gl": "Galician",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sr": "Serbian",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}

SISTERS: tuple[frozenset[str], ...] = (
    frozenset({"da", "no", "nn", "sv"}),
    frozenset({"cs", "sk"}),
    frozenset({"hr", "sr", "bs", "sl"}),
    frozenset({"es", "gl", "pt", "ca"}),
    frozenset({"id", "ms"}),
    frozenset({"ru", "uk", "bg", "be", "mk"}),
)
"""Languages that an identifier confuses on one short sentence: within a set no verdict is given."""

_LETTERS = {
    "latin": "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "cyrillic": "\u0400-\u052f",
    "han": "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f",
    "kana": "\u3041-\u3096\u30a1-\u30fa\u30fc",
    "hangul": "\uac00-\ud7a3\u1100-\u11ff",
    "arabic": "\u0620-\u064a\u066e-\u06d3",
    "hebrew": "\u05d0-\u05ea",
    "devanagari": "\u0904-\u0939\u0958-\u0961",
}
_PATTERNS = {name: re.compile(f"[{letters}]") for name, letters in _LETTERS.items()}

_SCRIPTS: dict[str, tuple[str, ...]] = {
    "ar": ("arabic",),
    "bg": ("cyrillic",),
    "el": ("greek",),
    "he": ("hebrew",),
    "hi": ("devanagari",),
    "ja": ("kana", "han"),
    "ko": ("hangul", "han"),
    "ru": ("cyrillic",),
    "sr": ("cyrillic", "latin"),
    "uk": ("cyrillic",),
    "zh": ("han",),
}


@lru_cache(maxsize=256)
def base_code(lang: str) -> str:
    """The language of a code without region and script: ``zh`` for ``zh-Hans``, ``pt`` for ``pt_BR``."""
    return re.split(r"[-_]", lang, maxsplit=1)[0].lower()


def language_name(lang: str) -> str:
    """English name of a language for prompts; an unknown code is named as such."""
    return NAMES.get(base_code(lang), f"the language with the code {lang}")


def scripts_of(lang: str) -> tuple[str, ...]:
    """The scripts that a language is written in; ``latin`` for every language not listed."""
    return _SCRIPTS.get(base_code(lang), ("latin",))


def count_letters(text: str, script: str) -> int:
    """How many letters of a script a text holds."""
    return len(_PATTERNS[script].findall(text))


def letters_by_script(text: str) -> dict[str, int]:
    """Letters of each known script; scripts that do not occur are left out."""
    if text.isascii():
        latin = count_letters(text, "latin")
        return {"latin": latin} if latin else {}
    counts = {name: len(pattern.findall(text)) for name, pattern in _PATTERNS.items()}
    return {name: count for name, count in counts.items() if count}


def is_unspaced(lang: str) -> bool:
    """Whether a language is written without blanks between words."""
    return base_code(lang) in {"zh", "ja", "th"}
