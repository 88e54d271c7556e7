"""A BERT checkpoint as awesome-align uses it: sub-words with the word that each belongs to, and links between them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pytest_gnt.engines.devices import wait_without_spinning
from pytest_gnt.engines.weights import Weights, require
from pytest_gnt.errors import EngineFailure, GntError
from pytest_gnt.metrics.alignment.tokens import Token

_MARGIN = 0.02
"""A probability this near to the threshold, relative to it, might fall on the other side in another batch."""
_SHAPE = (
    "vocab_size",
    "hidden_size",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "max_position_embeddings",
    "type_vocab_size",
    "layer_norm_eps",
)
_FILES = ("config.json", "vocab.txt", "tokenizer.json", "tokenizer_config.json")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")


@dataclass(frozen=True, slots=True)
class Row:
    """One sentence in sub-words: their ids with the special tokens around them, and the word of each between these."""

    ids: tuple[int, ...]
    words: tuple[int, ...]


class SubWords(Protocol):
    """Cuts words into a checkpoint's vocabulary."""

    begin: int
    end: int
    padding: int

    def ids(self, word: str, *, after_blank: bool) -> list[int]: ...


class BertAligner:
    """Word alignment by the similarity of contextual embeddings (Dou and Neubig 2021, section 2.1, softmax extraction).

    Model and extraction are the library's own. A link stands where both softmaxes, over the source and over the target,
    exceed the threshold. Only the layers up to the one that is asked for are loaded.

    Args:
        weights: where the checkpoint is.
        layer: the layer whose hidden states are compared, from 1.
        threshold: see above.
        device: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises:
        GntError: a package is missing, or the checkpoint is not a BERT or has fewer layers. EngineFailure: its files
            cannot be read.
    """

    def __init__(self, weights: Weights, *, layer: int, threshold: float, device: str) -> None:
        wait_without_spinning()
        folder = _folder(weights)
        config = _read_json(folder / "config.json")
        if config.get("model_type") != "bert":
            raise GntError(
                f"{weights.location} is a {config.get('model_type')!r} checkpoint: awesome-align needs one of type bert"
            )
        if config["num_hidden_layers"] < layer:
            raise GntError(f"{weights.location} has {config['num_hidden_layers']} layers: layer = {layer} is too high")
        self._threshold, self._layer, self._device = threshold, layer, device
        self.window = int(config["max_position_embeddings"])
        self._sub_words = _sub_words(folder, config)
        self._library, self._model, self._links = _model(folder, config, layer, device)

    def row(self, text: str, tokens: Sequence[Token]) -> Row:
        """A sentence in sub-words. A word that the vocabulary has nothing for leaves no trace in it."""
        ids: list[int] = []
        words: list[int] = []
        for place, token in enumerate(tokens):
            pieces = self._sub_words.ids(token.text, after_blank=token.start == 0 or text[token.start - 1].isspace())
            ids += pieces
            words += [place] * len(pieces)
        return Row((self._sub_words.begin, *ids, self._sub_words.end), tuple(words))

    def links(self, sources: Sequence[Row], targets: Sequence[Row]) -> list[set[tuple[int, int]]]:
        """The linked words of each pair of sentences, whatever other pairs are in the batch.

        Sums of floating-point numbers differ in the last digits from batch to batch. A pair for which that could decide
        a link is computed again by itself.
        """
        found, doubtful = self._batch(sources, targets)
        if len(sources) > 1:
            for place in doubtful:
                (found[place],), _ = self._batch(sources[place : place + 1], targets[place : place + 1])
        return found

    def _batch(self, sources: Sequence[Row], targets: Sequence[Row]) -> tuple[list[set[tuple[int, int]]], list[int]]:
        import torch

        library = self._library
        # The library reads them from its module; another user of it in this process may have set others.
        library.PAD_ID, library.CLS_ID, library.SEP_ID = (
            self._sub_words.padding,
            self._sub_words.begin,
            self._sub_words.end,
        )
        ids = [self._padded(rows) for rows in (sources, targets)]
        with torch.inference_mode():
            states = [
                self._model(each, align_layer=self._layer, attention_mask=each != self._sub_words.padding)
                for each in ids
            ]
            linked, fewer, more = (
                self._links(*states, *ids, extraction="softmax", softmax_threshold=self._threshold * factor)
                for factor in (1.0, 1 + _MARGIN, 1 - _MARGIN)
            )
            doubtful = (fewer != more).flatten(1).any(1).nonzero().flatten().tolist()
            pairs = linked[:, 0, 1:-1, 1:-1].nonzero().tolist()
        found: list[set[tuple[int, int]]] = [set() for _ in sources]
        for row, i, j in pairs:
            if i < len(sources[row].words) and j < len(targets[row].words):
                found[row].add((sources[row].words[i], targets[row].words[j]))
        return found, doubtful

    def _padded(self, rows: Sequence[Row]) -> Any:
        import torch

        width = max(len(row.ids) for row in rows)
        padded = [[*row.ids, *[self._sub_words.padding] * (width - len(row.ids))] for row in rows]
        return torch.tensor(padded, dtype=torch.long, device=self._device)


