"""The process that scores with COMET, in an interpreter of its own: standard library, torch and comet only.

COMET's pins (transformers < 5, numpy < 2) forbid it the environment of the other models, so another interpreter runs
this file as a script; the product is not installed there.

    python comet_worker.py identify '{"model": "Unbabel/wmt22-comet-da", "offline": false}'
    python comet_worker.py score '{"checkpoint": "model.ckpt", "device": "auto", "batch_size": 16, "offline": true}'

``identify`` prints one line and loads no weights. ``score`` prints a line when the model is there, then reads one line
a request, ``{"samples": [{"src": …, "mt": …, "ref": …}, …]}``, and prints one line a sample when its batch is done.
Every line of output is a JSON object with the key ``gnt``; whatever else the libraries print goes to standard error.
"""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

Sample = dict[str, str]
Emit = Callable[[dict[str, Any]], None]

PACKAGES = ("unbabel-comet", "torch", "transformers")
REMEMBERED = 20_000
"""Sentence embeddings kept; 4 KB each for the usual encoders."""
_ERROR_WIDTH = 300


def main(argv: list[str]) -> int:
    """Run one of the two commands; the process' standard output carries the protocol alone."""
    emit = _claim_stdout()
    _leave_own_folder()
    command, options = argv[1], json.loads(argv[2])
    if options.get("offline"):
        os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    if command == "identify":
        emit(identify(options.get("model"), offline=options["offline"]))
        return 0
    try:
        serve(options, sys.stdin.buffer, emit)
    except Exception as error:
        traceback.print_exc()
        emit({"gnt": "failed", "error": _in_words(error)})
        sys.stderr.flush()
        os._exit(1)  # at once: torch takes seconds to leave
    return 0


def _claim_stdout() -> Emit:
    """Keep the pipe for the protocol, and send all that anything else prints to standard error."""
    pipe = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)

    def emit(message: dict[str, Any]) -> None:
        pipe.write(json.dumps(message) + "\n")
        pipe.flush()

    return emit


def _leave_own_folder() -> None:
    """Take this script's folder off the search path: a file there has the name of a package that is needed here."""
    own = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != own]


# --- what would be run ---


class Refusal(Exception):
    """A model that cannot be used, in words for the user."""


def identify(model: str | None, *, offline: bool) -> dict[str, Any]:
    """Versions of this environment and, where a model is named, its checkpoint, class and fingerprint.

    A hub model that is not in the cache is downloaded, unless ``offline``.
    """
    found: dict[str, Any] = {"gnt": "identity", "versions": {name: _version(name) for name in PACKAGES}}
    if model is None or found["versions"]["unbabel-comet"] is None:
        return found
    try:
        checkpoint = _checkpoint(model, offline)
        settings, raw = _settings(checkpoint)
        kind = str(settings.get("class_identifier"))
        reference = kind in ("regression_metric", "xcomet_metric") or (
            kind == "unified_metric" and "ref" in settings.get("input_segments", ("mt", "src", "ref"))
        )
        found.update(checkpoint=str(checkpoint), kind=kind, reference=reference)
        found["fingerprint"] = fingerprint(checkpoint, raw)
    except Refusal as refusal:
        found["refusal"] = str(refusal)
    return found


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _checkpoint(model: str, offline: bool) -> Path:
    path = Path(model).expanduser()
    if path.is_file():
        return path.resolve()
    if not path.is_dir():
        path = _from_hub(model, offline)
    inside = sorted((path / "checkpoints").glob("*.ckpt"))
    if len(inside) != 1:
        raise Refusal(f"{path} holds {len(inside)} files checkpoints/*.ckpt; name one of them, or a folder with one")
    return inside[0]


