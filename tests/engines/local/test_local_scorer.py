"""Log-probabilities of an answer against a plain loop, one prompt at a time."""

from __future__ import annotations

import math
import random
import shutil
from pathlib import Path

import pytest
import torch
import transformers

from pytest_gnt.engines.batching import clusters
from pytest_gnt.engines.checkpoints import load
from pytest_gnt.engines.forward import Forward
from pytest_gnt.engines.protocol import NoScore
from pytest_gnt.engines.transformers_scorer import CausalScorer
from pytest_gnt.errors import EngineFailure, GntError
from pytest_gnt.evidence import Reason

SHOTS = "".join(
    f"Q: Is {word} a positive word? A: {answer}\n" for word, answer in (("brave", "Yes"), ("cruel", "No")) * 5
)
WORDS = ["kind", "a", "patient", "door-opening doctor", "翻译", "{0} $x", "the nurse and the patient", "brave"]
PROMPTS = [SHOTS + f"Q: Is {word} a {pole} word? A:" for word in WORDS for pole in ("positive", "negative")]


def scorer(model: str, **options) -> CausalScorer:
    return CausalScorer(model, **{"device": "cpu", "batch_size": 32, **options})


def one_by_one(model: str, prompts: list[str], answer: str) -> list[float]:
    """Teacher forcing without batches, caches and padding."""
    from pytest_gnt.engines.weights import resolve

    folder = resolve(model).location
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    wanted = tokenizer(answer, add_special_tokens=False)["input_ids"]
    found = []
    for prompt in prompts:
        ids = tokenizer(prompt)["input_ids"]
        with torch.no_grad():
            logits = network(input_ids=torch.tensor([ids + wanted])).logits[0].log_softmax(-1)
        found.append(sum(float(logits[len(ids) - 1 + i, token]) for i, token in enumerate(wanted)))
    return found


