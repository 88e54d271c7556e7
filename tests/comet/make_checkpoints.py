"""Run by the interpreter that has COMET: makes tiny checkpoints of every kind, and COMET's own scores of given samples.

    python make_checkpoints.py FOLDER SAMPLES.json

Writes ``FOLDER/NAME/hparams.yaml`` and ``FOLDER/NAME/checkpoints/model.ckpt`` for each name of `KINDS`, and
``FOLDER/expected.json``: name → ``CometModel.predict``'s scores of the samples. The weights are random: the scores mean
nothing, but they depend on every token.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
import yaml
from comet import load_from_checkpoint
from comet.models import str2model
from pytorch_lightning import Trainer
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

WINDOW = 64
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "regression": ("regression_metric", {"pool": "avg"}),
    "referenceless": ("referenceless_regression_metric", {"pool": "cls"}),
    "unified": ("unified_metric", {"input_segments": ["mt", "src", "ref"]}),
    "kiwi": ("unified_metric", {"input_segments": ["mt", "src"]}),
    "xcomet": ("xcomet_metric", {"word_layer": 2}),
    "ranking": ("ranking_metric", {"pool": "avg"}),
    "broken": ("regression_metric", {"pool": "avg"}),
}


def make_encoder(
    folder: Path, texts: list[str], *, hidden: int = 32, layers: int = 2, window: int = WINDOW, vocabulary: int = 400
) -> None:
    """A random XLM-RoBERTa with a tokenizer trained on the texts themselves."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=vocabulary, special_tokens=special, unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
    )
    wrapped.save_pretrained(folder)
    config = XLMRobertaConfig(
        vocab_size=len(wrapped),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=max(2, hidden // 64),
        intermediate_size=2 * hidden,
        max_position_embeddings=window + 2,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=0.5 if hidden < 64 else 0.05,  # so that scores of different texts differ
    )
    torch.manual_seed(1)
    XLMRobertaModel(config).save_pretrained(folder)


def make_checkpoint(name: str, encoder: Path, folder: Path) -> None:
    """A COMET checkpoint as its own trainer would write it."""
    kind, own = KINDS[name]
    settings = {
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": str(encoder),
        "nr_frozen_epochs": 0,
        "layer_transformation": "softmax",
        "local_files_only": True,
        "load_pretrained_weights": True,
        **({} if kind == "ranking_metric" else {"hidden_sizes": [32, 16]}),
        **({"sent_layer": "mix"} if kind in ("unified_metric", "xcomet_metric") else {"layer": "mix"}),
        **own,
    }
    torch.manual_seed(2)
    model = str2model[kind](**settings).eval()
    if name == "broken":
        with torch.no_grad():
            next(model.estimator.parameters()).fill_(float("nan"))
    (folder / "checkpoints").mkdir(parents=True)
    trainer = Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.strategy.connect(model)
    trainer.save_checkpoint(folder / "checkpoints" / "model.ckpt", weights_only=True)
    hparams = {**dict(model.hparams), "class_identifier": kind}
    (folder / "hparams.yaml").write_text(yaml.safe_dump(hparams), encoding="utf-8")


def main(folder: Path, samples: list[dict[str, str]]) -> None:
    """Make everything, and let COMET score the samples."""
    torch.set_num_threads(1)
    encoder = folder / "encoder"
    make_encoder(encoder, [text for sample in samples for text in sample.values()])
    expected = {}
    for name in KINDS:
        make_checkpoint(name, encoder, folder / name)
        if name in ("ranking", "broken"):
            continue
        model = load_from_checkpoint(str(folder / name / "checkpoints" / "model.ckpt"), local_files_only=True)
        predicted = model.predict(samples, batch_size=8, gpus=0, progress_bar=False)
        expected[name] = [float(score) for score in predicted["scores"]]
    (folder / "expected.json").write_text(json.dumps(expected), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")))
