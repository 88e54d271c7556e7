"""Chinese words by jieba, with a dictionary of the product's own."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import warnings
from functools import cache, lru_cache
from typing import Any

from pytest_gnt.case import Identity
from pytest_gnt.corpora.attitude_words import shipped_renderings
from pytest_gnt.corpora.identities import identity_terms
from pytest_gnt.errors import GntError
from pytest_gnt.work import digest

_PARTS = re.compile("([\\s，。！？；：、（）《》“”‘’…]+)")
"""Where jieba never sees a word go on."""

_CLAUSE = 200
"""Characters from which on a part is not remembered."""


def cut(text: str) -> list[str]:
    """The words, marks and blanks of a text; joined they are the text.

    Raises:
        GntError: jieba is not installed.
    """
    return [word for part in _PARTS.split(text) if part for word in (_clause if len(part) < _CLAUSE else _cut)(part)]


def _cut(part: str) -> tuple[str, ...]:
    return tuple(_jieba().cut(part))


@lru_cache(maxsize=8192)
def _clause(part: str) -> tuple[str, ...]:
    """The variants of a sentence differ in one clause: the others are cut once."""
    return _cut(part)


def key() -> str:
    """What the cuts depend on, for signatures: jieba's version and the words that are added to its dictionary.

    Raises:
        GntError: jieba is not installed.
    """
    return f"jieba{_version()}.{_added_digest()}"


def installed() -> bool:
    """Whether jieba is there."""
    return importlib.util.find_spec("jieba") is not None


def _version() -> str:
    if not installed():
        raise GntError(
            "cutting Chinese into words needs the Python package 'jieba': run  pip install 'pytest-gnt[words]'"
        )
    return importlib.metadata.version("jieba")


@cache
def _jieba() -> Any:
    """A tokenizer of our own with jieba's dictionary and our words.

    Jieba's own way of loading keeps a cache file in the folder for temporary files that every user and program shares,
    trusts what lies there, and logs to standard error. Reading the dictionary itself takes about a second.
    """
    _version()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    for word in added_words():
        tokenizer.add_word(word)
    return tokenizer


@cache
def added_words() -> tuple[str, ...]:
    """What is added to jieba's dictionary, in this order: later frequencies depend on the earlier words."""
    terms = [term for identity in Identity for term in identity_terms(identity, "zh")]
    return tuple(sorted({word for word in (*terms, *shipped_renderings().forms("zh")) if len(word) > 1}))


@cache
def _added_digest() -> str:
    return digest(list(added_words()))[:8]
