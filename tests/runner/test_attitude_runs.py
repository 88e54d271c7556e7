"""Attitude through the command line: servers that tell log-probabilities, that do not, and odd numbers in them."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.metrics.attitude import languages, template
from tests.runner.conftest import House
from tests.stub_server import StubReply, StubRequest, StubServer, completion, error, serve

pytest.importorskip("openai", reason="needs the openai package")

KINDS = {word: +1.0 for lang in languages() for word in template(lang).kind}  # type: ignore[union-attr]
HARSH = {word: -1.0 for lang in languages() for word in template(lang).harsh}  # type: ignore[union-attr]
SCORES = {**KINDS, **HARSH, "humble": 0.5, "umile": 0.4, "servile": -0.6, "stubborn": -0.5, "testardo": -0.4}
"""What the model thinks of each word: the two questions' log-probabilities differ by this."""

REPLIES = {
    "minus-infinity": float("-inf"),
    "not-a-number": float("nan"),
    "nullish": None,
    "sentinel": -9999.0,
    "hundred": -100.0,
    "cut": "cut",
    "bare": "bare",
}
"""What the server sends in place of the log-probability of the answer for each of these words."""

SUITE = """
from pytest_gnt import assert_attitude_kept, cases

@cases("house")
def test_attitude(attitude, quality):
    assert_attitude_kept(attitude)

@cases("house")
def test_translation(translation):
    assert translation.text
"""


def answer(request: StubRequest) -> StubReply:
    """Echo the prompt, word by word, with a log-probability for the answer that depends on word and question."""
    prompt: str = request.body["prompt"]
    question = prompt.splitlines()[-1]
    (lang,) = [lang for lang in ("en", "it") if question.startswith({"en": "Q: Is", "it": "D: La"}[lang])]
    known = template(lang)
    assert known is not None
    shape = re.escape(known.positive).replace(re.escape("{word}"), "(.*)")
    positive = re.match(shape, question)
    found = positive or re.match(re.escape(known.negative).replace(re.escape("{word}"), "(.*)"), question)
    assert found is not None
    word = found[1]
    fault = REPLIES.get(word, 0.0)
    value = fault if word in REPLIES else -1.5 + (1 if positive else -1) * SCORES[word] / 2
    tokens = re.findall(r"\s*\S+", prompt)
    if fault == "bare":
        return completion(prompt)
    values: list[Any] = [None, *[-0.5] * (len(tokens) - 2), value, -3.0]
    logprobs = {"tokens": [*tokens, " no"], "token_logprobs": values[:-2] if fault == "cut" else values}
    return completion(prompt + " no", logprobs=logprobs)


@pytest.fixture
def server() -> Iterator[StubServer]:
    with serve(answer) as running:
        yield running


def write_project(house: House, words: dict[str, str], url: str, *, extra: str = "") -> None:
    """A project whose sentences hold one attitude word each, put into Italian as ``words`` says."""
    rows = [
        f"{place}\tSet-N\tThe person is {word}.\t{word}\t{target}"
        for place, (word, target) in enumerate(words.items(), 1)
    ]
    house.write("house.tsv", "\n".join(["id\tset\tsource\tattitude_word\tattitude_renderings", *rows]) + "\n")
    translations = [
        f"house/en-it/{place}\tQuesta persona si mostra davvero {target}."
        for place, target in enumerate(words.values(), 1)
    ]
    house.write("mine.tsv", "\n".join(["case_id\ttranslation", *translations]) + "\n")
    house.write("test_house.py", SUITE)
    house.write(
        "gnt.toml",
        '[corpora.house]\npath = "house.tsv"\nlang = "it"\n[models.mine]\nbackend = "recorded"\npath = "mine.tsv"\n'
        f'[attitude_models.served]\nkind = "openai"\nmodel = "m"\nbase_url = "{url}"\n{extra}',
    )


def run(house: House, *arguments: str) -> pytest.RunResult:
    return house.run("--gnt-attitude-model=served", "--gnt-max-unscored-rate=1", *arguments)


def strict(text: str) -> Any:
    """JSON, and nothing that only Python reads as such."""

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_a_served_model_scores_the_words_of_a_run(house: House, server: StubServer) -> None:
    words = {"humble": "servile", "stubborn": "testardo"}
    write_project(house, words, server.url, extra="calibrate = false\n")
    result = run(house)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    turned, kept = (house.cases()[f"house/en-it/{place}"]["attitude"] for place in (1, 2))
    assert (turned["source_score"], turned["target_score"]) == (pytest.approx(0.5), pytest.approx(-0.6))
    assert (kept["source_score"], kept["target_score"]) == (pytest.approx(-0.5), pytest.approx(-0.4))
    assert "humble +0.50 → servile -0.60" in result.stdout.str()
    asked = len(server.requests)
    assert asked == 2 * 4, "each word once, two questions"
    run(house)
    assert len(server.requests) == asked, "what is stored is not asked again"


