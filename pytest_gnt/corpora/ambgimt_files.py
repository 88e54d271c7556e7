"""The files of an AmbGIMT folder: which belong together, and which are missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_gnt.case import Subset
from pytest_gnt.errors import GntError

PUBLIC_STEMS: Mapping[Subset, str] = {
    Subset.AUTHENTIC: "DictExample_convert_sents",
    Subset.SYNTHESIZED: "GIMT_amb_sents_v3_extend",
}
"""How the file names of the two public subsets begin."""

DEFAULT_LANG = "zh"
"""The target language of the public references."""

_LANG = re.compile(r"(?:hypo\.)?([a-z]{2,3})")


@dataclass(frozen=True, slots=True)
class PartFiles:
    """The files of one subset.

    Attributes:
        subset: the subset.
        folder: where the files lie.
        stem: how their names begin.
        neutral: the English neutral sentences, one a line.
        block: the English sentences of all 14 identities, 14 lines a sentence; None where it is not there.
    """

    subset: Subset
    folder: Path
    stem: str
    neutral: Path
    block: Path | None

    def reference(self, lang: str) -> Path | None:
        """The references of the neutral sentences in a language."""
        return self._first(f"{self.stem}.hypo.{lang}", f"{self.stem}.{lang}")

    def block_reference(self, lang: str) -> Path | None:
        """The references of all 14 identities in a language.

        Raises:
            GntError: one file of a pair is there without the other.
        """
        block = self._first(f"{self.stem}.AllType.hypo.{lang}", f"{self.stem}.AllType.{lang}")
        neutral = self.reference(lang)
        if block is not None and self.block is None:
            raise GntError(f"{block} is there without its English file {self.stem}.AllType.txt; put it beside it")
        if block is None and self.block is not None and neutral is not None:
            raise GntError(
                f"{neutral} is there, but not {self.stem}.AllType.hypo.{lang}, the references for {self.block.name}; "
                f"put it beside it, or remove {self.block.name} to test the neutral sentences only"
            )
        return block

    def languages(self) -> tuple[str, ...]:
        """Languages that have reference files, in alphabetical order."""
        found = set()
        for path in self.folder.iterdir():
            if path.name.startswith(f"{self.stem}."):
                rest = path.name.removeprefix(f"{self.stem}.").removeprefix("AllType.")
                match = _LANG.fullmatch(rest)
                if match and match[1] != "txt":
                    found.add(match[1])
        return tuple(sorted(found))

    def optional(self, *names: str) -> Path | None:
        """The first of some files that need not be there."""
        return self._first(*names)

    def _first(self, *names: str) -> Path | None:
        return next((self.folder / name for name in names if (self.folder / name).is_file()), None)


def find_parts(root: Path, stems: Mapping[Subset, str] | None = None) -> list[PartFiles]:
    """Find the subsets that a folder holds.

    Args:
        root: the folder, or one that holds it under the name ``ambgimt``.
        stems: how the file names of each wanted subset begin; by default the public names, of which one may be missing.

    Raises:
        GntError: the folder or a file is missing.
    """
    folder = root / "ambgimt" if (root / "ambgimt").is_dir() else root
    if not folder.is_dir():
        raise GntError(f"{folder} is no folder; point --gnt-data at the folder that holds the AmbGIMT files")
    parts = []
    for subset, stem in (stems or PUBLIC_STEMS).items():
        part = PartFiles(subset, folder, stem, folder / f"{stem}.txt", None)
        block = part.optional(f"{stem}.AllType.txt.corrected", f"{stem}.AllType.txt")
        if part.neutral.is_file():
            parts.append(PartFiles(subset, folder, stem, part.neutral, block))
        elif block is not None or stems:
            raise GntError(f"{part.neutral} is missing; the {subset} subset is counted by its lines, so put it there")
    if not parts:
        wanted = " or ".join(f"{stem}.txt" for stem in PUBLIC_STEMS.values())
        raise GntError(
            f"no AmbGIMT file in {folder}: put {wanted} of the AmbGIMT release there with the files that belong to it, "
            "or point --gnt-data at the folder that holds them"
        )
    return parts
