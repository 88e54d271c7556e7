"""Whether two signatures allow a comparison of the numbers that they stand behind."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.signature import parse_signature

UNDER_TEST = ("model", "prompt", "decoding")
"""Parts of the system under test: what a comparison is about."""

_NOTES = {
    "gnt": "the product's version differs",
    "model": "the model differs",
    "prompt": "the prompt differs; it is part of the system under test",
    "decoding": "the decoding differs; it is part of the system under test",
    "sample": "the sample differs; only cases of both are compared",
    "seed": "the seed differs; another seed samples other cases and draws other replies",
}
_SILENT = ("gnt", "model")
_EVIDENCE = ("judge", "attitude", "aligner", "quality")
_BLOCKS = {
    "corpus": "the corpus or its revision differs",
    "judge": "the judge differs",
    "attitude": "the attitude model differs",
    "aligner": "the aligner differs",
    "quality": "the quality metrics differ",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One part in which two signatures differ.

    Attributes:
        key: the signature's key.
        before, after: its values; None where a side does not have it.
        blocks: whether numbers that depend on it cannot be compared.
        why: a sentence for the user.
    """

    key: str
    before: str | None
    after: str | None
    blocks: bool
    why: str

    def __str__(self) -> str:
        return f"{self.why} ({self.before or 'none'} → {self.after or 'none'})"


def differences(before: str, after: str) -> list[Difference]:
    """Every part in which two signatures differ. A part that is not known blocks.

    Raises:
        GntError: a text is not a signature.
    """
    parts = _parts(before), _parts(after)
    keys = [*dict.fromkeys([*parts[0], *parts[1]])]
    return [
        Difference(
            key,
            parts[0].get(key),
            parts[1].get(key),
            key not in _NOTES and not _absent(key, *parts),
            _NOTES.get(key) or _BLOCKS.get(key) or f"{key!r} differs, and this version does not know what it means",
        )
        for key in keys
        if parts[0].get(key) != parts[1].get(key)
    ]


def _absent(key: str, *sides: dict[str, str]) -> bool:
    """Whether one side has no numbers that depend on this part, because its tests did not ask for any.

    A stage that was asked for and switched off says ``off``, which is a difference like any other.
    """
    return key in _EVIDENCE and any(key not in side for side in sides)


def comparable(before: str, after: str) -> list[str]:
    """Reasons why the numbers of two signatures cannot be compared; none where they can.

    Model, product version, prompt and decoding may differ (that is what is compared), sample and seed too (with a
    note, see `notes`). Corpus revision, judge, attitude model and quality metrics may not.

    Raises:
        GntError: a text is not a signature.
    """
    return [str(found) for found in differences(before, after) if found.blocks]


def notes(before: str, after: str) -> list[str]:
    """Differences that do not forbid a comparison and that its reader should know.

    Raises:
        GntError: a text is not a signature.
    """
    return [
        str(found)
        for found in differences(before, after)
        if not found.blocks and found.key not in _SILENT and found.key not in _EVIDENCE
    ]


def _parts(text: str) -> dict[str, str]:
    try:
        return parse_signature(text)
    except ValueError as error:
        raise GntError(f"{text!r} is not a signature: {error}. Store the baseline anew.") from error
