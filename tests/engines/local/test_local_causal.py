"""The causal runtime on tiny random checkpoints, against transformers' own one-by-one generation."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest
import torch
import transformers

from pytest_gnt.engines import transformers_causal
from pytest_gnt.engines.decode import Row, _noise, _sampled
from pytest_gnt.engines.protocol import Constraint, Decoding, GenerationRequest, Message, Reply
from pytest_gnt.engines.transformers_causal import CausalGenerator
from pytest_gnt.errors import EngineFailure, GntError
from pytest_gnt.evidence import Reason

PREFIX = (
    Message("system", "Translate the following text from English to Italian."),
    Message("user", "hello world"),
    Message("assistant", "<it> **NEUTRAL** [Chi dirige]"),
)
USERS = [
    "The doctor opened the door.",
    "hello",
    "The nurse smiled at the patient and the doctor opened the door.",
    "机器翻译",
    "Yes",
    "true false true false",
    "a",
]
FORM = Constraint("regex", r"<it> \*\*(?:NEUTRAL|GENDERED)\*\* \[[^\[\]\n]{3,9}\]")


def ask(user: str, constraint: Constraint | None = None, prefix=PREFIX, **decoding) -> GenerationRequest:
    settings = Decoding(**{"max_tokens": 12, **decoding})
    return GenerationRequest(prefix=prefix, user=user, constraint=constraint, decoding=settings)


def generator(model: str, **options) -> CausalGenerator:
    return CausalGenerator(model, **{"dtype": "float32", "device": "cpu", "batch_size": 4, **options})


def answers(made: CausalGenerator, requests: Sequence[GenerationRequest]) -> list[Reply]:
    found = list(made.generate(requests))
    assert sorted(index for index, _ in found) == list(range(len(requests)))
    return [reply for _, reply in sorted(found, key=lambda pair: pair[0])]


def one_by_one(model: str, prompts: list[str], max_tokens: int) -> list[str]:
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    found = []
    for prompt in prompts:
        ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
        output = network.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=max_tokens
        )[0, ids.shape[1] :]
        found.append(tokenizer.decode(output, skip_special_tokens=True))
    return found


@pytest.mark.parametrize("fixture", ["llama", "gemma", "hybrid"])
@pytest.mark.parametrize("repeats", [0, 12])
def test_replies_are_those_of_one_by_one_generation(fixture: str, repeats: int, request: pytest.FixtureRequest) -> None:
    """With short and long shared prefixes, sliding windows included (Gemma's is 24 tokens here)."""
    model = request.getfixturevalue(fixture)
    shots = (Message("user", "hello"), Message("assistant", "one\ntwo")) * repeats
    prefix = (PREFIX[0], *shots)
    requests = [ask(user, prefix=prefix) for user in USERS]
    prompts = ["".join(f"{m.content}\n" + ("\n" if m.role != "user" else "") for m in r.messages) for r in requests]
    expected = [text.split("\n\n")[0] if text.strip() else text for text in one_by_one(model, prompts, 12)]
    assert [reply.text for reply in answers(generator(model), requests)] == expected


def test_the_shared_prefix_is_computed_once(llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_gnt.engines.forward import Forward

    columns = []
    real = Forward.step
    monkeypatch.setattr(
        Forward,
        "step",
        lambda self, batch, cache, done, keep=1: (
            columns.append((batch.ids.shape[0], batch.ids.shape[1] - done)) or real(self, batch, cache, done, keep)
        ),
    )
    made = generator(llama)
    requests = [ask(user, prefix=PREFIX + PREFIX[1:] * 8) for user in USERS]
    answers(made, requests)
    wide = [shape for shape in columns if shape[1] > 60]
    assert len(wide) == 1
    assert wide[0][0] == 1
    columns.clear()
    answers(made, requests)
    assert columns
    assert not [shape for shape in columns if shape[1] > 60], "a later call uses the prefix again"


@pytest.mark.parametrize("fixture", ["llama", "gemma"])
@pytest.mark.parametrize("constraint", [None, FORM])
def test_order_and_batch_size_do_not_matter(
    fixture: str, constraint: Constraint | None, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(fixture)
    requests = [ask(user, constraint, max_tokens=40) for user in USERS]
    expected = {
        item.user: reply
        for item, reply in zip(requests, answers(generator(model, batch_size=1), requests), strict=True)
    }
    for size in (3, 16):
        random.Random(size).shuffle(requests)
        found = answers(generator(model, batch_size=size), requests)
        assert {item.user: reply for item, reply in zip(requests, found, strict=True)} == expected


def test_a_bound_reply_has_the_form(llama: str) -> None:
    made = generator(llama)
    for reply in answers(made, [ask(user, FORM, max_tokens=60) for user in USERS]):
        assert reply.finish_reason == "stop"
        assert re.fullmatch(FORM.value, str(reply.text))
    schema = {
        "type": "object",
        "properties": {"label": {"enum": ["M", "F"]}, "sure": {"type": "boolean"}},
        "required": ["label", "sure"],
        "additionalProperties": False,
    }
    for reply in answers(made, [ask(user, Constraint("json", json.dumps(schema)), max_tokens=60) for user in USERS]):
        assert reply.finish_reason == "stop"
        assert json.loads(str(reply.text))["label"] in {"M", "F"}


def test_constraints_and_limits_may_differ_within_a_call(llama: str) -> None:
    requests = [ask("hello", FORM, max_tokens=60), ask("hello"), ask("hello", FORM, max_tokens=3)]
    bound, free, cut = answers(generator(llama), requests)
    assert re.fullmatch(FORM.value, str(bound.text))
    assert free == answers(generator(llama), [requests[1]])[0]
    assert cut.finish_reason == "length"
    assert cut.completion_tokens == 3
    assert cut.text
    assert str(bound.text).startswith(cut.text)


def test_a_pattern_that_nothing_can_meet_stops_the_run(llama: str) -> None:
    with pytest.raises(EngineFailure, match="cannot bind"):
        list(generator(llama).generate([ask("hello", Constraint("regex", "(["))]))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_long_prompt_stays_one(llama: str, place: int) -> None:
    users = ["hello", "Yes"]
    users.insert(place, "doctor " * 6000)
    replies = answers(generator(llama), [ask(user) for user in users])
    assert replies[place].reason is Reason.OVER_LONG
    assert replies[place].text is None
    assert "512" in replies[place].detail
    assert str(replies[place].prompt_tokens) in replies[place].detail
    others = [reply for i, reply in enumerate(replies) if i != place]
    assert others == answers(generator(llama), [ask("hello"), ask("Yes")])


def test_a_prompt_of_the_window_s_size_leaves_no_room_and_one_less_leaves_one_token(llama: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(llama)

    def filled(tokens: int) -> str:
        text = "x" * tokens
        while len(tokenizer(text + "\n")["input_ids"]) > tokens:
            text = text[1:]
        assert len(tokenizer(text + "\n")["input_ids"]) == tokens
        return text

    full, almost = answers(generator(llama), [ask(filled(512), prefix=()), ask(filled(511), prefix=())])
    assert full.reason is Reason.OVER_LONG
    assert almost.completion_tokens == 1
    assert almost.finish_reason == "length"


def test_sampling_is_a_function_of_the_request_alone(llama: str) -> None:
    hot = [ask(user, temperature=1.5, seed=3) for user in USERS]
    alone = [answers(generator(llama), [item])[0].text for item in hot]
    assert [reply.text for reply in answers(generator(llama, batch_size=7), hot)] == alone
    assert [reply.text for reply in answers(generator(llama), hot)] == alone
    other = [reply.text for reply in answers(generator(llama), [ask(user, temperature=1.5, seed=4) for user in USERS])]
    assert other != alone
    bound = answers(generator(llama), [ask(user, FORM, temperature=1.5, top_p=0.9, max_tokens=60) for user in USERS])
    assert all(re.fullmatch(FORM.value, str(reply.text)) for reply in bound)
    assert len({reply.text for reply in bound}) > 1


def test_draws_follow_the_softmax_and_top_p_cuts_the_tail() -> None:
    logits = torch.log(torch.tensor([0.5, 0.3, 0.15, 0.05]))
    row = Row(prompt=[1], decoding=Decoding(temperature=1.0), limit=1, ends=frozenset())
    noise = _noise(row)
    counts = torch.bincount(torch.tensor([_sampled(logits, row, noise) for _ in range(4000)]), minlength=4) / 4000
    assert torch.allclose(counts, torch.tensor([0.5, 0.3, 0.15, 0.05]), atol=0.03)
    row.decoding = Decoding(temperature=1.0, top_p=0.75)
    assert {_sampled(logits, row, noise) for _ in range(500)} == {0, 1}
    row.decoding = Decoding(temperature=1.0, top_p=0.1)
    assert {_sampled(logits, row, noise) for _ in range(50)} == {0}
    row.decoding = Decoding(temperature=0.1)
    assert [_sampled(logits, row, noise) for _ in range(200)].count(0) > 180


def test_a_chat_model_gets_its_template(chat_llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = transformers_causal.decode
    monkeypatch.setattr(
        transformers_causal, "decode", lambda forward, rows, *rest: seen.extend(rows) or real(forward, rows, *rest)
    )
    answers(generator(chat_llama), [ask("say {hello} ${x}")])
    tokenizer = transformers.AutoTokenizer.from_pretrained(chat_llama)
    prompt = tokenizer.decode(seen[0].prompt)
    assert prompt.startswith("[system] Translate the following")
    assert prompt.endswith("[user] say {hello} ${x}\n[assistant] ")
    seen.clear()
    answers(generator(chat_llama, format="plain"), [ask("say {hello} ${x}")])
    assert tokenizer.decode(seen[0].prompt).endswith("say {hello} ${x}\n")


def test_batches_are_handed_out_as_they_are_ready(llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    real = transformers_causal.decode
    monkeypatch.setattr(transformers_causal, "decode", lambda *args: runs.append(1) or real(*args))
    stream = generator(llama, batch_size=2).generate([ask(user) for user in USERS])
    next(stream)
    assert len(runs) == 1
    assert len(list(stream)) == len(USERS) - 1


def test_a_batch_that_does_not_fit_into_memory_is_halved(llama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answers(generator(llama), [ask(user) for user in USERS])
    longest = max(int(reply.prompt_tokens or 0) for reply in expected)
    sizes = []
    real = transformers_causal.decode

    def small_device(forward, rows, shared, pad):
        sizes.append(len(rows))
        if len(rows) > 1 or len(rows[0].prompt) == longest:
            rows[0].take(5)  # a batch may be half done when memory runs out
            raise torch.OutOfMemoryError("out of memory")
        real(forward, rows, shared, pad)

    monkeypatch.setattr(transformers_causal, "decode", small_device)
    found = answers(generator(llama, batch_size=8), [ask(user) for user in USERS])
    assert max(sizes) == 7
    too_big = [reply for reply in found if reply.reason is Reason.TRANSPORT]
    assert len(too_big) == 1
    assert too_big[0].prompt_tokens == longest
    assert "memory" in too_big[0].detail
    assert [reply for reply in found if reply.reason is None] == [
        reply for reply, other in zip(expected, found, strict=True) if other.reason is None
    ]


def test_the_context_needs_no_torch_and_names_what_matters(llama: str) -> None:
    code = (
        "import sys, json; from pytest_gnt.engines.transformers_causal import CausalGenerator;"
        f"made = CausalGenerator({llama!r}, dtype='auto', device='auto'); print(json.dumps(dict(made.context())));"
        "assert not {'torch', 'transformers', 'outlines_core'} & set(sys.modules), 'a heavy import'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    context = json.loads(done.stdout)
    assert context["model"] == llama
    assert context["dtype"] in {"float32", "bfloat16"}
    base = generator(llama).context()
    for change in ({"dtype": "bfloat16"}, {"format": "plain"}, {"template_options": {"x": 1}}):
        assert generator(llama, **change).context() != base
    assert generator(llama, batch_size=9).context() == base


def test_weights_are_loaded_late_once_and_given_back(llama: str) -> None:
    said: list[str] = []
    made = generator(llama, progress=said.append)
    assert list(made.generate([])) == []
    assert said == []
    first = answers(made, [ask("hello")])
    answers(made, [ask("Yes")])
    assert len(said) == 1
    assert "loading" in said[0]
    made.close()
    made.close()
    assert answers(made, [ask("hello")]) == first
    assert len(said) == 2


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"format": "x"}, "format"),
        ({"dtype": "int3"}, "dtype"),
        ({"device": "tpu"}, "device"),
    ],
)
def test_a_wrong_setting_is_refused_before_anything_is_loaded(llama: str, options: dict, match: str) -> None:
    with pytest.raises(GntError, match=match):
        generator(llama, **options)


def test_a_missing_gpu_is_one_clear_error(llama: str) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(EngineFailure, match="sees no GPU"):
        list(generator(llama, device="cuda").generate([ask("hello")]))


def test_a_broken_checkpoint_is_one_clear_error(tmp_path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    with pytest.raises(EngineFailure, match="cannot load model"):
        list(generator(str(tmp_path)).generate([ask("hello")]))


def test_the_packaged_model_translates(real_gemma: str) -> None:
    """End to end on real weights: the form holds, Spanish comes out, and batching changes nothing."""
    shots = [
        ("The head of the school talked to the staff.", "NEUTRAL", "La dirección de la escuela habló con el personal."),
        ("The actress was tired.", "GENDERED", "La actriz estaba cansada."),
        ("The king arrived yesterday.", "GENDERED", "El rey llegó ayer."),
    ]
    prefix = [Message("system", "Translate English into Spanish.")]
    for english, label, spanish in shots:
        prefix += [Message("user", f"<en> [{english}]"), Message("assistant", f"<es> **{label}** [{spanish}]")]
    form = Constraint("regex", r"<es> \*\*(?:NEUTRAL|GENDERED)\*\* \[(?:[^\[\]\n]|\[[^\[\]\n]*\])+\]")
    requests = [
        ask(f"<en> [{text}]", form, prefix=tuple(prefix), max_tokens=60)
        for text in ("The director opened the meeting.", "The lawyer is here.", "Experts say that prices will rise.")
    ]
    made = generator(real_gemma)
    replies = answers(made, requests)
    for reply in replies:
        assert re.fullmatch(form.value, str(reply.text))
        assert reply.finish_reason == "stop"
    assert re.search(r"reunión|sesión|junta", str(replies[0].text))
    assert [answers(made, [item])[0].text for item in requests] == [reply.text for reply in replies]
    made.close()
