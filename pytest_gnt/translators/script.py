"""Which Chinese script a translation is written in: simplified, traditional, or a mixture that no reader expects.

Overlap metrics count 執 and 执 as different characters, so that a translation in the other script loses half its score
with no word wrong. Nothing is converted; the finding is a flag on the translation. The characters of each script are
those of CC-CEDICT (package hanzidentifier); of the 7,076 public Chinese references of AmbGIMT, all simplified, none is
taken for anything else.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from pytest_gnt.evidence import Translation

MIXED = "mixed-script"
OTHER = "wrong-script"

Script = Literal["simplified", "traditional", "mixed"]

_CHINESE = frozenset({"zh", "zho", "chi", "cmn"})
_NAMED: dict[str, Script] = {
    **dict.fromkeys(("hans", "cn", "sg"), "simplified"),
    **dict.fromkeys(("hant", "tw", "hk", "mo"), "traditional"),
}


def with_script_flags(translation: Translation) -> Translation:
    """The translation, flagged ``mixed-script`` or ``wrong-script`` where it is.

    The script asked for is the one that the language code names (``zh-Hant``, ``zh_TW``), else that of the references,
    else the simplified one, which the prompts and NLLB's code take ``zh`` for.
    """
    parts = re.split("[-_]", translation.case.target_lang.lower())
    if translation.text is None or not _CHINESE.intersection(parts):
        return translation
    found = script_of(translation.text)
    if found is None:
        return translation
    if found == "mixed":
        return replace(translation, flags=(*translation.flags, MIXED))
    if _asked(parts, translation.case.references) not in (None, found):
        return replace(translation, flags=(*translation.flags, OTHER))
    return translation


def script_of(text: str) -> Script | None:
    """The script of a Chinese text; None where its characters belong to both scripts, or it has none."""
    import hanzidentifier

    kinds: dict[int, Script] = {
        hanzidentifier.SIMPLIFIED: "simplified",
        hanzidentifier.TRADITIONAL: "traditional",
        hanzidentifier.MIXED: "mixed",
    }
    return kinds.get(hanzidentifier.identify(text))


def _asked(parts: list[str], references: tuple[str, ...]) -> Script | None:
    """The script that a translation should have; None where references of both scripts ask for neither."""
    named = next((_NAMED[part] for part in parts if part in _NAMED), None)
    if named is not None:
        return named
    found = {script for reference in references if (script := script_of(reference)) is not None}
    if not found:
        return "simplified"
    return found.pop() if len(found) == 1 and found != {"mixed"} else None
