"""Makes tiny random checkpoints: real model classes and tokenizers, a few hundred kilobytes each."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers

CORPUS = [
    "Translate the following text from English to Italian. hello world answer true false",
    "The doctor opened the door and the nurse smiled at the patient.",
    'Q: Is brave a positive word? A: Yes {"label": "NEUTRAL"} <it> **NEUTRAL** [Chi dirige apre.]',
    "机器翻译 质量 评估 固执 的 邻居",
] * 20
WINDOW = 512
CHAT_TEMPLATE = (
    "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)


def byte_level_tokenizer(chat_template: str | None = None):
    """A BPE tokenizer in GPT-2's byte alphabet, as Llama 3 and Qwen have it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=["<s>", "</s>", "<pad>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=WINDOW,
    )
    made.chat_template = chat_template
    return made


def causal_checkpoint(folder: Path, kind: str, chat_template: str | None = None) -> str:
    """A causal model: ``llama``, ``gemma`` (sliding windows), ``hybrid`` (attention and convolution) or ``mamba``."""
    tokenizer = byte_level_tokenizer(chat_template)
    shape = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "head_dim": 32,
        "intermediate_size": 128,
        "max_position_embeddings": WINDOW,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 2,
        "initializer_range": 0.2,
    }
    torch.manual_seed(7)
    if kind == "hybrid":
        shape.pop("head_dim")
        config = transformers.Lfm2Config(
            num_key_value_heads=2, layer_types=["conv", "full_attention"], block_auto_adjust_ff_dim=False, **shape
        )
        model = transformers.Lfm2ForCausalLM(config)
    elif kind == "mamba":
        names = ("vocab_size", "hidden_size", "num_hidden_layers", "bos_token_id", "eos_token_id", "pad_token_id")
        model = transformers.MambaForCausalLM(transformers.MambaConfig(**{name: shape[name] for name in names}))
    elif kind == "llama":
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(num_key_value_heads=2, **shape))
    else:
        config = transformers.Gemma3TextConfig(
            num_key_value_heads=1,
            sliding_window=24,
            layer_types=["sliding_attention", "full_attention"],
            **shape,
        )
        model = transformers.Gemma3ForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def _sequence_shape() -> dict[str, int]:
    return {
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "init_std": 0.3,
    }


def marian_checkpoint(folder: Path, extra: list[str]) -> str:
    """MarianMT's architecture; ``extra`` are its target language tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    chars = sorted({char for text in CORPUS for char in text if char != " "})
    names = ["</s>", "<unk>", "▁", *chars, "<pad>", *extra]
    vocabulary = {token: place for place, token in enumerate(names)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        extra_special_tokens=extra,
        model_max_length=64,
    )
    made.save_pretrained(folder)
    pad = vocabulary["<pad>"]
    config = transformers.MarianConfig(
        vocab_size=len(vocabulary),
        decoder_vocab_size=len(vocabulary),
        max_position_embeddings=64,
        pad_token_id=pad,
        eos_token_id=0,
        forced_eos_token_id=0,
        decoder_start_token_id=pad,
        bad_words_ids=[[pad]],
        **_sequence_shape(),
    )
    torch.manual_seed(5)
    transformers.MarianMTModel(config).save_pretrained(folder)
    return str(folder)


def nllb_checkpoint(folder: Path) -> str:
    """NLLB's architecture and tokenizer class, with a character vocabulary."""
    chars = ["▁", *sorted({char for text in CORPUS for char in text if char != " "})]
    vocabulary = {token: place for place, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *chars])}
    tokenizer = transformers.NllbTokenizer(vocab=vocabulary, merges=[], model_max_length=64)
    tokenizer.save_pretrained(folder)
    config = transformers.M2M100Config(
        vocab_size=len(tokenizer),
        max_position_embeddings=64,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        **_sequence_shape(),
    )
    torch.manual_seed(3)
    transformers.M2M100ForConditionalGeneration(config).save_pretrained(folder)
    return str(folder)
