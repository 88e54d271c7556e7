"""From a request to what vLLM is asked, without starting an engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_gnt.engines.chat_format import prompt_format
from pytest_gnt.engines.protocol import Constraint, Decoding, GenerationRequest, Message, Reply
from pytest_gnt.engines.vllm_runtime import Ask, Runtime
from pytest_gnt.evidence import Reason
from tests.tiny_models import NO_SYSTEM_TEMPLATE, save_tokenizer

SHOTS = (Message("system", "Translate {it}."), Message("user", "One."), Message("assistant", "Uno."))


def ask(folder: Path, request: GenerationRequest, template: str | None, window: int = 400) -> tuple[Ask | Reply, str]:
    from pytest_gnt.engines.vllm_inprocess import _Prompts

    tokenizer = save_tokenizer(folder, chat_template=template)
    form = prompt_format(tokenizer, "auto")
    found = _Prompts(Runtime(None, tokenizer, window), form).ask(3, request)
    text = tokenizer.decode(found.tokens) if isinstance(found, Ask) else ""
    return found, text


def test_a_base_model_gets_a_transcript_and_ends_at_the_line(tmp_path: Path) -> None:
    found, text = ask(tmp_path, GenerationRequest(prefix=SHOTS, user="Two {0}."), None)
    assert isinstance(found, Ask)
    assert text == "<s>Translate {it}.\n\nOne.\nUno.\n\nTwo {0}.\n"
    assert found.params.stop == ["\n"]
    assert found.index == 3
    assert found.params.structured_outputs is None


def test_a_template_without_a_system_role_gets_its_text_in_the_first_turn(tmp_path: Path) -> None:
    found, text = ask(tmp_path, GenerationRequest(prefix=SHOTS, user="Two."), NO_SYSTEM_TEMPLATE)
    assert isinstance(found, Ask)
    assert text == "<|user|>Translate {it}.\n\nOne.\n<|assistant|>Uno.\n<|user|>Two.\n<|assistant|>"
    assert not found.params.stop


@pytest.mark.parametrize("kind", ["regex", "json"])
def test_a_constraint_is_passed_on_and_needs_no_stop_text(tmp_path: Path, kind: str) -> None:
    value = r"\[[^\]]+\]" if kind == "regex" else json.dumps({"type": "object"})
    request = GenerationRequest(prefix=SHOTS, user="Two.", constraint=Constraint(kind, value))  # type: ignore[arg-type]
    found, _ = ask(tmp_path, request, None)
    assert isinstance(found, Ask)
    assert getattr(found.params.structured_outputs, kind) == value
    assert not found.params.stop


def test_decoding_is_what_the_request_says(tmp_path: Path) -> None:
    greedy, _ = ask(tmp_path, GenerationRequest(prefix=(), user="x", decoding=Decoding(max_tokens=9000)), None)
    assert isinstance(greedy, Ask)
    assert (greedy.params.temperature, greedy.params.seed) == (0.0, None)
    assert greedy.params.max_tokens == 400 - len(greedy.tokens)
    drawn = Decoding(max_tokens=7, temperature=0.5, top_p=0.9, seed=11)
    sampled, _ = ask(tmp_path, GenerationRequest(prefix=(), user="x", decoding=drawn), None)
    assert isinstance(sampled, Ask)
    params = sampled.params
    assert (params.temperature, params.top_p, params.seed, params.max_tokens) == (0.5, 0.9, 11, 7)


def test_a_prompt_that_fills_the_window_is_one_reply(tmp_path: Path) -> None:
    request = GenerationRequest(prefix=(), user="x" * 500)
    found, _ = ask(tmp_path, request, None, window=100)
    assert isinstance(found, Reply)
    assert found.reason is Reason.OVER_LONG
    assert found.prompt_tokens is not None
    assert found.prompt_tokens >= 100
