"""Encoder-decoder engines: sentences grouped by language pair, no label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from pytest_gnt.case import Case
from pytest_gnt.engines.language_codes import marian_tokens, nllb_code
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.translators.sequence import SequenceTranslator

MakeCase = Callable[..., Case]
Translate = Callable[..., list[Translation]]

WORDS = {"it": "Le porte numero {} restano aperte.", "es": "Las puertas número {} quedan abiertas."}


class Engine:
    def __init__(self) -> None:
        self.calls: list[tuple[list[str], str, str]] = []
        self.closed = False

    def context(self) -> Mapping[str, object]:
        return {"backend": "seq2seq", "model": "tiny"}

    def translate(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> Iterator[tuple[int, Reply]]:
        self.calls.append((list(texts), src_lang, tgt_lang))
        for index in reversed(range(len(texts))):
            number = texts[index].split()[1]
            if number == "13":
                yield index, Reply(text="Le porte", finish_reason="length")
            elif number == "14":
                yield index, Reply(text=None, reason=Reason.OVER_LONG, detail="600 tokens, the limit is 512")
            else:
                yield index, Reply(text=WORDS[tgt_lang].format(number), finish_reason="stop")

    def close(self) -> None:
        self.closed = True


def test_sentences_go_out_by_language_and_come_back_in_place(make_case: MakeCase, translate: Translate) -> None:
    engine = Engine()
    cases = [make_case(f"Doors {n} stay open.", "it" if n % 2 else "es", str(n)) for n in range(10)]
    found = translate(SequenceTranslator(engine), cases)
    assert [one.text for one in found] == [WORDS["it" if n % 2 else "es"].format(n) for n in range(10)]
    assert [(len(texts), source, target) for texts, source, target in engine.calls] == [
        (5, "en", "es"),
        (5, "en", "it"),
    ]
    assert all(one.label is None and one.reason is None for one in found)


def test_a_bad_sentence_stays_one_bad_sentence(make_case: MakeCase, translate: Translate) -> None:
    cases = [make_case(f"Doors {n} stay open.", "it", str(n)) for n in (12, 13, 14, 15)]
    found = translate(SequenceTranslator(Engine()), cases)
    assert [one.reason for one in found] == [None, Reason.TRUNCATED, Reason.OVER_LONG, None]


def test_the_key_holds_languages_and_sentence(make_case: MakeCase) -> None:
    provider = SequenceTranslator(Engine())
    works = [
        provider.work(make_case("Doors 1 open.", lang, number))
        for lang, number in (("it", "1"), ("it", "2"), ("es", "1"))
    ]
    assert works[0].key == works[1].key != works[2].key


@pytest.mark.parametrize(
    ("lang", "code"),
    [("it", "ita_Latn"), ("zh", "zho_Hans"), ("zh-Hant", "zho_Hant"), ("zh_TW", "zho_Hant"), ("oci_Latn", "oci_Latn")],
)
def test_nllb_codes(lang: str, code: str) -> None:
    assert nllb_code(lang) == code


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(GntError, match="'tlh'"):
        nllb_code("tlh")


def test_marian_tokens() -> None:
    assert marian_tokens("it") == (">>it<<", ">>ita<<", ">>ita_Latn<<")
    assert ">>cmn_Hans<<" in marian_tokens("zh")
