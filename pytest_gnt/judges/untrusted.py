"""Text under examination on its way into a prompt: it stays data, whatever it says.

The shipped prompts show source and translation as strings of one JSON object, which no text can break out of.
Characters that begin the control tokens of chat templates are written as JSON escapes, so a tokenizer never sees such
a token.
"""

from __future__ import annotations

import json
import re

INJECTION = "suspected-injection"

_SURROGATE = re.compile("[\ud800-\udfff]")
_BRACKETED = r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|<</?SYS>>"
_CONTROL = re.compile(rf"<\|?/?[a-zA-Z_]\w*\|?>|<\||\|>|{_BRACKETED}")
"""Whatever could be a control token of some tokenizer."""
_TEMPLATE_TOKEN = re.compile(
    rf"<\|[^<>\n]{{1,40}}>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|unk|pad)>|</?think>|{_BRACKETED}"
)
"""What certainly is one."""
_VERDICT_TALK = (
    re.compile(r"\b(?:CORRECTLY|WRONGLY) GENDERED\b"),
    re.compile(r"\bNEUTRAL\b"),
    re.compile(r"[\"'“]?(?:label|phrases|gender_correctness)[\"'”]?\s*:\s*[\[\"'“]", re.IGNORECASE),
    re.compile(r"^\s*(?:system|assistant|user|###\s*\w+)\s*:", re.IGNORECASE | re.MULTILINE),
    re.compile(
        r"\b(?:ignore|disregard|forget|ignora\w*|olvida\w*|dimentica\w*|ignorier\w*|vergiss|αγνο\w+)\b.{0,40}"
        r"\b(?:instruction\w*|prompt\w*|rule\w*|guideline\w*|istruzion\w*|instruccion\w*|anweisung\w*|οδηγ\w+)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:label|judge|mark|rate|classify|answer|etichetta|classifica|etiqueta|clasifica|bewerte|kennzeichne)\b"
        r".{0,40}\b(?:neutral\w*|neutro|neutra|neutrale|ουδέτερ\w+)\b",
        re.IGNORECASE,
    ),
)


def without_lone_surrogates(text: str) -> str:
    """The text with half characters replaced by U+FFFD: they cannot be sent."""
    return _SURROGATE.sub("\ufffd", text)


def as_json_data(**texts: str) -> str:
    """Texts as one JSON object on one line, in the order given, without control tokens and half characters."""
    line = json.dumps({name: without_lone_surrogates(text) for name, text in texts.items()}, ensure_ascii=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0][0]):04x}{match[0][1:]}", line)


def with_control_tokens_broken(text: str) -> str:
    """For prompts in other layouts: a blank after the first character of each control token."""
    return _CONTROL.sub(lambda match: f"{match[0][0]} {match[0][1:]}", without_lone_surrogates(text))


def looks_like_injection(translation: str, source: str) -> bool:
    """Whether a translation talks to the judge: words of the verdict, JSON of its form, roles, control tokens, orders.

    What the source says as well is translation, not an attempt.
    """
    return any(
        pattern.search(translation) and not pattern.search(source) for pattern in (_TEMPLATE_TOKEN, *_VERDICT_TALK)
    )
