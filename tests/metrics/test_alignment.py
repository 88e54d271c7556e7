"""Cutting sentences into words, and reading what a word became from the links between two sentences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.alignment import Alignment, Segmentation, SentencePair, targets
from pytest_gnt.metrics.alignment.folding import find
from pytest_gnt.metrics.alignment.function_words import function_words
from pytest_gnt.metrics.alignment.quality import AlignerQuality

# --- tokens ---


def cut(text: str, lang: str = "it", **settings: str) -> list[str]:
    return [token.text for token in Segmentation(**settings).tokens(text, lang)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L’ostinato vicino.", ["L", "’", "ostinato", "vicino", "."]),
        ("a self-righteous, non-binary man", ["a", "self-righteous", ",", "non-binary", "man"]),
        ("a- -b", ["a", "-", "-", "b"]),
        ("e\u0301goi\u0308ste", ["e\u0301goi\u0308ste"]),
        ("x ||| y", ["x", "|", "|", "|", "y"]),
        ("頑固なABC", ["頑", "固", "な", "ABC"]),
        ("\ufeff固", ["\ufeff", "固"]),
        ("ดื้อ", ["ดื้", "อ"]),
        ("", []),
        (" \u3000\n", []),
    ],
)
def test_words_without_a_segmenter(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@settings(deadline=None)
@given(st.text(max_size=60), st.sampled_from(["it", "zh", "ja"]))
def test_tokens_are_the_text_without_its_blanks(text: str, lang: str) -> None:
    if lang == "zh":
        pytest.importorskip("jieba")
    tokens = Segmentation().tokens(text, lang)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert "".join("".join(token.text for token in tokens).split()) == "".join(text.split())
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)


def test_chinese_terms_and_renderings_are_words() -> None:
    pytest.importorskip("jieba")
    assert cut("那个性别酷儿很固执己见，stubborn 的人。", "zh") == [
        *("那个", "性别酷儿", "很", "固执己见", "，", "stubborn", "的", "人", "。")
    ]
    assert cut("固执的人", "zh", chinese="characters") == ["固", "执", "的", "人"]


def test_jieba_is_quiet_shares_no_file_and_is_not_the_global_one(tmp_path: Path) -> None:
    pytest.importorskip("jieba")
    script = (
        "from pytest_gnt.metrics.alignment import Segmentation\n"
        "print(*[t.text for t in Segmentation().tokens('性别酷儿固执己见', 'zh')])\n"
        "import jieba, logging\n"
        "assert not jieba.dt.initialized and '性别酷儿' not in jieba.dt.FREQ\n"
    )
    environment = {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8", env=environment, timeout=60
    )
    assert (done.stdout.split(), done.stderr, done.returncode) == (["性别酷儿", "固执己见"], "", 0)
    assert not list(tmp_path.iterdir())


# --- finding a word ---


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("The stubborn neighbour left.", [(4, 12)]),
        ("Stubborn, he said.", [(0, 8)]),
        ("So \u200bstub\u200bborn!", [(4, 13)]),
        ("ＳＴＵＢＢＯＲＮ", [(0, 8)]),
        ("stubborn, stubborn", [(0, 8), (10, 18)]),
        ("He left stubbornly.", []),
        ("un-stubborn", [(3, 11)]),
        ("", []),
    ],
)
def test_a_word_is_found_whatever_its_case_and_whatever_stands_beside_it(text: str, spans: list[object]) -> None:
    assert find(text, "stubborn") == spans


@given(st.text(max_size=40), st.text(max_size=4))
def test_what_is_found_lies_in_the_text(text: str, word: str) -> None:
    assert all(0 <= start < end <= len(text) for start, end in find(text, word))


# --- reading links ---

SOURCE = "The stubborn neighbour left."
STUBBORN, NEIGHBOUR = (4, 12), (13, 22)


def became(target: str, *spans: tuple[int, int], lang: str = "zh", word: str = "stubborn", source: str = SOURCE):
    links = tuple((*STUBBORN, *span) for span in spans)
    return targets(SentencePair(source, target, "en", lang), word, Alignment(links))


@pytest.mark.parametrize(
    ("target", "spans", "expected"),
    [
        ("固执的邻居走了。", [(0, 2)], ("固执",)),
        ("固执己见的邻居", [(0, 2), (2, 4)], ("固执己见",)),
        ("固执的邻居", [(0, 2), (2, 3)], ("固执",)),
        ("固执又倔强的邻居", [(0, 2), (3, 5)], ("固执", "倔强")),
        ("固执的邻居固执地走了", [(0, 2), (5, 7)], ("固执",)),
        ("邻居走了。", [], Reason.UNALIGNED),
        ("邻居走了。", [(4, 5)], Reason.ALIGNED_TO_PUNCTUATION),
        ("固执的邻居", [(2, 3)], Reason.ALIGNED_TO_FUNCTION_WORD),
        ("Stubborn的邻居", [(0, 8)], Reason.COPIED_WORD),
        ("ｓｔｕｂｂｏｒｎ的邻居", [(0, 8)], Reason.COPIED_WORD),
        ("stubborn（固执）的邻居", [(0, 8), (9, 11)], ("固执",)),
    ],
)
def test_what_a_word_became(target: str, spans: list[tuple[int, int]], expected: object) -> None:
    assert became(target, *spans) == expected


def test_words_are_joined_as_the_language_writes_them() -> None:
    assert became("un tipo duro  di testa", (8, 12), (14, 16), (17, 22), lang="xx") == ("duro di testa",)
    assert became("Er ist stur und Stur.", (7, 11), (16, 20), lang="de") == ("stur",)


def test_only_the_word_s_own_links_count() -> None:
    pair = SentencePair(SOURCE, "固执的邻居", "en", "zh")
    links = Alignment(((*NEIGHBOUR, 3, 5), (*STUBBORN, 0, 2)))
    assert targets(pair, "stubborn", links) == ("固执",)
    assert targets(pair, "NEIGHBOUR", links) == ("邻居",)
    assert targets(pair, "stubbornly", links) is Reason.WORD_NOT_IN_SOURCE
    assert targets(pair, "stubborn", Alignment(reason=Reason.TOO_LONG_TO_ALIGN)) is Reason.TOO_LONG_TO_ALIGN


def test_a_word_that_stands_twice_has_the_links_of_both_places() -> None:
    pair = SentencePair("stubborn, so stubborn", "固执，真倔强", "en", "zh")
    assert targets(pair, "stubborn", Alignment(((0, 8, 0, 2), (13, 21, 4, 6)))) == ("固执", "倔强")


def test_gold_words_are_hardly_ever_function_words(shared_data: Path) -> None:
    lines = [
        line.split("\t")
        for name in ("authentic", "synthesized")
        for line in (shared_data / f"ambgimt/attitude_words.{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    gold = [line[2] for line in lines if line[2] and line[3] == "high"]
    assert sum(word in function_words("zh") for word in gold) <= len(gold) / 100


def test_the_quality_of_an_aligner_counts_words_and_pairs() -> None:
    counted = AlignerQuality()
    counted.add(("固执", "邻居"), "固执")
    counted.add(("固执的",), "固执")
    counted.add(Reason.UNALIGNED, "固执")
    assert (counted.pairs, counted.answered, counted.words) == (3, 2, 3)
    assert (counted.exact_words, counted.exact_pairs) == (1, 1)
    assert (counted.overlapping_words, counted.overlapping_pairs) == (2, 2)
    assert counted.reasons == {Reason.UNALIGNED: 1}