def test_calibrated_scores_are_on_the_scale_of_the_kind_and_harsh_words(house: House, server: StubServer) -> None:
    write_project(house, {"humble": "umile"}, server.url)
    assert run(house).ret == 0
    found = house.cases()["house/en-it/1"]["attitude"]
    # Kind words score 1, harsh ones -1: the scale is the raw one.
    assert (found["source_score"], found["target_score"]) == (pytest.approx(0.5), pytest.approx(0.4))
    assert [(row["lang"], row["auc"]) for row in house.summary()["attitude"]["calibration"]] == [
        ("en", 1.0),
        ("it", 1.0),
    ]


def test_numbers_that_are_none_leave_their_words_unscored(house: House, server: StubServer) -> None:
    words = {"humble": "umile"} | {f"odd{place}": word for place, word in enumerate(REPLIES)}
    SCORES.update({word: 0.5 for word in words if word.startswith("odd")})
    write_project(house, words, server.url)
    result = run(house, "--junitxml=junit.xml")
    assert result.ret == 0, result.stdout.str()
    text = (house.path / "gnt-report" / "cases.jsonl").read_text(encoding="utf-8")
    records = {record["attitude_word"]: record["attitude"] for record in map(strict, text.splitlines())}
    assert records["humble"]["target_score"] == pytest.approx(0.4)
    told = {words[word]: found for word, found in records.items() if word != "humble"}
    for word in ("minus-infinity", "not-a-number", "nullish", "sentinel", "hundred"):
        assert told[word]["reason"] == "not-finite", word
        assert told[word]["target_score"] is None
    assert "-Infinity" in told["minus-infinity"]["detail"]
    assert "NaN" in told["not-a-number"]["detail"]
    assert "null" in told["nullish"]["detail"]
    assert "-9999" in told["sentinel"]["detail"]
    assert "-100" in told["hundred"]["detail"]
    for word in ("cut", "bare"):
        assert told[word]["reason"] == "no-log-probabilities", word
    assert told["cut"]["detail"] != told["bare"]["detail"]
    summary = strict((house.path / "gnt-report" / "report.json").read_text(encoding="utf-8"))
    assert summary["unscored"] == {"not-finite": 5, "no-log-probabilities": 2}
    assert summary["counts"]["passed"] == len(words) + 1, "every translation, and the one attitude"
    # What another attempt could mend is asked again, the rest is not.
    before = len(server.requests)
    run(house)
    asked = {request.body["prompt"].splitlines()[-1].split()[3] for request in server.requests[before:]}
    assert asked == {"cut", "bare"}


def test_a_server_without_log_probabilities_leaves_attitude_unscored_and_the_rest_goes_on(
    house: House, server: StubServer
) -> None:
    def refuse(request: StubRequest) -> StubReply:
        refused = "logprobs" if "logprobs" in request.body else "prompt_logprobs"
        return error(400, f"'{refused}' is not supported with this model", "unsupported_parameter", refused)

    server.script = refuse
    write_project(house, {"humble": "umile", "stubborn": "testardo"}, server.url)
    result = run(house)
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    assert len(server.requests) == 2
    output = result.stdout.str()
    assert output.count("attitude is not measured:") == 1, output
    summary = house.summary()
    assert summary["unscored"] == {"no-log-probabilities": 2}
    assert summary["counts"]["passed"] == 2
    for record in house.cases().values():
        assert "gives no log-probabilities for prompts" in record["attitude"]["detail"]
        assert record["attitude"]["source_score"] is None
    server.script = answer
    assert run(house).ret == 0
    assert "unscored" not in house.summary() or not house.summary()["unscored"], "nothing of it was stored"


def test_a_model_that_cannot_be_calibrated_leaves_its_language_unscored(house: House, server: StubServer) -> None:
    def no_harsh(request: StubRequest) -> StubReply:
        reply = answer(request)
        if any(f" {word} " in request.body["prompt"].splitlines()[-1] for word in template("it").harsh):  # type: ignore[union-attr]
            reply.body["choices"][0]["logprobs"]["token_logprobs"][-2] = -math.inf
        return reply

    server.script = no_harsh
    write_project(house, {"humble": "umile"}, server.url)
    result = run(house)
    assert result.ret == 0, result.stdout.str()
    found = house.cases()["house/en-it/1"]["attitude"]
    assert found["reason"] == "undecided"
    assert "0 harsh calibration words of 'it'" in found["detail"]
    assert found["source_score"] == pytest.approx(0.5), "English has its scale"
    assert "0 harsh calibration words of 'it'" in result.stdout.str()


