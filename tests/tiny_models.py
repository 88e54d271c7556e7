"""Tiny checkpoints with random weights, made without a network, so that a backend is tested with a real model.

Each function writes one folder that ``from_pretrained`` and vLLM load. Weights are drawn wide (and seeded), so that a
greedy choice is a clear one and does not hang on the last digit of a sum. ``ends`` makes the tokens that end a reply,
or close its bracket, more probable, so that some replies are finished and some are cut off.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

VOCABULARY = 384
WINDOW = 4096
SPREAD = 0.4

_TEXTS = (
    "Translate the English sentence into Italian, German, Spanish, Greek or Chinese.",
    "<en> The committee thanks everyone who takes part. <it> **NEUTRAL** [Chi partecipa riceve i ringraziamenti.]",
    "<de> **GENDERED** [Die Ärztin öffnet die Tür.] <es> **NEUTRAL** [La persona que preside abre la sesión.]",
    "<el> **NEUTRAL** [Όποιος προεδρεύει ανοίγει την πόρτα.] 这个人很固执。",
    '{"phrases": [{"text": "la persona", "gender": "N", "correct": true}], "label": "NEUTRAL"}',
)

CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""Takes every role."""

NO_SYSTEM_TEMPLATE = (
    "{% for m in messages %}"
    "{% if m['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "<|{{ m['role'] }}|>{{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""Refuses the system role and two turns of one role, as Gemma's own template does."""


def save_llama(folder: Path, *, chat_template: str | None = CHAT_TEMPLATE, window: int = WINDOW, seed: int = 0) -> Path:
    """A two-layer Llama. ``chat_template`` None makes it a base model."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = save_tokenizer(folder, chat_template=chat_template, window=window)
    config = LlamaConfig(
        **_shape(tokenizer, window),
        num_key_value_heads=2,
        tie_word_embeddings=False,
    )
    return _save(LlamaForCausalLM, config, tokenizer, folder, seed)


def save_gemma3(
    folder: Path, *, chat_template: str | None = NO_SYSTEM_TEMPLATE, window: int = WINDOW, seed: int = 0
) -> Path:
    """A two-layer Gemma 3 (text), with one sliding and one full attention layer."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    tokenizer = save_tokenizer(folder, chat_template=chat_template, window=window)
    config = Gemma3TextConfig(
        **_shape(tokenizer, window),
        num_key_value_heads=1,
        sliding_window=128,
        layer_types=["sliding_attention", "full_attention"],
        tie_word_embeddings=False,
    )
    return _save(Gemma3ForCausalLM, config, tokenizer, folder, seed)


def save_bert(
    folder: Path,
    meanings: Iterable[Iterable[str]] = (),
    *,
    random: bool = False,
    layers: int = 2,
    window: int = 512,
    seed: int = 0,
) -> Path:
    """A BERT with a word-piece vocabulary of all Latin letters and the characters of ``meanings``.

    Its layers leave the embeddings as they are, and the word pieces of one meaning share an embedding: an aligner links
    exactly what means the same, or is the same. With ``random`` attention and inner layers mix in random directions.
    """
    import torch
    from transformers import BertConfig, BertModel

    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,!?'\"-，。：的了很人这个"
    groups = [list(group) for group in meanings]
    pieces = dict.fromkeys([*(piece for group in groups for piece in group), *letters])
    pieces |= dict.fromkeys(f"##{letter}" for letter in letters)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces]
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=window,
        pad_token_id=0,
    )
    torch.manual_seed(seed)
    model = BertModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "position" in name or "token_type" in name or (".output.dense" in name and not random):
                weight.zero_()
            elif weight.dim() > 1:
                weight.normal_(std=1.0 if "word" in name else 0.3)
        words = model.embeddings.word_embeddings.weight
        for group in groups:
            for piece in group[1:]:
                words[vocabulary.index(piece)] = words[vocabulary.index(group[0])]
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(str(folder))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}', encoding="utf-8")
    return folder


def save_tokenizer(
    folder: Path, *, chat_template: str | None = CHAT_TEMPLATE, window: int = WINDOW, texts: Iterable[str] = _TEXTS
) -> Any:
    """A byte-level BPE tokenizer: every text can be encoded and comes back unchanged."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<s>", "</s>", "<pad>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(list(texts) * 4, trainer)
    raw.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=window,
    )
    if chat_template is not None:
        tokenizer.chat_template = chat_template
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(str(folder))
    return tokenizer


def _shape(tokenizer: Any, window: int) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": window,
        "initializer_range": SPREAD,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }


def _save(model_class: Any, config: Any, tokenizer: Any, folder: Path, seed: int) -> Path:
    import torch

    torch.manual_seed(seed)
    model = model_class(config).to(torch.float32).eval()
    with torch.no_grad():
        _favour_ends(model.get_output_embeddings().weight, tokenizer)
    model.save_pretrained(str(folder))
    return folder


def _favour_ends(weight: Any, tokenizer: Any) -> None:
    """Longer vectors win more often, and lose more often: about every second reply comes to an end."""
    ends = [tokenizer.eos_token_id, *tokenizer.encode("]", add_special_tokens=False)]
    for token in ends:
        weight[token] *= 2.5
