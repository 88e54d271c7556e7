"""Binding replies: which bytes a token writes, and that the mask and the one-token check agree."""

from __future__ import annotations

import json

import pytest
import torch
from tiny_checkpoints import byte_level_tokenizer

from pytest_gnt.engines.constraints import Compiler, as_pattern, token_bytes
from pytest_gnt.engines.protocol import Constraint
from pytest_gnt.errors import EngineFailure, GntError

FORM = Constraint("regex", r"<it> \*\*(NEUTRAL|GENDERED)\*\* \[[^\]\[\n]+\]")
ENDS = frozenset({1})


def sentencepiece_like(strip: bool):
    """A tokenizer with ▁ for a blank and byte tokens, as Gemma has it; ``strip``: Llama 2's, without a first blank."""
    from tokenizers import Tokenizer, decoders, models

    names = ["<s>", "</s>", "▁", "▁the", "the", "a", "é", "人", *[f"<0x{byte:02X}>" for byte in range(256)]]
    tokenizer = Tokenizer(
        models.BPE(vocab={name: place for place, name in enumerate(names)}, merges=[], byte_fallback=True)
    )
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)] if strip else steps)
    import transformers

    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")


@pytest.mark.parametrize("strip", [False, True])
def test_a_sentencepiece_token_writes_its_blank_once(strip: bool) -> None:
    tokenizer = sentencepiece_like(strip)
    written = token_bytes(tokenizer, ENDS)
    ids = tokenizer.get_vocab()
    assert written[b" the"] == [ids["▁the"]]
    assert ids["the"] in written[b"the"]
    assert set(written[b" "]) == {ids["▁"], ids["<0x20>"]}
    assert written["人".encode()] == [ids["人"]]
    assert written[b"\xe4"] == [ids["<0xE4>"]]
    assert b"<s>" not in written
    assert ids["</s>"] not in {number for numbers in written.values() for number in numbers}


def test_a_byte_level_token_writes_the_bytes_it_spells() -> None:
    tokenizer = byte_level_tokenizer()
    written = {number: text for text, numbers in token_bytes(tokenizer, ENDS).items() for number in numbers}
    for text in ("The doctor opened 机器翻译 naïve — “door”", " \n\t🏳️‍🌈"):
        assert b"".join(written[number] for number in tokenizer.encode(text)) == text.encode()


def test_the_mask_and_the_single_check_agree_along_a_reply() -> None:
    tokenizer = byte_level_tokenizer()
    matcher = Compiler(tokenizer, ENDS).matcher(FORM)
    size = len(tokenizer) + 5  # models pad their vocabulary
    for token in [*tokenizer.encode("<it> **NEUTRAL** [Chi 翻]")]:
        allowed = matcher.mask(size, "cpu")
        assert allowed.shape == (size,)
        assert not allowed[len(tokenizer) :].any()
        assert [bool(each) for each in allowed[: len(tokenizer)]] == [matcher.allows(i) for i in range(len(tokenizer))]
        assert matcher.allows(token)
        assert not matcher.allows(1)
        matcher.advance(token)
    assert matcher.allows(1)
    assert matcher.complete
    assert torch.nonzero(matcher.mask(size, "cpu")).flatten().tolist() == [1]


def test_an_open_end_is_complete_only_when_the_model_says_so() -> None:
    tokenizer = byte_level_tokenizer()
    matcher = Compiler(tokenizer, ENDS).matcher(Constraint("regex", r"\[[^\n]+\]"))
    for token in tokenizer.encode("[a]"):
        matcher.advance(token)
    assert matcher.allows(1)
    assert not matcher.complete
    assert matcher.allows(tokenizer.encode("b")[0])
    rare = tokenizer.encode("𠮷")
    assert len(rare) == 4, "the test needs a character that takes a token a byte"
    for token in rare:
        assert matcher.allows(token)
        matcher.advance(token)
        assert not matcher.allows(1)
    for token in tokenizer.encode(" ]"):
        matcher.advance(token)
    assert matcher.allows(1)


def test_a_character_is_not_left_unfinished() -> None:
    tokenizer = byte_level_tokenizer()
    matcher = Compiler(tokenizer, ENDS).matcher(Constraint("regex", r"[^\s][^\n]*\n?\n?"))
    first, second, *_ = tokenizer.encode("𠮷")
    matcher.advance(tokenizer.encode("a")[0])
    assert matcher.allows(1)
    matcher.advance(first)
    assert not matcher.allows(1)
    assert not matcher.allows(first)
    assert matcher.allows(second)
    with pytest.raises(ValueError, match="not allowed"):
        matcher.advance(first)


def test_an_optional_rest_can_be_left_out_or_written() -> None:
    tokenizer = byte_level_tokenizer()
    compiler = Compiler(tokenizer, ENDS)
    matcher = compiler.matcher(Constraint("regex", r"a(?:b\.)?"))
    for char in "ab":
        matcher.advance(tokenizer.convert_tokens_to_ids(char))
        assert matcher.allows(1) == (char == "a")
    matcher.advance(tokenizer.convert_tokens_to_ids("."))
    assert matcher.complete


def test_an_automaton_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import outlines_core

    built = []
    real = outlines_core.Index
    monkeypatch.setattr(outlines_core, "Index", lambda *args: built.append(args[0]) or real(*args))
    compiler = Compiler(byte_level_tokenizer(), ENDS)
    first, second = compiler.matcher(FORM), compiler.matcher(Constraint("regex", FORM.value))
    assert len(built) == 1
    first.advance(next(i for i in range(600) if first.allows(i)))
    assert second.allows(next(i for i in range(600) if second.allows(i)))


def test_a_json_schema_becomes_a_pattern_with_bounded_blanks() -> None:
    import re

    schema = {"type": "object", "properties": {"label": {"enum": ["M", "F"]}}, "required": ["label"]}
    pattern = as_pattern(Constraint("json", json.dumps(schema)))
    assert re.fullmatch(pattern, '{"label": "M"}')
    assert not re.fullmatch(pattern, '{"label":    "M"}')
    assert not re.fullmatch(pattern, '{"label": "X"}')


@pytest.mark.parametrize("schema", ["{", '{"type": "nonsense"}'])
def test_a_schema_that_cannot_be_used_is_refused(schema: str) -> None:
    with pytest.raises(GntError, match="schema"):
        as_pattern(Constraint("json", schema))


def test_a_broken_pattern_is_refused() -> None:
    with pytest.raises(EngineFailure, match="cannot bind"):
        Compiler(byte_level_tokenizer(), ENDS).matcher(Constraint("regex", "([a"))
