"""Words typical of an identity: planted ones are found, chance brings none, what cannot be counted is said."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gnt.case import Identity
from pytest_gnt.metrics import keywords
from pytest_gnt.metrics.keywords import Keywords, Sentence, typical

IDENTITIES = [str(identity) for identity in Identity]
ALL = (1 << len(IDENTITIES)) - 1


def made(sentences: int, planted: dict[str, tuple[str, int]], seed: int = 0, lang: str = "sq") -> Keywords:
    """Sentences of six common words each; ``planted``: word → identity that gets it, in how many sentences."""
    rng = random.Random(seed)
    counted = Keywords()
    for number in range(sentences):
        common = rng.sample([f"parola{letter}" for letter in "abcdefghijklmnop"], 6)
        for identity in IDENTITIES:
            extra = [word for word, (owner, count) in planted.items() if owner == identity and number < count]
            counted.add("house", lang, f"g{number}", identity, " ".join([*common, *extra, "7"]))
    return counted


def test_planted_words_are_found_with_their_counts() -> None:
    counted = made(60, {"sleale": ("trans woman", 12), "astuto": ("man", 9), "raro": ("gay", 3)})
    rows = {row["identity"]: row["words"] for row in counted.rows()}
    assert {
        name: [(word["word"], word["count"], word["others"]) for word in words] for name, words in rows.items()
    } == {
        "man": [("astuto", 9, 0)],
        "trans woman": [("sleale", 12, 0)],
    }
    assert [*rows] == ["man", "trans woman"], "in the identities' own order"
    assert counted.about() == {
        "threshold": keywords.THRESHOLD,
        "translations": 60 * 14,
        "notes": ["house sq: the terms for the identities are not known and count as words"],
    }


def test_a_common_word_stands_out_by_the_sentences_in_which_it_differs() -> None:
    counted = Keywords()
    for number in range(200):
        for identity in IDENTITIES:
            extra = "buono" if number < 150 or (identity == "queer" and number < 165) else ""
            counted.add("house", "sq", f"g{number}", identity, f"persona {extra}")
    (row,) = counted.rows()
    assert (row["identity"], row["words"][0]["word"], row["words"][0]["count"]) == ("queer", "buono", 165)
    assert row["words"][0]["others"] == 150 * 13


def by_chance(sentences: int, rng: np.random.Generator, *, together: bool) -> list[Sentence]:
    """Sentences of twelve places; in half of them there are two words, and identities get one or the other.

    Each identity chooses for itself, or, with ``together``, a random half of them chooses alike.
    """
    words = 1 / np.arange(1, 3001)
    found = []
    for _ in range(sentences):
        sentence = Sentence(ALL)
        for word, share in zip(rng.choice(3000, 12, p=words / words.sum()), rng.random(12), strict=True):
            holders = ALL
            if rng.random() < 0.5:
                count = rng.integers(1, 14) if together else None
                chosen = rng.random(14) < share if count is None else rng.permutation(14) < count
                holders = sum(1 << place for place in np.flatnonzero(chosen).tolist())
            for name, which in ((f"w{word}", holders), (f"v{word}", ALL & ~holders)):
                if which:
                    sentence.words[name] = sentence.words.get(name, 0) | which
        found.append(sentence)
    return found


@pytest.mark.parametrize("together", [False, True])
def test_chance_brings_no_word(together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    samples = [by_chance(120, rng, together=together) for _ in range(4)]
    assert not any(words for sample in samples for words in typical(sample, range(14)))
    monkeypatch.setattr(keywords, "THRESHOLD", 0.0)
    monkeypatch.setattr(keywords, "MOST_SHOWN", 10**9)
    z = [word["z"] for sample in samples for words in typical(sample, range(14)) for word in words]
    assert len(z) > 15_000
    assert math.sqrt(sum(value**2 for value in z) / len(z)) == pytest.approx(0.33, abs=0.05), "as the docs say"


def test_the_score_is_the_formula() -> None:
    """Two identities, two words, by hand: y = 6 and ȳ = 0, of n = 7 and n̄ = 7."""
    sentences = [Sentence(0b11, {"a": 0b01, "b": 0b10}) for _ in range(6)] + [Sentence(0b11, {"a": 0b11})]
    (own, _) = typical(sentences, [0, 1])
    alpha, total = 0.2 * 6, 0.2 * 14
    delta = math.log((6 + alpha) / (7 + total - 6 - alpha)) - math.log(alpha / (7 + total - alpha))
    assert own == [
        {"word": "a", "count": 7, "others": 1, "z": round(delta / math.sqrt(1 / (6 + alpha) + 1 / alpha), 2)}
    ]


@given(st.permutations(list(range(20))), st.randoms())
def test_the_order_of_cases_does_not_matter(order: list[int], rng: random.Random) -> None:
    def add(counted: Keywords, number: int) -> None:
        for identity in ("man", "woman"):
            counted.add("house", "sq", f"g{number}", identity, "astuto volpe" if identity == "man" else "volpe")

    one, other = Keywords(), Keywords()
    for number in range(20):
        add(one, number)
    for number in order:
        add(other, number)
    assert one.rows() == other.rows()
    assert one.rows()[0]["words"][0]["word"] == "astuto"


def test_a_sentence_counts_once_for_an_identity() -> None:
    counted = made(40, {})
    before = counted.about()
    for _ in range(50):
        counted.add("house", "sq", "g1", "man", "astuto")
    assert counted.rows() == []
    assert counted.about() == before


def test_function_words_identity_terms_and_pronouns_are_left_out() -> None:
    pytest.importorskip("jieba")
    counted = Keywords()
    for number in range(40):
        for identity, term in (("woman", "女人"), ("trans man", "跨性别男性"), ("lesbian", "女同性恋者")):
            word = "聪明" if identity == "woman" and number < 20 else ""
            counted.add("a", "zh", f"g{number}", identity, f"这位{term}很{word}，{'她' if word else '他'}说。")
    (row,) = counted.rows()
    assert (row["identity"], [word["word"] for word in row["words"]]) == ("woman", ["聪明"])


def test_too_few_sentences_are_said_and_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = made(keywords.MIN_GROUPS - 1, {"sleale": ("man", 19)})
    monkeypatch.setattr(counted._segmentation, "tokens", lambda *_: pytest.fail("cut"))
    assert counted.rows() == []
    about = counted.about()
    assert about is not None
    assert about["notes"] == ["house sq: 19 sentences are too few (20 are needed)"]


def test_without_jieba_chinese_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keywords.chinese, "installed", lambda: False)
    counted = made(40, {"sleale": ("man", 20)}, lang="zh-Hans")
    assert counted.rows() == []
    about = counted.about()
    assert about is not None
    assert about["translations"] == 0
    assert about["notes"] == ["Chinese keywords need the Python package 'jieba': run  pip install 'pytest-gnt[words]'"]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keywords, "_MOST_ENTRIES", 500)
    counted = Keywords()
    for number in range(400):
        counted.add("house", "sq", f"g{number}", "man", " ".join(f"w{number}x{place}" for place in range(20)))
    about = counted.about()
    assert about is not None
    assert about["translations"] < 60
    assert "too many different words" in about["notes"][-1]


def test_hostile_texts_are_counted_like_any_other() -> None:
    counted = Keywords()
    for number in range(30):
        counted.add("h\ud800", "sq", f"g{number}", "man", "<b>astuto</b> vicino\ud800 \u202e" + "x" * 10**5)
        counted.add("h\ud800", "sq", f"g{number}", "nobody known", "lontano vicino")
    assert {row["identity"] for row in counted.rows()} == {"man", "nobody known"}


def test_nothing_to_count_is_nothing() -> None:
    assert Keywords().about() is None
    assert Keywords().rows() == []
    assert typical([], [0, 1]) == [[], []]
