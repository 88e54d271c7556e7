"""One line that says what a number depends on, in the manner of sacreBLEU's signatures."""

from __future__ import annotations

from collections.abc import Mapping

ORDER = ("gnt", "corpus", "model", "prompt", "decoding", "judge", "attitude", "aligner", "quality", "sample", "seed")


def signature(parts: Mapping[str, str]) -> str:
    """Join ``key:value`` parts by ``|`` in a fixed order; a ``|`` within a value is written ``/``."""
    ranked = sorted(parts, key=lambda key: (ORDER.index(key) if key in ORDER else len(ORDER), key))
    return "|".join(f"{key}:{parts[key].replace('|', '/')}" for key in ranked)


def parse_signature(text: str) -> dict[str, str]:
    """The parts of a signature.

    Raises:
        ValueError: a part has no key.
    """
    parts = {}
    for part in text.split("|"):
        key, colon, value = part.partition(":")
        if not colon:
            raise ValueError(f"{part!r} is not key:value")
        parts[key] = value
    return parts