class _WordPieces:
    """The library's own tokenizer, over a ``vocab.txt``."""

    def __init__(self, folder: Path) -> None:
        from awesome_align.tokenization_bert import BertTokenizer

        settings = _read_json(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").is_file() else {}
        vocabulary = folder / "vocab.txt"
        lower = settings.get("do_lower_case")
        if lower is None:
            pieces = vocabulary.read_text(encoding="utf-8").split("\n")
            lower = not any(piece.isalpha() and piece != piece.lower() for piece in pieces)
        self._tokenizer = BertTokenizer(str(vocabulary), do_lower_case=lower)
        tokenizer = self._tokenizer
        self.begin, self.end, self.padding = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id

    def ids(self, word: str, *, after_blank: bool) -> list[int]:
        del after_blank
        ids: list[int] = self._tokenizer.convert_tokens_to_ids(self._tokenizer.tokenize(word))
        return ids


class _Pieces:
    """Any tokenizer of the ``tokenizers`` library, over a ``tokenizer.json``."""

    def __init__(self, folder: Path, padding: int) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.begin, self.end = self._tokenizer.encode("").ids
        self.padding = padding
        self._blank = self._tokenizer.token_to_id("▁")

    def ids(self, word: str, *, after_blank: bool) -> list[int]:
        """SentencePiece puts a blank in front of what it is given; it goes where the text has none."""
        ids: list[int] = self._tokenizer.encode(word, add_special_tokens=False).ids
        return ids[1:] if ids and ids[0] == self._blank and not after_blank else ids


def _sub_words(folder: Path, config: dict[str, Any]) -> SubWords:
    if (folder / "vocab.txt").is_file():
        return _WordPieces(folder)
    if (folder / "tokenizer.json").is_file():
        return _Pieces(folder, int(config.get("pad_token_id") or 0))
    raise GntError(f"{folder} holds neither vocab.txt nor tokenizer.json: not a complete BERT checkpoint")


def _model(folder: Path, config: dict[str, Any], layer: int, device: str) -> tuple[Any, Any, Any]:
    """The library's module, its encoder with the checkpoint's weights, and its extraction."""
    import torch
    from awesome_align import modeling
    from awesome_align.configuration_bert import BertConfig

    shape = BertConfig(**{name: config[name] for name in _SHAPE if name in config}, num_hidden_layers=layer)
    model = modeling.BertModel(shape)
    state = _plain(_state(folder))
    missing = [name for name in model.state_dict() if name not in state]
    if missing:
        raise EngineFailure(f"{folder} has no weights for {missing[0]}: not a BERT checkpoint")
    try:
        model.load_state_dict({name: state[name] for name in model.state_dict()})
    except RuntimeError as error:
        raise EngineFailure(f"the weights in {folder} do not fit its config.json: {error}") from error
    if device != "cpu" and not torch.cuda.is_available():
        raise EngineFailure(f"the aligner shall run on {device!r}, but this torch sees no GPU: set device = 'cpu'")
    return modeling, model.float().eval().to(device), modeling.BertGuideHead(shape)


def _state(folder: Path) -> dict[str, Any]:
    import torch

    for name in _WEIGHTS:
        if (folder / name).is_file():
            break
    else:
        raise GntError(f"{folder} holds neither {_WEIGHTS[0]} nor {_WEIGHTS[1]}")
    try:
        if name.endswith(".safetensors"):
            from safetensors.torch import load_file

            return dict(load_file(folder / name))
        return dict(torch.load(folder / name, map_location="cpu", weights_only=True))
    except Exception as error:  # both readers have errors of their own, and a damaged file brings forth any
        raise EngineFailure(f"cannot read the weights in {folder / name}: {error}") from error


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    """Names as the encoder has them, whatever model the checkpoint was saved from and however old it is."""
    return {
        name.removeprefix("bert.")
        .replace("LayerNorm.gamma", "LayerNorm.weight")
        .replace("LayerNorm.beta", "LayerNorm.bias"): tensor
        for name, tensor in state.items()
    }


def _folder(weights: Weights) -> Path:
    """The folder of the checkpoint's files, fetched from the hub where they are not here."""
    if weights.hub_commit is None:
        return Path(weights.location)
    require("huggingface_hub", "align", f"model {weights.location!r}")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        wanted = [*_FILES, _WEIGHTS[0]]
        folder = Path(snapshot_download(weights.location, revision=weights.hub_commit, allow_patterns=wanted))
        if not (folder / _WEIGHTS[0]).is_file():
            snapshot_download(weights.location, revision=weights.hub_commit, allow_patterns=[_WEIGHTS[1]])
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise EngineFailure(f"cannot fetch {weights.location!r} from the model hub: {error}") from error
    return folder


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EngineFailure(f"cannot read {path}: {error}") from error
    if not isinstance(data, dict):
        raise EngineFailure(f"{path} does not hold a table")
    return data