def _from_hub(model: str, offline: bool) -> Path:
    name, _, revision = model.partition("@")
    if name.count("/") != 1 or name.startswith((".", "~", "/")):
        raise Refusal(f"there is no folder or file {model!r}, and that is not a hub id (owner/name)")
    from huggingface_hub import snapshot_download

    def fetch(local: bool) -> Path:
        return Path(snapshot_download(name, revision=revision or None, local_files_only=local))

    try:
        cached = fetch(True)
        if offline or any((cached / "checkpoints").glob("*.ckpt")):
            return cached
    except Exception as error:  # the hub client's errors differ from version to version
        if offline:
            raise Refusal(f"{model!r} is not in the hub cache of this machine and the run is offline") from error
    try:
        return fetch(False)
    except Exception as error:
        advice = "accept its terms on the hub and set HF_TOKEN" if "Gated" in type(error).__name__ else "check the name"
        raise Refusal(f"{model!r} cannot be downloaded ({type(error).__name__}): {advice}") from error


def _settings(checkpoint: Path) -> tuple[dict[str, Any], bytes]:
    """The checkpoint's ``hparams.yaml``, which COMET looks for one folder above the checkpoint's."""
    path = checkpoint.parent.parent / "hparams.yaml"
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Refusal(f"{path} cannot be read ({error.strerror}): COMET needs it beside checkpoints/") from error
    import yaml  # type: ignore[import-untyped, unused-ignore]

    try:
        settings = yaml.safe_load(raw)
    except yaml.YAMLError as error:
        raise Refusal(f"{path} is not YAML") from error
    if not isinstance(settings, dict):
        raise Refusal(f"{path} holds no settings")
    return settings, raw


def fingerprint(checkpoint: Path, settings: bytes) -> str:
    """Identity of a model as 64 hex digits, at the cost of reading a file's table of contents.

    A torch checkpoint is a zip archive whose directory holds the size and CRC-32 of every tensor; one in the old format
    is read whole.
    """
    total = sha256(settings)
    if zipfile.is_zipfile(checkpoint):
        with zipfile.ZipFile(checkpoint) as archive:
            for entry in archive.infolist():
                total.update(f"{entry.filename}\0{entry.file_size}\0{entry.CRC}\0".encode())
    else:
        with checkpoint.open("rb") as stream:
            while block := stream.read(1 << 20):
                total.update(block)
    return total.hexdigest()


# --- scoring ---


def serve(options: dict[str, Any], requests: Iterable[bytes], emit: Emit) -> None:
    """Load the model, then score requests until the input ends."""
    import torch
    from comet import load_from_checkpoint

    model = load_from_checkpoint(options["checkpoint"], local_files_only=options["offline"])
    device = pick_device(options["device"], torch.cuda.device_count(), os.environ.get("PYTEST_XDIST_WORKER", ""))
    model.eval().to(device)
    scorer = Scorer(model, options["batch_size"])
    emit({"gnt": "ready", "device": device, "window": model.encoder.max_positions})
    with torch.inference_mode():
        for line in requests:
            for place, result in scorer.score(json.loads(line)["samples"]):
                emit({"gnt": "score", "place": place, **result})


def pick_device(wanted: str, gpus: int, test_process: str) -> str:
    """``auto`` is a GPU where there is one; processes of a parallel test run (``gw0``, ``gw1`` …) spread over them."""
    if wanted != "auto":
        return wanted
    if not gpus:
        return "cpu"
    number = test_process.removeprefix("gw")
    return f"cuda:{int(number) % gpus if number.isdecimal() else 0}"


