"""The encoder-decoder runtime on tiny NLLB and MarianMT checkpoints."""

from __future__ import annotations

import random

import pytest
import torch
import transformers

from pytest_gnt.engines.transformers_seq2seq import Seq2SeqEngine
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason

TEXTS = ["The doctor smiled.", "hello world", "The nurse opened the door and the patient smiled.", "Yes", "label"]


def engine(model: str, **options) -> Seq2SeqEngine:
    settings = {"dtype": "float32", "device": "cpu", "max_new_tokens": 12, "batch_size": 2, **options}
    return Seq2SeqEngine(model, **settings)


def one_by_one(model: str, texts: list[str], *, lead: str = "", first: str | None = None, beams: int = 4) -> list[str]:
    """What transformers' own generate gives for each sentence alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForSeq2SeqLM.from_pretrained(model, dtype=torch.float32).eval()
    network.generation_config.forced_eos_token_id = None
    first_id = tokenizer.convert_tokens_to_ids(first) if first else None
    found = []
    for text in texts:
        inputs = tokenizer(lead + text, return_tensors="pt")
        output = network.generate(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            num_beams=beams,
            max_new_tokens=12,
            forced_bos_token_id=first_id,
        )[0].tolist()
        found.append(
            tokenizer.decode([token for token in output if token != first_id], skip_special_tokens=True).strip()
        )
    return found


def test_nllb_equals_one_by_one_generation(nllb: str) -> None:
    replies = dict(engine(nllb).translate(TEXTS, "en", "it"))
    assert sorted(replies) == list(range(len(TEXTS)))
    assert [replies[i].text for i in range(len(TEXTS))] == one_by_one(nllb, TEXTS, first="ita_Latn")


def test_nllb_is_told_both_languages(nllb: str) -> None:
    made = engine(nllb)
    german = {i: reply.text for i, reply in made.translate(TEXTS, "en", "de")}
    italian = {i: reply.text for i, reply in made.translate(TEXTS, "en", "it")}
    assert german != italian
    from_greek = {i: reply.text for i, reply in made.translate(TEXTS, "el", "it")}
    assert from_greek != italian
    assert {i: reply.text for i, reply in made.translate(TEXTS, "eng_Latn", "ita_Latn")} == italian


@pytest.mark.parametrize("fixture", ["nllb", "marian_many", "marian_one"])
def test_order_and_batch_size_do_not_matter(fixture: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(fixture)
    expected = {TEXTS[i]: reply for i, reply in engine(model, batch_size=1).translate(TEXTS, "en", "it")}
    order = TEXTS[:]
    random.Random(1).shuffle(order)
    for size in (2, 5):
        found = {order[i]: reply for i, reply in engine(model, batch_size=size).translate(order, "en", "it")}
        assert found == expected


def test_multilingual_marian_gets_the_target_token(marian_many: str) -> None:
    replies = dict(engine(marian_many).translate(TEXTS, "en", "it"))
    assert [replies[i].text for i in range(len(TEXTS))] == one_by_one(marian_many, TEXTS, lead=">>ita<< ")
    german = dict(engine(marian_many).translate(TEXTS, "en", "de"))
    assert [german[i].text for i in range(len(TEXTS))] == one_by_one(marian_many, TEXTS, lead=">>deu<< ")
    assert german != replies


def test_a_cut_reply_says_so(marian_one: str) -> None:
    """MarianMT's settings force an end token at the limit; the reply must not look finished for that."""
    replies = dict(engine(marian_one, max_new_tokens=3).translate(TEXTS, "en", "de"))
    assert {reply.finish_reason for reply in replies.values()} == {"length"}
    assert all(reply.completion_tokens == 3 for reply in replies.values())


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_long_sentence_stays_one(nllb: str, place: int) -> None:
    texts = ["hello", "Yes"]
    texts.insert(place, "hello " * 6000)
    replies = dict(engine(nllb).translate(texts, "en", "it"))
    assert replies[place].reason is Reason.OVER_LONG
    assert "64" in replies[place].detail
    others = [i for i in range(3) if i != place]
    assert [replies[i].text for i in others] == one_by_one(nllb, ["hello", "Yes"], first="ita_Latn")


def test_a_sentence_of_exactly_the_limit_is_translated(nllb: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(nllb)
    text = "h" * 64
    while len(tokenizer(text, verbose=False)["input_ids"]) > 64:
        text = text[1:]
    assert len(tokenizer(text)["input_ids"]) == 64
    replies = dict(engine(nllb).translate([text, text + "h"], "en", "it"))
    assert replies[0].reason is None
    assert replies[1].reason is Reason.OVER_LONG


def test_an_empty_sentence_is_an_error_of_its_own(nllb: str) -> None:
    replies = dict(engine(nllb).translate(["hello", " ", ""], "en", "it"))
    assert [replies[i].reason for i in range(3)] == [None, Reason.EMPTY, Reason.EMPTY]


def test_unknown_languages_stop_the_run(nllb: str, marian_many: str) -> None:
    with pytest.raises(GntError, match="xx"):
        list(engine(nllb).translate(["hello"], "en", "xx"))
    with pytest.raises(GntError, match="target language 'fr'"):
        list(engine(marian_many).translate(["hello"], "en", "fr"))


def test_the_context_tells_what_matters(nllb: str) -> None:
    context = engine(nllb).context()
    assert context["num_beams"] == 4
    assert context["max_new_tokens"] == 12
    assert context["dtype"] == "float32"
    assert engine(nllb, num_beams=2).context() != context
    assert engine(nllb, batch_size=7).context() == context
    assert list(engine(nllb).translate([], "en", "it")) == []
    with pytest.raises(GntError, match="num_beams"):
        engine(nllb, num_beams=0)
