"""Scores of words through vLLM, in process and behind its server, are those of transformers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_gnt.config import VllmModel
from pytest_gnt.engines.protocol import NoScore, Scorer
from pytest_gnt.evidence import Reason
from pytest_gnt.metrics.attitude import AttitudeScorer, WordQuery, template
from tests.vllm.conftest import ENVIRONMENT

WORDS = [
    *(WordQuery("en", word) for word in ("gruff", "terse", "humble", "door-opening " * 30)),
    *(WordQuery("it", word) for word in ("umile", "perché no", "testardo")),
    *(WordQuery("zh", word) for word in ("固执", "简明扼要", "粗鲁")),
]
"""Answers of several tokens, some of them halves of a character; Chinese, without blanks; a word of many tokens."""


@pytest.fixture(scope="module")
def reference(llama: Path) -> Iterator[Scorer]:
    from pytest_gnt.engines.transformers_scorer import CausalScorer

    scorer = CausalScorer(str(llama), device="cpu")
    yield scorer
    scorer.close()


def scores(engine: Scorer) -> list[float | None]:
    provider = AttitudeScorer(engine)
    works = [provider.work(query) for query in WORDS]
    answers = {index: answer.value for index, answer in provider.run(works)}
    found = [provider.read(query, answers[index]) for index, query in enumerate(WORDS)]
    return [word.score if word.score is not None else pytest.fail(f"{word.word}: {word.detail}") for word in found]


def test_scores_in_process_agree_with_transformers(
    llama: Path, reference: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_gnt.engines.vllm_scorer import VllmScorer

    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    prompts = [prompt for word in ("gruff", "terse") for prompt in template("en").prompts(word)]  # type: ignore[union-attr]
    prompts.append("too long " * 3000)
    scorer = VllmScorer(VllmModel(model=str(llama), dtype="float32", enforce_eager=True))
    try:
        for answer in (" ", " Yes"):  # one token of this tokenizer, and several
            wanted = reference.score(prompts, answer)
            found = scorer.score(prompts, answer)
            for value in (found[-1], wanted[-1]):
                assert isinstance(value, NoScore)
                assert value.reason is Reason.OVER_LONG
            assert found[:-1] == pytest.approx(wanted[:-1], abs=1e-4)
            assert scorer.score(prompts[:-1][::-1], answer)[::-1] == pytest.approx(found[:-1], abs=1e-4)
        assert scores(scorer) == pytest.approx(scores(reference), abs=1e-4)
    finally:
        scorer.close()


@pytest.mark.parametrize("way", ["echo", "prompt_logprobs"])
def test_scores_behind_a_server_agree_with_transformers(server: str, reference: Scorer, way: str) -> None:
    from pytest_gnt.engines.openai_scorer import OpenAIScorer

    scorer = OpenAIScorer("tiny", base_url=server, concurrency=4)
    if way == "prompt_logprobs":
        scorer._client.dialect.dropped.add("echo")
    try:
        assert scores(scorer) == pytest.approx(scores(reference), abs=1e-4)
    finally:
        scorer.close()