OWN = """
[attitude_templates.sw]
positive = "S: Je, neno {word} ni {zuri}? J:"
negative = "S: Je, neno {word} ni baya? J:"
yes = " Ndiyo"
no = " Hapana"
kind = ["mwema", "mpole", "mkarimu", "mwaminifu", "shujaa"]
harsh = ["katili", "mbaya", "mwongo", "mvivu", "mkali"]
"""


def test_a_template_with_an_unknown_placeholder_is_refused_at_start(house: House, server: StubServer) -> None:
    write_project(house, {"humble": "umile"}, server.url, extra=OWN)
    result = run(house)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "gnt.toml [attitude_templates.sw] positive" in result.stderr.str()
    assert "unknown placeholder {zuri}" in result.stderr.str()
    assert not server.requests


def test_an_own_template_is_sent_as_it_is_written_and_is_in_the_signature(house: House, server: StubServer) -> None:
    table = """
[attitude_templates.it]
positive = "D: Set {1, 2}, ${x} e {word}: bello? R:"
negative = "D: Set {1, 2}, ${x} e {word}: brutto? R:"
yes = " Certo"
kind = ["uno", "due", "tre", "quattro", "cinque"]
harsh = ["sei", "sette", "otto", "nove", "dieci"]

[run]
delta = 0.3
""".replace("${x}", "$x")

    def script(request: StubRequest) -> StubReply:
        prompt = request.body["prompt"]
        if not prompt.startswith("D: Set"):
            return answer(request)
        known = {"uno": 1, "due": 1, "tre": 1, "quattro": 1, "cinque": 1, "umile": 0.4}
        (word,) = re.findall(r"\$x e (\w+):", prompt)
        value = -2 + (1 if "bello" in prompt else -1) * known.get(word, -1) / 2
        tokens = re.findall(r"\s*\S+", prompt)
        return completion(
            prompt + " no", logprobs={"tokens": tokens, "token_logprobs": [*[-1] * (len(tokens) - 1), value]}
        )

    write_project(house, {"humble": "umile"}, server.url)
    assert run(house).ret == 0
    (shipped,) = house.summary()["signature"].values()
    write_project(house, {"humble": "umile"}, server.url, extra=table)
    server.script = script
    result = run(house)
    assert result.ret == 0, result.stdout.str()
    sent = {request.body["prompt"] for request in server.requests}
    assert "D: Set {1, 2}, $x e umile: bello? R: Certo" in sent
    assert house.cases()["house/en-it/1"]["attitude"]["target_score"] == pytest.approx(0.4)
    (own,) = house.summary()["signature"].values()
    assert part(shipped).endswith(".calibrated.d0.2")
    assert part(own).endswith(".calibrated.d0.3")
    assert part(own).partition(".")[0] != part(shipped).partition(".")[0]


def part(signature: str) -> str:
    return dict(one.split(":", 1) for one in signature.split("|"))["attitude"]


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="the transformers extra is not installed")
def test_a_word_has_the_same_score_from_transformers_and_from_a_server(house: House, tmp_path: Path) -> None:
    """The server runs the same tiny checkpoint, one prompt at a time, and echoes as vLLM's does."""
    import torch
    import transformers

    from tests.tiny_models import save_llama

    folder = save_llama(tmp_path / "llama", chat_template=None)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def script(request: StubRequest) -> StubReply:
        ids = tokenizer(request.body["prompt"])["input_ids"]
        with torch.inference_mode():
            table = network(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        values = [None, *(float(table[place - 1, ids[place]]) for place in range(1, len(ids)))]
        tokens = [tokenizer.decode([one], clean_up_tokenization_spaces=False) for one in ids]
        body = {"tokens": [*tokens, "next"], "token_logprobs": [*values, -1.0]}
        reply = completion(request.body["prompt"] + "next", logprobs=body)
        return StubReply(body={**reply.body, "usage": {"completion_tokens": 1}})

    words = {"humble": "umile", "stubborn": "testardo", "door-opening": "perché così"}
    with serve(script) as running:
        local = (
            f'[attitude_models.local]\nkind = "transformers"\nmodel = "{folder}"\ndevice = "cpu"\ncalibrate = false\n'
        )
        write_project(house, words, running.url, extra="calibrate = false\n" + local)
        run(house)
        served = house.cases()
    house.run("--gnt-attitude-model=local", "--gnt-max-unscored-rate=1")
    for name, record in house.cases().items():
        for which in ("source_score", "target_score"):
            assert record["attitude"][which] == pytest.approx(served[name]["attitude"][which], abs=1e-4), name
