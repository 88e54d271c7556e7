"""Unpacking a BERT whose matrices lie in blocks of 4-bit numbers."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from pytest_gnt.engines.packed_bert import unpack
from pytest_gnt.errors import EngineFailure

HIDDEN, LAYERS, INNER, VOCABULARY = 32, 1, 64, 8
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁stubborn", "固", "执"]


def packed(path: Path, *, magic: bytes = b"E5S1", block: int = 32) -> dict[str, np.ndarray]:
    """Write such a file; its tensors as they should come out."""
    rng = np.random.default_rng(5)
    shapes = {"emb.word": (VOCABULARY, HIDDEN), "emb.pos": (16, HIDDEN), "emb.type": (2, HIDDEN)}
    shapes |= {"emb.ln.w": (HIDDEN,), "emb.ln.b": (HIDDEN,)}
    sizes = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN), "ao": (HIDDEN, HIDDEN)}
    sizes |= {"fi": (INNER, HIDDEN), "fo": (HIDDEN, INNER), "aln": (HIDDEN,), "oln": (HIDDEN,)}
    for name, shape in sizes.items():
        shapes |= {f"l0.{name}.w": shape, f"l0.{name}.b": shape[:1]}
    blob = "".join(PIECES).encode()
    ends = np.cumsum([0, *(len(piece.encode()) for piece in PIECES)])
    head = magic + struct.pack("<I7ifi", 1, HIDDEN, LAYERS, 2, INNER, VOCABULARY, 16, 2, 1e-12, block)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob))
    head += ends.astype("<u4").tobytes() + np.linspace(0, -1, len(PIECES)).astype("<f4").tobytes() + blob
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0xFF21, 1, 0x21)
    tensors: dict[str, np.ndarray] = {}
    parts: list[tuple[str, int, bytes]] = []
    for name, shape in shapes.items():
        if len(shape) > 1 and name not in ("emb.pos", "emb.type"):
            numbers = rng.integers(0, 16, (int(np.prod(shape)) // 32, 32), dtype=np.uint8)
            scales = rng.uniform(0.1, 1, len(numbers)).astype("<f2")
            tensors[name] = ((numbers.astype(np.float32) - 8) * scales.astype(np.float32)[:, None]).reshape(shape)
            rows = zip(scales, numbers[:, :16] | numbers[:, 16:] << 4, strict=True)
            parts.append((name, 1, b"".join(scale.tobytes() + row.tobytes() for scale, row in rows)))
        else:
            tensors[name] = rng.normal(size=shape).astype("<f4")
            parts.append((name, 0, tensors[name].tobytes()))
    directory = sum(2 + len(name) + 1 + 4 + 8 + 8 for name, _, _ in parts) + 4
    offset = len(head) + directory
    table = struct.pack("<i", len(parts))
    for name, kind, data in parts:
        table += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", kind, 0, offset, len(data))
        offset += len(data)
    path.write_bytes(head + table + b"".join(data for _, _, data in parts))
    return tensors


def test_weights_and_tokenizer_come_out_as_they_were(tmp_path: Path) -> None:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tensors = packed(tmp_path / "packed.bin")
    unpack(tmp_path / "packed.bin", tmp_path / "out")
    found = load_file(tmp_path / "out/model.safetensors")
    names = {
        "emb.word": "embeddings.word_embeddings.weight",
        "emb.type": "embeddings.token_type_embeddings.weight",
        "emb.ln.b": "embeddings.LayerNorm.bias",
        "l0.q.w": "encoder.layer.0.attention.self.query.weight",
        "l0.fi.b": "encoder.layer.0.intermediate.dense.bias",
        "l0.fo.w": "encoder.layer.0.output.dense.weight",
        "l0.oln.w": "encoder.layer.0.output.LayerNorm.weight",
    }
    assert len(found) == len(tensors)
    for short, name in names.items():
        np.testing.assert_array_equal(found[name], tensors[short])
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert (config["model_type"], config["num_hidden_layers"], config["pad_token_id"]) == ("bert", 1, 1)
    tokenizer = Tokenizer.from_file(str(tmp_path / "out/tokenizer.json"))
    assert tokenizer.encode("stubborn 固执！").tokens == ["<s>", "▁stubborn", "▁", "固", "执", "!", "</s>"]


@pytest.mark.parametrize("change", [{"magic": b"GGUF"}, {"block": 64}])
def test_another_file_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    packed(tmp_path / "packed.bin", **change)  # type: ignore[arg-type]
    with pytest.raises(EngineFailure, match=r"cannot unpack packed\.bin"):
        unpack(tmp_path / "packed.bin", tmp_path / "out")


def test_a_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    packed(tmp_path / "packed.bin")
    whole = (tmp_path / "packed.bin").read_bytes()
    for size in (3, 6, 60, len(whole) // 2, len(whole) - 1):
        (tmp_path / "packed.bin").write_bytes(whole[:size])
        with pytest.raises(EngineFailure, match="cannot unpack"):
            unpack(tmp_path / "packed.bin", tmp_path / f"out{size}")
