"""The plain form: the translation and nothing else, on one line (AmbGIMT, and tables that ask for no form)."""

from __future__ import annotations

import re

from pytest_gnt.case import Case
from pytest_gnt.prompts.form import FormReading, as_one_line
from pytest_gnt.prompts.languages import base_code, language_name

_TAG = re.compile(r"\A\s*[<＜]\s?([A-Za-z]{2,3})\s?[>＞]\s*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LEAD_INS = (
    "translation",
    "translated text",
    "output",
    "traduzione",
    "traducción",
    "übersetzung",
    "μετάφραση",
    "traduction",
    "перевод",
    "翻译",
    "译文",
    "中文",
    "中文翻译",
)
_PAIRS = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "‘": "’", "`": "`"}


def read_plain(answer: str, case: Case) -> FormReading:
    """Take the translation out of a plain reply.

    Removed, with a flag, are a lead-in such as ``Translation:`` and quotation marks around the whole where the source
    has none. More lines than the source has are not a translation but talk: which of them to score is not guessed.
    """
    lines = _filled_lines(answer)
    if len(lines) > 1 and not _strip_lead_in(lines[0], case):
        lines = lines[1:]
        flags = ["lead-in-removed"]
    else:
        flags = []
    if len(lines) > max(1, len(_filled_lines(case.source))):
        return FormReading(problem=f"{len(lines)} lines where the translation alone was asked for")
    whole = as_one_line("\n".join(lines))
    text = _strip_lead_in(whole, case)
    if text != whole:
        flags = ["lead-in-removed"]
    unquoted = _strip_quotes(text, case.source)
    if unquoted != text:
        flags.append("quotes-removed")
    return FormReading(unquoted, flags=tuple(flags))


def _filled_lines(text: str) -> list[str]:
    return [line for line in _LINE_END.split(text) if line.strip()]


def _strip_lead_in(text: str, case: Case) -> str:
    """The text behind a tag or lead-in; the text itself where there is neither."""
    tag = _TAG.match(text)
    if tag and tag[1].lower() == base_code(case.target_lang) and not _TAG.match(case.source):
        text = text[tag.end() :]
    head, colon, rest = text.partition(":")
    if not colon or ("：" in head):
        head, colon, rest = text.partition("：")
    words = {*_LEAD_INS, language_name(case.target_lang).lower()}
    if colon and head.strip(" *_\t").lower() in words and not case.source.lower().startswith(head.strip().lower()):
        return rest.strip(" *\t")
    return text


def _strip_quotes(text: str, source: str) -> str:
    closing = _PAIRS.get(text[:1])
    if closing is None or len(text) < 3 or text[-1] != closing or source[:1] in _PAIRS or text[1:-1].count(closing):
        return text
    return text[1:-1].strip()
