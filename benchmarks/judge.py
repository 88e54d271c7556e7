"""What the judge stage costs over the bare engine, on the same prompts: prompts, reading, store and progress included.

    python benchmarks/judge.py --backend openai                    # a stub server with 50 ms latency
    python benchmarks/judge.py --backend transformers --model DIR  # a chat model; without --model a tiny random Llama
    python benchmarks/judge.py --backend vllm --model DIR

Prints a Markdown table: seconds for N verdicts by the bare engine (the requests ready made, replies thrown away), by
the stage on an empty store, and by the stage on a full one. The engine is warmed up first; the two kinds of run take
turns, and the smallest time of each counts. Retries are off, so that both sides send the same requests. Beside the
ratio of the wall clock stands that of this process' CPU time, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pytest_gnt.case import Case, Form, Subset  # noqa: E402
from pytest_gnt.config import ModelSettings, OpenAIModel, TransformersModel, VllmModel  # noqa: E402
from pytest_gnt.engines.protocol import Decoding, Generator  # noqa: E402
from pytest_gnt.evidence import Translation  # noqa: E402
from pytest_gnt.judges.llm import LlmJudge  # noqa: E402
from pytest_gnt.judges.retries import RetryPolicy  # noqa: E402
from pytest_gnt.pipeline.executor import Executor  # noqa: E402
from pytest_gnt.pipeline.store import Store  # noqa: E402
from pytest_gnt.runner.engines import make_generator  # noqa: E402

VERDICT = '{"phrases": [{"phrase": "Chi legge", "gender": "N", "gender_correctness": "correct"}], "label": "NEUTRAL"}'
LATENCY = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", choices=("openai", "transformers", "vllm"), default="openai")
    parser.add_argument("--model", help="folder or hub id")
    parser.add_argument("-n", type=int, default=200, help="verdicts (default: 200)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=96)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _model(arguments, Path(folder)) as settings:
        generator = make_generator(None, arguments.backend, settings)
        _measure(arguments, generator, Path(folder))
        generator.close()


@contextmanager
def _model(arguments: argparse.Namespace, folder: Path) -> Iterator[ModelSettings]:
    if arguments.backend == "openai":
        from tests.stub_server import StubReply, StubRequest, chat, serve

        def script(request: StubRequest) -> StubReply:
            del request
            reply = chat(VERDICT)
            return StubReply(body=reply.body, delay=LATENCY)

        with serve(script) as server:
            yield OpenAIModel(model="stub", base_url=server.url)
        return
    model = arguments.model
    if model is None:
        from tests.tiny_models import save_llama

        model = str(save_llama(folder / "llama", window=16384))
    if arguments.backend == "transformers":
        yield TransformersModel(model=model, dtype="float32", device="cpu")
    else:
        yield VllmModel(model=model, max_model_len=16384, enforce_eager=True)


def _measure(arguments: argparse.Namespace, generator: Generator, folder: Path) -> None:
    unclosed = _Open(generator)
    judge = LlmJudge(
        unclosed,
        decoding=Decoding(max_tokens=arguments.max_tokens),
        retry=RetryPolicy(repairs=0, warmer=0),
        batch_size=arguments.n,
    )
    subjects = [_translation(number) for number in range(arguments.n)]
    requests = [judge.work(subject).payload[0] for subject in subjects]
    list(generator.generate(requests[:8]))
    bare, stage, again = [], [], []
    for number in range(arguments.rounds):
        store = Store(folder / f"{number}.sqlite")
        bare.append(_seconds(lambda: list(generator.generate(requests))))
        stage.append(_seconds(lambda store=store: Executor(store).compute(judge, subjects)))  # type: ignore[misc]
        asked = unclosed.requests
        again.append(_seconds(lambda store=store: Executor(store).compute(judge, subjects)))  # type: ignore[misc]
        if unclosed.requests != asked:
            raise AssertionError("a second run on a full store asked the engine")
        store.close()
    print("| backend | verdicts | bare engine | judge stage | bare ÷ stage | by CPU time | from the store |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    wall, cpu = (min(run[place] for run in bare) / min(run[place] for run in stage) for place in (0, 1))
    print(
        f"| {arguments.backend} | {arguments.n} | {min(bare)[0]:.2f} s | {min(stage)[0]:.2f} s | "
        f"{wall:.3f} | {cpu:.3f} | {min(again)[0]:.3f} s |"
    )


class _Open:
    """The engine, kept open from one stage to the next, and how many requests it got."""

    def __init__(self, generator: Generator) -> None:
        self.context = generator.context
        self._generator = generator
        self.requests = 0

    def generate(self, requests):  # type: ignore[no-untyped-def]
        self.requests += len(requests)
        return self._generator.generate(requests)

    def close(self) -> None:
        """Left open: loading is not what is measured."""


def _translation(number: int) -> Translation:
    case = Case(
        id=f"bench/en-it/{number}",
        corpus="bench",
        subset=Subset.SET_N,
        target_lang="it",
        source=f"Whoever reads page {number} of the report will find the figures of the year before.",
        group=str(number),
        expected=Form.NEUTRAL,
    )
    return Translation(
        case=case, text=f"Chi legge pagina {number} della relazione trova le cifre dell'anno precedente."
    )


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Wall clock and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


if __name__ == "__main__":
    main()
