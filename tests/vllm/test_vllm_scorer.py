"""Scores through vLLM are those of transformers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gnt.config import VllmModel
from tests.vllm.conftest import ENVIRONMENT


def test_scores_agree_with_transformers(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_gnt.engines.transformers_scorer import CausalScorer
    from pytest_gnt.engines.vllm_scorer import VllmScorer

    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    shot = "Q: Is [kind] a positive word? A: Yes\nQ: Is [cruel] a positive word? A: No\n"
    prompts = [f"{shot}Q: Is [{word}] a positive word? A:" for word in ("gruff", "terse", "humble", "cunning")]
    prompts.append("too long " * 3000)
    reference = CausalScorer(str(llama), device="cpu")
    scorer = VllmScorer(VllmModel(model=str(llama), dtype="float32", enforce_eager=True))
    try:
        for answer in (" ", " Yes"):  # one token of this tokenizer, and several
            wanted = reference.score(prompts, answer)
            found = scorer.score(prompts, answer)
            assert found[-1] is None
            assert wanted[-1] is None
            assert found[:-1] == pytest.approx(wanted[:-1], abs=1e-3)
            assert scorer.score(prompts[::-1], answer)[::-1] == pytest.approx(found)
    finally:
        scorer.close()
        reference.close()
