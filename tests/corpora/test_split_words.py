"""Lists of words whose separator is not known."""

from __future__ import annotations

import pytest

from pytest_gnt.corpora.words import split_words

TEXT = "I cittadini, i ministri e tutti i deputati/le deputate del Parlamento"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("cittadini; ministri;tutti", ("cittadini", "ministri", "tutti")),
        ("cittadini|ministri", ("cittadini", "ministri")),
        ("I cittadini, i ministri", ("I cittadini", "i ministri")),
        ("i deputati/le deputate; tutti", ("i deputati/le deputate", "tutti")),
        ("deputati/deputate", ("deputati", "deputate")),
        ("tutti i deputati", ("tutti i deputati",)),
        ("cittadini tutti", ("cittadini", "tutti")),
        ("gli assenti tutti", ("gli assenti tutti",)),
        ("['cittadini', 'tutti']", ("cittadini", "tutti")),
        ("tutti; tutti; ;", ("tutti",)),
        ("; ,", ()),
        ("", ()),
        (None, ()),
    ],
)
def test_the_text_decides_what_a_word_is(cell, words):
    assert split_words(cell, TEXT) == words


def test_without_a_text_only_the_strongest_separator_cuts():
    assert split_words("x; y, z") == ("x", "y, z")
    assert split_words("固执、倔强") == ("固执", "倔强")
