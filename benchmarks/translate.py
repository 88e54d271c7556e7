"""What the transformers backend costs or saves: its translate stage against a hand-written batch loop.

    python benchmarks/translate.py [--model pkg:gemma3-270m] [--langs it,es] [--dtype bfloat16] [--turns 2]

Both sides translate the shipped sample's sentences (24 a language, 4 shots, replies bound to the asked form, greedy)
with the same weights in memory and one thread, in turns; CPU time counts, so that other programs on the machine
matter less. The hand-written loop sorts the prompts by length, pads each batch on the left and calls ``generate`` with
a logits processor over outlines-core's masks. The product's time holds all that a run does for a translation:
rendering, tokenizing, generating, storing and reading the reply. The ratio is loop over product: above 1 the product
is faster. (In float32 both give the same replies; bfloat16 rounds differently with the batch, and so do the replies.)
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_gnt.case import Case
from pytest_gnt.corpora.sample import load_mgente
from pytest_gnt.corpora.source import CorpusSource
from pytest_gnt.engines.protocol import Decoding, GenerationRequest
from pytest_gnt.engines.transformers_causal import CausalGenerator
from pytest_gnt.evidence import Translation
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.store import Store
from pytest_gnt.prompts.builder import PromptBuilder
from pytest_gnt.prompts.config import PromptConfig
from pytest_gnt.translators.prompted import PromptedTranslator

GOAL = 0.95


class GuideProcessor:
    """One outlines-core guide a row, and its mask over the vocabulary at every step."""

    def __init__(self, index: Any, rows: int) -> None:
        from outlines_core import Guide

        self.guides = [Guide(index) for _ in range(rows)]
        self.first = True

    def __call__(self, ids: Any, scores: Any) -> Any:
        import torch

        for row, guide in enumerate(self.guides):
            token = int(ids[row, -1])
            if not self.first and (not guide.is_finished() or guide.accepts_tokens([token])):
                guide.advance(token, False)
            packed = torch.zeros((scores.shape[1] + 31) // 32, dtype=torch.int32)
            guide.write_mask_into(packed.data_ptr(), packed.numel(), packed.element_size())
            bits = (packed.unsqueeze(-1) >> torch.arange(32, dtype=torch.int32)) & 1
            scores[row].masked_fill_(~bits.view(-1)[: scores.shape[1]].bool(), float("-inf"))
        self.first = False
        return scores


class Warm(CausalGenerator):
    """Stays in memory between turns: loading is the same for both sides and not measured."""

    def close(self) -> None:
        """Keep the weights."""


class PlainLoop:
    """Sorted batches through ``generate``, with the product's own weights."""

    def __init__(self, generator: CausalGenerator, batch_size: int) -> None:
        from outlines_core import Vocabulary

        from pytest_gnt.engines.constraints import token_bytes

        self.loaded = generator._load()
        self.batch_size = batch_size
        tokenizer = self.loaded.checkpoint.tokenizer
        end = tokenizer.eos_token_id
        self.vocabulary = Vocabulary(end, dict(token_bytes(tokenizer, frozenset({end}))))
        self.indexes: dict[str, Any] = {}

    def run(self, requests: Sequence[GenerationRequest]) -> list[str]:
        """The replies' texts in order."""
        import torch

        tokenizer, model = self.loaded.checkpoint.tokenizer, self.loaded.checkpoint.model
        prompts = [tokenizer(self.loaded.format.render(request.messages))["input_ids"] for request in requests]
        order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
        texts = [""] * len(prompts)
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            width = max(len(prompts[i]) for i in batch)
            padded = [[tokenizer.pad_token_id] * (width - len(prompts[i])) + prompts[i] for i in batch]
            mask = [[0] * (width - len(prompts[i])) + [1] * len(prompts[i]) for i in batch]
            with torch.inference_mode():
                output = model.generate(
                    input_ids=torch.tensor(padded),
                    attention_mask=torch.tensor(mask),
                    do_sample=False,
                    max_new_tokens=requests[0].decoding.max_tokens,
                    logits_processor=[GuideProcessor(self.index(requests[batch[0]]), len(batch))],
                )
            for row, i in enumerate(batch):
                texts[i] = tokenizer.decode(output[row, width:], skip_special_tokens=True)
        return texts

    def index(self, request: GenerationRequest) -> Any:
        """The automaton of a request's form, built once."""
        from outlines_core import Index

        assert request.constraint is not None
        if request.constraint.value not in self.indexes:
            self.indexes[request.constraint.value] = Index(request.constraint.value, self.vocabulary)
        return self.indexes[request.constraint.value]


def product(translator: PromptedTranslator, cases: Sequence[Case]) -> list[Translation]:
    """The product's stage on a fresh store."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store.sqlite")
        found = Executor(store).compute(translator, cases)
        store.close()
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="pkg:gemma3-270m")
    parser.add_argument("--langs", default="it,es")
    parser.add_argument("--prompt", default="none", choices=["none", "G", "S", "G+S"])
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print the translations")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    generator = Warm(options.model, dtype=options.dtype, device="cpu", batch_size=options.batch_size, progress=print)
    prompts = PromptBuilder(PromptConfig(configuration=options.prompt, shots=4, constraint="none"))
    decoding = Decoding(max_tokens=96)
    translator = PromptedTranslator(generator, prompts, decoding=decoding, batch_size=4 * options.batch_size)
    loop = PlainLoop(generator, options.batch_size)
    ratios = []
    for lang in options.langs.split(","):
        cases = load_mgente(CorpusSource(name="mgente", root=Path(), langs=(lang,))).cases
        requests = [translator.work(case).payload for case in cases]
        start = time.process_time()
        loop.index(requests[0])
        generator._load().compiler.matcher(requests[0].constraint)
        print(f"{lang}: both automata built in {time.process_time() - start:.1f} CPU s (not in the ratio)", flush=True)
        for turn in range(options.turns):
            generator._load().forward.close()  # each turn computes the prefix anew
            start, wall = time.process_time(), time.perf_counter()
            found = product(translator, cases)
            mine, mine_wall = time.process_time() - start, time.perf_counter() - wall
            start = time.process_time()
            texts = loop.run(requests)
            bare = time.process_time() - start
            ratios.append(bare / mine)
            same = sum(translation.raw == text for translation, text in zip(found, texts, strict=True))
            cut = sum(translation.finish_reason == "length" for translation in found)
            print(
                f"{lang} turn {turn}: {len(cases)} sentences, ratio {bare / mine:.2f}; product {len(cases) / mine:.2f} "
                f"sentences per CPU second ({len(cases) / mine_wall:.2f} per second), loop {len(cases) / bare:.2f}; "
                f"{same} equal replies, {cut} cut off, {sum(t.text is None for t in found)} unusable",
                flush=True,
            )
        if options.show:
            print(*(f"  {t.case.source}\n    {t.raw}" for t in found), sep="\n")
    print(f"median ratio {statistics.median(ratios):.2f} (goal {GOAL:g})")
    return 0 if statistics.median(ratios) >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
