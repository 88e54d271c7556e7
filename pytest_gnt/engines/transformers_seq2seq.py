"""An encoder-decoder translation model in this process, through transformers: NLLB-200 and MarianMT.

The model gets the bare sentence; the languages are told in the way that the checkpoint's vocabulary shows it to know:
FLORES-200 code tokens (NLLB), a ``>>xxx<<`` token before the sentence (multilingual MarianMT), or not at all (a
MarianMT model for one pair).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_gnt.engines.batching import Cluster, batches
from pytest_gnt.engines.checkpoints import Checkpoint
from pytest_gnt.engines.language_codes import marian_tokens, nllb_code
from pytest_gnt.engines.loaded_checkpoint import CheckpointEngine
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.engines.weights import Progress
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import Reason


@dataclass(frozen=True, slots=True)
class _Route:
    """How one language pair is told to the model.

    Attributes:
        lead: text before each sentence.
        source_code: the tokenizer's source language, where it has that notion.
        first_token: the token that the reply has to begin with.
    """

    lead: str = ""
    source_code: str | None = None
    first_token: int | None = None


class Seq2SeqEngine(CheckpointEngine[Checkpoint]):
    """Translates with an encoder-decoder checkpoint by beam search; the weights are loaded by the first `translate`.

    Args:
        model: a folder or a hub id; see `pytest_gnt.engines.weights`.
        dtype: ``auto``, ``float32``, ``bfloat16`` or ``float16``.
        device: ``auto``, ``cpu``, ``cuda`` or ``cuda:N``.
        batch_size: sentences in one batch.
        num_beams: beams of the search (the AmbGIMT paper's NLLB: 4).
        max_new_tokens: longest reply in tokens (there: 100); a reply that meets it ends with ``length``.
        progress: told one line whenever the user has to wait for something.

    Raises:
        GntError: an unknown or impossible setting.
    """

    _auto_class = "AutoModelForSeq2SeqLM"

    def __init__(
        self,
        model: str,
        *,
        dtype: str = "auto",
        device: str = "auto",
        batch_size: int = 16,
        num_beams: int = 4,
        max_new_tokens: int = 100,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(
            model,
            dtype=dtype,
            device=device,
            batch_size=batch_size,
            progress=progress,
            num_beams=num_beams,
            max_new_tokens=max_new_tokens,
        )
        self._num_beams = num_beams
        self._max_new_tokens = max_new_tokens

    def context(self) -> Mapping[str, object]:
        """Everything about the engine that can change a reply; needs no weights."""
        return {**self._context(), "num_beams": self._num_beams, "max_new_tokens": self._max_new_tokens}

    def translate(self, texts: Sequence[str], src_lang: str, tgt_lang: str) -> Iterator[tuple[int, Reply]]:
        """Translate sentences; every index is yielded once, in any order.

        Args:
            texts: sentences in the source language.
            src_lang: ISO 639-1 code, or the model's own.
            tgt_lang: likewise.

        Raises:
            GntError: the model does not know a language; EngineFailure: it cannot be loaded.
        """
        if not texts:
            return
        checkpoint = self._load()
        route = _route(checkpoint, src_lang, tgt_lang)
        rows, refused = _encoded(checkpoint, route, texts)
        yield from refused.items()
        order = tuple(sorted(rows, key=lambda index: (-len(rows[index]), index)))
        for batch in batches(Cluster(order, 0), self._batch_size):
            replies = self._generate(checkpoint, [rows[index] for index in batch], route)
            yield from zip(batch, replies, strict=True)

    def _prepared(self, checkpoint: Checkpoint) -> Checkpoint:
        # MarianMT's settings force an end token at the limit, which would hide that a reply was cut. None in a call's
        # settings counts as "not set", so it has to go from the model's own.
        checkpoint.model.generation_config.forced_eos_token_id = None
        return checkpoint

    def _generate(self, checkpoint: Checkpoint, rows: Sequence[list[int]], route: _Route) -> list[Reply]:
        import torch

        pad = checkpoint.tokenizer.pad_token_id
        width = max(len(row) for row in rows)
        ids = torch.tensor([row + [pad] * (width - len(row)) for row in rows], dtype=torch.long)
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], dtype=torch.long)
        with torch.inference_mode():
            output = checkpoint.model.generate(
                input_ids=ids.to(checkpoint.device),
                attention_mask=mask.to(checkpoint.device),
                generation_config=self._settings(checkpoint, route),
            )
        return [_reply(checkpoint, row, reply, route) for row, reply in zip(rows, output.tolist(), strict=True)]

    def _settings(self, checkpoint: Checkpoint, route: _Route) -> Any:
        """The checkpoint's own generation settings (bad words, start token), with ours over them."""
        settings = copy.deepcopy(checkpoint.model.generation_config)
        settings.update(
            num_beams=self._num_beams,
            do_sample=False,
            max_new_tokens=self._max_new_tokens,
            max_length=None,
            forced_bos_token_id=route.first_token,
        )
        return settings


def _route(checkpoint: Checkpoint, src_lang: str, tgt_lang: str) -> _Route:
    """Find out from the vocabulary how the model is told the languages.

    Raises:
        GntError: it knows one of them under no name of ours, or it is for another pair.
    """
    tokenizer = checkpoint.tokenizer
    vocabulary = tokenizer.get_vocab()
    if "eng_Latn" in vocabulary:
        source, target = nllb_code(src_lang), nllb_code(tgt_lang)
        for code in (source, target):
            if code not in vocabulary:
                raise GntError(f"the model has no language {code!r}: choose another target language or model")
        return _Route(source_code=source, first_token=vocabulary[target])
    if any(token.startswith(">>") and token.endswith("<<") for token in vocabulary):
        known = next((token for token in marian_tokens(tgt_lang) if token in vocabulary), None)
        if known is None:
            raise GntError(f"the model has no target language {tgt_lang!r}: choose another target language or model")
        return _Route(lead=f"{known} ")
    stated = (getattr(tokenizer, "source_lang", None), getattr(tokenizer, "target_lang", None))
    for name, wanted in zip(stated, (src_lang, tgt_lang), strict=True):
        if name and not _same_language(str(name), wanted):
            raise GntError(f"the model translates {stated[0]}-{stated[1]}, not {src_lang}-{tgt_lang}: choose another")
    return _Route()


def _same_language(name: str, wanted: str) -> bool:
    """Whether a checkpoint's name for a language (``en``, ``eng``) can mean the wanted one; groups (``mul``) can."""
    code = nllb_code(wanted)
    return name.lower() in {wanted.lower(), wanted.lower().partition("-")[0], code[:3], "mul"}


def _encoded(
    checkpoint: Checkpoint, route: _Route, texts: Sequence[str]
) -> tuple[dict[int, list[int]], dict[int, Reply]]:
    """Token ids of the sentences by index, and replies for those that the model cannot take."""
    tokenizer = checkpoint.tokenizer
    if route.source_code is not None:
        tokenizer.src_lang = route.source_code
    rows: dict[int, list[int]] = {}
    refused: dict[int, Reply] = {}
    for index, text in enumerate(texts):
        ids = list(tokenizer(route.lead + text, verbose=False)["input_ids"])
        if checkpoint.window is not None and len(ids) > checkpoint.window:
            detail = f"the sentence has {len(ids)} tokens; the model takes {checkpoint.window}"
            refused[index] = Reply(text=None, reason=Reason.OVER_LONG, detail=detail, prompt_tokens=len(ids))
        elif not text.strip():
            refused[index] = Reply(text=None, reason=Reason.EMPTY, detail="the sentence is empty", prompt_tokens=0)
        else:
            rows[index] = ids
    return rows, refused


def _reply(checkpoint: Checkpoint, row: list[int], output: list[int], route: _Route) -> Reply:
    config = checkpoint.model.generation_config
    stated = config.eos_token_id if config.eos_token_id is not None else checkpoint.tokenizer.eos_token_id
    ends = set(stated) if isinstance(stated, list) else {stated}
    new = output[1:]  # behind the decoder's start token
    length = next((place for place, token in enumerate(new) if token in ends), None)
    reply = new if length is None else new[:length]
    reply = [token for token in reply if token != route.first_token]
    return Reply(
        text=checkpoint.tokenizer.decode(reply, skip_special_tokens=True, clean_up_tokenization_spaces=False).strip(),
        finish_reason="length" if length is None else "stop",
        prompt_tokens=len(row),
        completion_tokens=len(reply),
    )
