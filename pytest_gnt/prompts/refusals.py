"""Sentences with which a model declines to answer, in the languages that the suites translate into.

A source that itself apologises or says that something cannot be done may be translated by such a sentence, so a text is
only held to be a refusal where the source is nothing of the kind.
"""

from __future__ import annotations

import re

_ENGLISH = (
    r"(?:(?:i['’]?m|i am|we are|we['’]re) (?:really |very |so |terribly )?)?"
    r"(?:sorry|apologies|unfortunately|regrettably)\b.{0,40}\b(?:can['’]?t|cannot|can not|unable|won['’]t)",
    r"i (?:can['’]?t|cannot|can not|won['’]t|will not|must decline to|am unable to|['’]m unable to|am not able to) "
    r"(?:help|assist|translate|comply|fulfil+|provide|do that|answer|respond|continue|engage|support)",
    r"i (?:must|have to) (?:decline|refuse)",
    r"as an? (?:ai|artificial intelligence|language model|large language model)\b",
)
_ITALIAN = (
    r"(?:mi dispiace|mi spiace|sono spiacente|purtroppo|spiacente)\b.{0,30}"
    r"\bnon (?:posso|sono in grado|mi è possibile)\b",
    r"non (?:posso|sono in grado di) (?:aiutar|assister|tradurr|fornir|risponder|soddisfar|eseguir)",
    r"in quanto (?:ia|intelligenza artificiale|modello linguistico)",
)
_SPANISH = (
    r"(?:lo siento|lo lamento|lamentablemente|desafortunadamente|disculpa|perdón)\b.{0,30}\bno (?:puedo|me es posible)",
    r"no (?:puedo|estoy en condiciones de) (?:ayudar|asistir|traducir|proporcionar|responder|cumplir)",
    r"como (?:ia|inteligencia artificial|modelo de lenguaje)",
)
_GERMAN = (
    r"(?:es tut mir leid|tut mir leid|entschuldigung|leider|bedaure)\b.{0,30}"
    r"\b(?:kann|darf) ich\b.{0,60}\b(?:nicht|keine)",
    r"(?:es tut mir leid|tut mir leid)\b.{0,30}\bich (?:kann|darf)\b.{0,60}\b(?:nicht|keine)",
    r"ich (?:kann|darf) .{0,60}\b(?:nicht|keine)\b.{0,30}\b(?:helfen|behilflich|unterstützen|übersetz|beantworten)",
    r"als (?:ki|künstliche intelligenz|sprachmodell)\b",
)
_GREEK = (
    r"(?:λυπάμαι|συγγνώμη|δυστυχώς|ζητώ συγγνώμη)\b.{0,30}\bδεν (?:μπορώ|είμαι σε θέση)",
    r"δεν (?:μπορώ|είμαι σε θέση) να (?:σας |σε )?(?:βοηθήσω|μεταφράσω|απαντήσω|παράσχω|ανταποκριθώ)",
)
_FRENCH = (
    r"(?:je suis désolée?|désolée?|malheureusement)\b.{0,30}\bje ne (?:peux|suis pas en mesure)",
    r"je ne (?:peux|suis) pas (?:vous |en mesure )?.{0,10}(?:aider|traduire|fournir|répondre)",
)
_RUSSIAN = (r"(?:извините|простите|к сожалению|мне жаль)\b.{0,30}\bя не (?:могу|в состоянии)",)
_CHINESE = (
    r"(?:非常)?(?:抱歉|对不起|很遗憾|很抱歉|不好意思).{0,12}(?:我|本人|无法|不能|没法).{0,12}(?:无法|不能|没法|帮|协助|翻译|提供|回答|满足)",
    r"我(?:无法|不能|没法)(?:帮|协助|翻译|提供|回答|满足|处理)",
    r"作为(?:一个|一款|一名)?(?:人工智能|AI|语言模型)",
)
_LEAD = r"[\s\"'“”„«»*_>#\[（(-]{0,8}(?:(?:hello|hi|hm+|oh|well|ciao|hola|hallo|γεια)[,.!]?\s)?"
_START = re.compile(
    _LEAD
    + "(?:"
    + "|".join((*_ENGLISH, *_ITALIAN, *_SPANISH, *_GERMAN, *_GREEK, *_FRENCH, *_RUSSIAN, *_CHINESE))
    + ")",
    re.IGNORECASE,
)
_SOURCE_DECLINES = re.compile(
    r"\b(?:sorry|apolog\w+|unfortunately|regret\w*|unable|cannot|can not|can['’]?t|won['’]t|could ?n['’]t|could not|"
    r"not able|refus\w+|declin\w+|afraid|impossible|as an? (?:ai|artificial|language model))",
    re.IGNORECASE,
)
_LOOK_AT = 300


def looks_like_refusal(text: str) -> bool:
    """Whether a text begins as models begin when they decline."""
    return _START.match(text[:_LOOK_AT]) is not None


def source_may_decline(source: str) -> bool:
    """Whether an English sentence may itself be rendered by something that looks like a refusal."""
    return _SOURCE_DECLINES.search(source) is not None