class Scorer:
    """Scores samples in batches of like length.

    A model that encodes source, translation and reference apart (COMET 20–22) is given every text once, however many
    samples it is part of; one that encodes them together (xCOMET, CometKiwi) is given whole samples.
    """

    def __init__(self, model: Any, batch_size: int) -> None:
        from comet.models import RegressionMetric

        self._model = model
        self._batch_size = batch_size
        self._apart = type(model) is RegressionMetric
        self._remembered: OrderedDict[str, Any] = OrderedDict()

    def score(self, samples: list[Sample]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each sample's place and result: ``score`` (None where it is not finite) and ``cut``, or ``error``."""
        samples = [{part: _encodable(text) for part, text in sample.items()} for sample in samples]
        lengths = self._lengths(samples)
        # The longest first: memory that does not suffice shows at once.
        order = sorted(range(len(samples)), key=lambda place: -sum(lengths[place].values()))
        size = 4 * self._batch_size if self._apart else self._batch_size
        for start in range(0, len(order), size):
            places = order[start : start + size]
            for place, value in zip(places, self._guarded([samples[place] for place in places]), strict=True):
                if isinstance(value, Exception):
                    yield place, {"error": _in_words(value)}
                else:
                    score = value if math.isfinite(value) else None
                    yield place, {"score": score, "cut": self._cut(lengths[place])}

    def _guarded(self, batch: list[Sample]) -> list[float | Exception]:
        """Scores of a batch. Where it fails, its samples are tried one by one, so that one bad one stays one."""
        try:
            return list(self._scores(batch))
        except Exception as error:
            if len(batch) == 1:
                return [error]
            results = [result for sample in batch for result in self._guarded([sample])]
            if all(isinstance(result, Exception) for result in results):
                raise  # not the samples' fault
            return results

    def _scores(self, batch: list[Sample]) -> list[float]:
        if self._apart:
            return self._scores_apart(batch)
        inputs = self._model.transfer_batch_to_device(self._model.prepare_for_inference(batch), self._model.device, 0)
        scores: list[float] = self._model.predict_step(inputs)["scores"].float().tolist()
        return scores

    def _scores_apart(self, batch: list[Sample]) -> list[float]:
        import torch

        vectors = self._embeddings({text for sample in batch for text in sample.values()})
        parts = {
            f"{part}_sentemb": torch.stack([vectors[sample[part]] for sample in batch]) for part in ("src", "mt", "ref")
        }
        scores: list[float] = self._model.estimate(**parts)["score"].float().tolist()
        return scores

    def _embeddings(self, texts: set[str]) -> dict[str, Any]:
        known = {text: self._remembered[text] for text in texts if text in self._remembered}
        new = sorted(texts - known.keys(), key=lambda text: (len(text), text))
        for start in range(0, len(new), self._batch_size):
            batch = new[start : start + self._batch_size]
            inputs = self._model.encoder.prepare_sample(batch).to(self._model.device)
            vectors = self._model.get_sentence_embedding(inputs["input_ids"], inputs["attention_mask"])
            known.update(zip(batch, vectors, strict=True))
        for text in texts:
            self._remembered[text] = known[text]
            self._remembered.move_to_end(text)
        while len(self._remembered) > REMEMBERED:
            self._remembered.popitem(last=False)
        return known

    def _lengths(self, samples: list[Sample]) -> list[dict[str, int]]:
        """Tokens of every text that the model reads, special ones included and nothing cut."""
        used = ("mt", "src", "ref") if self._apart else self._model.hparams.get("input_segments", ("mt", "src"))
        tokenizer = self._model.encoder.tokenizer
        known: dict[str, int] = {}
        unique = sorted({sample[part] for sample in samples for part in used if part in sample})
        for start in range(0, len(unique), 256):
            texts = unique[start : start + 256]
            ids = tokenizer(texts, verbose=False)["input_ids"]
            known.update((text, len(tokens)) for text, tokens in zip(texts, ids, strict=True))
        return [{part: known[sample[part]] for part in used if part in sample} for sample in samples]

    def _cut(self, lengths: dict[str, int]) -> list[str]:
        """Which parts do not fit the encoder's window; ``together`` where they only fit one by one."""
        encoder = self._model.encoder
        limit = encoder.max_positions - 2
        cut = [part for part, length in lengths.items() if length > limit]
        if not self._apart and self._model.hparams.get("input_segments"):
            inner = sum(min(length, limit) - 2 for length in lengths.values())
            if 2 + inner + encoder.size_separator * (len(lengths) - 1) > encoder.max_positions:
                cut.append("together")
        return cut


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_ERROR_WIDTH]


def _encodable(text: str) -> str:
    """The text with half surrogate pairs as U+FFFD: tokenizers take nothing that is not Unicode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


if __name__ == "__main__":
    sys.exit(main(sys.argv))
