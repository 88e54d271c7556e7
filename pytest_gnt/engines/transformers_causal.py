"""A causal language model in this process, through transformers: prompts in, replies out, in sorted batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_gnt.engines.batching import batches, clusters
from pytest_gnt.engines.chat_format import FormatName, PromptFormat, prompt_format
from pytest_gnt.engines.checkpoints import Checkpoint, unload
from pytest_gnt.engines.constraints import Compiler
from pytest_gnt.engines.decode import Row, decode
from pytest_gnt.engines.forward import Forward
from pytest_gnt.engines.loaded_checkpoint import CheckpointEngine
from pytest_gnt.engines.protocol import GenerationRequest, Reply
from pytest_gnt.engines.weights import Progress
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason


@dataclass(slots=True)
class _Loaded:
    checkpoint: Checkpoint
    forward: Forward
    format: PromptFormat
    compiler: Compiler
    ends: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Prompt:
    ids: list[int]
    stops: tuple[str, ...]


class CausalGenerator(CheckpointEngine[_Loaded]):
    """A `Generator` over a transformers checkpoint; the weights are loaded by the first `generate`.

    Only the decoding that a request states is applied; of a checkpoint's own ``generation_config`` (penalties,
    temperature …) nothing but the end tokens counts.

    Args:
        model: a folder, ``pkg:NAME`` or a hub id; see `pytest_gnt.engines.weights`.
        dtype: ``auto``, ``float32``, ``bfloat16`` or ``float16``.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N`` (an index into the visible devices).
        batch_size: rows in one batch; halved by itself when a GPU's memory does not suffice.
        format: ``chat`` (the model's template), ``plain`` (a transcript), or ``auto``: chat where there is a template.
        template_options: variables for the chat template, e.g. ``{"enable_thinking": False}``.
        progress: told one line whenever the user has to wait for something.

    Raises:
        GntError: an unknown setting.
    """

    def __init__(
        self,
        model: str,
        *,
        dtype: str = "auto",
        device: str = "auto",
        batch_size: int = 16,
        format: FormatName = "auto",
        template_options: Mapping[str, object] | None = None,
        progress: Progress | None = None,
    ) -> None:
        if format not in ("auto", "chat", "plain"):
            raise GntError(f"format {format!r} is unknown: use auto, chat or plain")
        super().__init__(model, dtype=dtype, device=device, batch_size=batch_size, progress=progress)
        self._format = format
        self._template_options = dict(template_options or {})

    def context(self) -> Mapping[str, object]:
        return {**self._context(), "format": self._format, "template_options": self._template_options}

    def generate(self, requests: Sequence[GenerationRequest]) -> Iterator[tuple[int, Reply]]:
        if not requests:
            return
        loaded = self._load()
        prompts = _Prompts(loaded).read(requests)
        fitting: dict[object, list[int]] = defaultdict(list)
        for index, prompt in enumerate(prompts):
            if isinstance(prompt, Reply):
                yield index, prompt
            else:
                fitting[requests[index].constraint].append(index)
        # One constraint after another: rows of one batch then end at about the same length.
        for indices in fitting.values():
            rows = [prompts[index] for index in indices]
            yield from self._run(loaded, indices, [row for row in rows if isinstance(row, _Prompt)], requests)

    def _prepared(self, checkpoint: Checkpoint) -> _Loaded:
        ends = end_tokens(checkpoint)
        return _Loaded(
            checkpoint,
            Forward(checkpoint),
            prompt_format(checkpoint.tokenizer, self._format, self._template_options),
            Compiler(checkpoint.tokenizer, ends),
            ends,
        )

    def _release(self, loaded: _Loaded) -> None:
        loaded.forward.close()

    def _run(
        self, loaded: _Loaded, indices: Sequence[int], prompts: Sequence[_Prompt], requests: Sequence[GenerationRequest]
    ) -> Iterator[tuple[int, Reply]]:
        def rows_of(places: Sequence[int]) -> list[Row]:
            return [self._row(loaded, prompts[place], requests[indices[place]]) for place in places]

        for cluster in clusters([prompt.ids for prompt in prompts]):
            for batch in batches(cluster, self._batch_size):
                for place, row in _decoded(loaded, batch, rows_of, cluster.shared):
                    yield indices[place], _reply(loaded, row, prompts[place].stops)

    def _row(self, loaded: _Loaded, prompt: _Prompt, request: GenerationRequest) -> Row:
        window = loaded.checkpoint.window
        room = request.decoding.max_tokens if window is None else window - len(prompt.ids)
        tokenizer = loaded.checkpoint.tokenizer
        return Row(
            prompt=prompt.ids,
            decoding=request.decoding,
            limit=min(request.decoding.max_tokens, room),
            ends=loaded.ends,
            matcher=loaded.compiler.matcher(request.constraint) if request.constraint else None,
            stopped=(lambda new: _stop_at(decoded(tokenizer, new), prompt.stops) is not None) if prompt.stops else None,
        )


class _Prompts:
    """Renders and tokenizes requests; one that does not fit the model's window becomes a reply with the reason."""

    def __init__(self, loaded: _Loaded) -> None:
        self._loaded = loaded
        self._stops = lru_cache(maxsize=256)(loaded.format.stop_texts)

    def read(self, requests: Sequence[GenerationRequest]) -> list[_Prompt | Reply]:
        return [self._prompt(request) for request in requests]

    def _prompt(self, request: GenerationRequest) -> _Prompt | Reply:
        checkpoint, form = self._loaded.checkpoint, self._loaded.format
        text = form.render(request.messages)
        ids = checkpoint.tokenizer(text, add_special_tokens=form.adds_special_tokens, verbose=False)["input_ids"]
        if checkpoint.window is not None and len(ids) >= checkpoint.window:
            return Reply(
                text=None,
                reason=Reason.OVER_LONG,
                detail=f"the prompt has {len(ids)} tokens; the model's window is {checkpoint.window}, reply included",
                prompt_tokens=len(ids),
            )
        if not ids:
            return Reply(text=None, reason=Reason.EMPTY, detail="the prompt is empty", prompt_tokens=0)
        return _Prompt(list(ids), () if request.constraint else self._stops(request.prefix))


def end_tokens(checkpoint: Checkpoint) -> frozenset[int]:
    """Every token that ends a reply: the tokenizer's, and those of the checkpoint's generation settings.

    Raises:
        GntError: there is none, so that no reply could end.
    """
    stated = getattr(checkpoint.model.generation_config, "eos_token_id", None)
    ends = set(stated) if isinstance(stated, list | tuple) else {stated}
    ends |= {checkpoint.tokenizer.eos_token_id}
    found = frozenset(int(end) for end in ends if end is not None)
    if not found:
        raise GntError("the model's tokenizer names no end token, so its replies could not end: use another checkpoint")
    return found


def _decoded(
    loaded: _Loaded, places: Sequence[int], rows_of: Callable[[Sequence[int]], list[Row]], shared: int
) -> Iterator[tuple[int, Row]]:
    """Decode a batch, or its halves where memory does not suffice. A row that does not fit alone stays unfinished."""
    import torch

    rows = rows_of(places)
    try:
        decode(loaded.forward, rows, shared, loaded.checkpoint.tokenizer.pad_token_id)
    except torch.OutOfMemoryError:
        del rows
        unload()
        if len(places) == 1:
            yield places[0], rows_of(places)[0]
            return
        middle = len(places) // 2
        yield from _decoded(loaded, places[:middle], rows_of, shared)
        yield from _decoded(loaded, places[middle:], rows_of, shared)
        return
    yield from zip(places, rows, strict=True)


def _reply(loaded: _Loaded, row: Row, stops: tuple[str, ...]) -> Reply:
    if row.finish is None:
        return Reply(
            text=None,
            reason=Reason.TRANSPORT,
            detail=f"the device's memory does not hold a prompt of {len(row.prompt)} tokens",
            prompt_tokens=len(row.prompt),
        )
    text = decoded(loaded.checkpoint.tokenizer, row.new)
    return Reply(
        text=_before_stop(text, stops) if row.finish == "stop" else text,
        finish_reason=row.finish,
        prompt_tokens=len(row.prompt),
        completion_tokens=len(row.new),
    )


def decoded(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Tokens as text, without special tokens and without any tidying of blanks."""
    return str(tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def _stop_at(text: str, stops: tuple[str, ...]) -> int | None:
    """Where the first stop text begins behind the first visible character; None where there is none."""
    begin = len(text) - len(text.lstrip())
    found = [place for stop in stops if (place := text.find(stop, begin)) >= 0]
    return min(found, default=None)


def _before_stop(text: str, stops: tuple[str, ...]) -> str:
    place = _stop_at(text, stops)
    return text if place is None else text[:place]