@pytest.mark.parametrize("fixture", ["llama", "gemma"])
@pytest.mark.parametrize("answer", [" Yes", " Yes and the doctor smiled", "翻译"])
def test_scores_are_those_of_a_plain_loop(fixture: str, answer: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(fixture)
    assert scorer(model).score(PROMPTS, answer) == pytest.approx(one_by_one(model, PROMPTS, answer), abs=1e-4)


@pytest.mark.parametrize("fixture", ["llama", "gemma"])
def test_order_batch_size_and_company_do_not_matter(fixture: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(fixture)
    expected = dict(zip(PROMPTS, one_by_one(model, PROMPTS, " Yes"), strict=True))
    strangers = ["hello", "The doctor opened the door.", SHOTS[: len(SHOTS) // 2] + "other"]
    for size in (1, 3, 32):
        mixed = [*PROMPTS, *strangers, *PROMPTS[:2]]
        random.Random(size).shuffle(mixed)
        found = scorer(model, batch_size=size).score(mixed, " Yes")
        for prompt, value in zip(mixed, found, strict=True):
            if prompt in expected:
                assert value == pytest.approx(expected[prompt], abs=1e-4)


@pytest.mark.parametrize("fixture", ["llama", "gemma"])
def test_a_cached_prefix_changes_no_logit(fixture: str, request: pytest.FixtureRequest) -> None:
    """The cache is laid behind each row's padding, so sliding windows see the same tokens with it and without."""
    checkpoint = load(
        request.getfixturevalue(fixture), auto_class="AutoModelForCausalLM", device="cpu", dtype="float32"
    )
    rows = checkpoint.tokenizer(PROMPTS)["input_ids"]
    (cluster,) = clusters(rows)
    assert cluster.shared > 60, "the tests' prompts must be longer than the sliding window"
    batch = [rows[index] for index in cluster.rows]
    with_cache, without = Forward(checkpoint), Forward(checkpoint)
    with torch.inference_mode():
        cached, cache, _ = with_cache.start(batch, cluster.shared, 2)
        plain, other, _ = without.start(batch, 0, 2)
    assert with_cache._kept
    assert not without._kept
    assert torch.allclose(cached, plain, atol=1e-4)
    assert cache.get_seq_length() == other.get_seq_length()


@pytest.mark.parametrize("fixture", ["hybrid", "mamba"])
def test_a_model_with_recurrent_layers_is_run_without_a_prefix_cache(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(fixture)
    made = scorer(model)
    assert made.score(PROMPTS, " Yes") == pytest.approx(one_by_one(model, PROMPTS, " Yes"), abs=1e-4)
    assert made._loaded is not None
    assert not made._loaded.forward.plain_state
    assert not made._loaded.forward._kept


def test_a_model_that_hands_no_cache_back_is_refused(llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scorer(llama)
    made.score(PROMPTS[:1], " Yes")
    assert made._loaded is not None
    model = made._loaded.checkpoint.model
    real = model.forward
    monkeypatch.setattr(model, "forward", lambda **arguments: real(**{**arguments, "use_cache": False, "cache": None}))
    with pytest.raises(EngineFailure, match="key-value cache"):
        made.score(["hello"], " Yes")


def test_a_prompt_that_does_not_fit_has_no_value(llama: str) -> None:
    values = scorer(llama).score([PROMPTS[0], "doctor " * 6000, PROMPTS[1]], " Yes")
    assert isinstance(values[1], NoScore)
    assert values[1].reason is Reason.OVER_LONG
    assert "window is 512" in values[1].detail
    assert [values[0], values[2]] == pytest.approx(one_by_one(llama, PROMPTS[:2], " Yes"), abs=1e-4)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_what_is_not_finite_is_no_value(llama: str, broken: float) -> None:
    made = scorer(llama)
    made.score(PROMPTS[:1], " Yes")
    assert made._loaded is not None
    with torch.no_grad():
        made._loaded.checkpoint.model.lm_head.weight[5, :] = broken
    for value in made.score(PROMPTS, " Yes"):
        assert isinstance(value, NoScore)
        assert value.reason is Reason.NOT_FINITE


def test_nothing_in_nothing_out_and_an_answer_must_be_visible(llama: str) -> None:
    assert scorer(llama).score([], " Yes") == []
    with pytest.raises(GntError, match="no tokens"):
        scorer(llama).score(["hello"], "")
    with pytest.raises(GntError, match="batch_size"):
        scorer(llama, batch_size=0)


def test_a_word_of_hundreds_of_tokens_scores_like_a_plain_loop(llama: str) -> None:
    long = f"Q: Is {'patient-door-' * 40} a positive word? A:"
    prompts = [PROMPTS[0], long, PROMPTS[1], "Q: Is  a positive word? A:"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    assert 300 < len(tokenizer(prompts[1])["input_ids"]) < 500
    assert scorer(llama).score(prompts, " Yes") == pytest.approx(one_by_one(llama, prompts, " Yes"), abs=1e-4)


def test_the_answer_has_the_tokens_that_it_has_behind_the_prompt(llama: str, tmp_path: Path) -> None:
    """SentencePiece-like tokenizers put a blank before a text: ``"▁▁Yes"`` alone, but ``"▁Yes"`` behind a prompt."""
    folder = with_blank_in_front(llama, tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    alone = tokenizer(" Yes", add_special_tokens=False)["input_ids"]
    whole = tokenizer("Q: A: Yes")["input_ids"]
    prompt = tokenizer("Q: A:")["input_ids"]
    assert whole[: len(prompt)] == prompt
    assert alone != whole[len(prompt) :]
    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = network(input_ids=torch.tensor([whole])).logits[0].log_softmax(-1)
    wanted = sum(float(logits[place - 1, whole[place]]) for place in range(len(prompt), len(whole)))
    assert scorer(str(folder)).score(["Q: A:"], " Yes") == [pytest.approx(wanted, abs=1e-4)]


def test_an_answer_that_is_joined_with_the_prompt_s_end_has_the_tokens_that_it_has_alone(llama: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)
    prompt, answer = "The doc", "tor"
    heads, whole = tokenizer(prompt)["input_ids"], tokenizer(prompt + answer)["input_ids"]
    assert whole[: len(heads)] != heads, "the tests' tokenizer must join them"
    assert scorer(llama).score([prompt], answer) == pytest.approx(one_by_one(llama, [prompt], answer), abs=1e-4)


def with_blank_in_front(model: str, folder: Path) -> Path:
    """The checkpoint with a tokenizer that puts a blank before every text."""
    from tokenizers import Tokenizer, decoders, models, normalizers

    names = ["<s>", "</s>", "<pad>", "<unk>", "▁", *"QAYes:"]
    vocabulary = {token: place for place, token in enumerate([*dict.fromkeys(names), "▁A", "▁Q", "▁Y", "es", "▁Yes"])}
    merges = [("▁", "A"), ("▁", "Q"), ("▁", "Y"), ("e", "s"), ("▁Y", "es")]
    raw = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>"))
    raw.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    raw.decoder = decoders.Metaspace()
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    shutil.copytree(model, folder / "blank", ignore=shutil.ignore_patterns("tokenizer*", "special_tokens*"))
    made.save_pretrained(folder / "blank")
    return folder / "blank"


def test_the_context_names_what_matters(llama: str) -> None:
    context = scorer(llama).context()
    assert context["dtype"] == "float32"
    assert scorer(llama, dtype="bfloat16").context() != context
    assert scorer(llama, batch_size=3).context() == context


def test_real_weights_score_like_a_plain_loop(real_gemma: str) -> None:
    shots = "Q: Is wonderful a positive word? A: Yes\nQ: Is terrible a positive word? A: No\n" * 4
    prompts = [shots + f"Q: Is {word} a positive word? A:" for word in ("kind", "cruel", "self-important", "loyal")]
    made = scorer(real_gemma)
    values = made.score(prompts, " Yes")
    assert values == pytest.approx(one_by_one(real_gemma, prompts, " Yes"), abs=1e-4)
    kind, cruel, _, loyal = values
    assert min(kind, loyal) > cruel
    made.close()
