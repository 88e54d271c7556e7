"""Words that are never the translation of an attitude word: articles, particles, prepositions and their like."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pytest_gnt.metrics.alignment.folding import fold
from pytest_gnt.metrics.alignment.tokens import base_lang


def function_words(lang: str) -> frozenset[str]:
    """The folded function words of a language; none where the product has no list (``data/function_words.toml``)."""
    return _read()[1].get(base_lang(lang), frozenset())


def digest() -> str:
    """Hash of the lists, 8 hex digits, for signatures."""
    return _read()[0]


@cache
def _read() -> tuple[str, Mapping[str, frozenset[str]]]:
    content = files("pytest_gnt.metrics").joinpath("data", "function_words.toml").read_bytes()
    lists = tomllib.loads(content.decode("utf-8"))
    words = {lang: frozenset(fold(word) for word in text.split()) for lang, text in lists.items()}
    return hashlib.sha256(content).hexdigest()[:8], words
