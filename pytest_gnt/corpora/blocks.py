"""The 14-line blocks of an all-identity file, matched to the neutral sentences by content.

Position does not do: the public authentic file repeats two sentences, so that every block after the first repeat stands
beside the neutral sentence of another one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_gnt.case import Identity
from pytest_gnt.corpora.identities import identity_terms
from pytest_gnt.corpora.textfile import TextFile
from pytest_gnt.errors import GntError

IDENTITIES = tuple(Identity)
SIZE = len(IDENTITIES)


@dataclass(frozen=True, slots=True)
class Block:
    """The 14 variants of one sentence.

    Attributes:
        number: which block of the file it is, from 1.
        line: the line of its neutral sentence, from 1; None where no neutral sentence is equal to its first line.
        repeat: how often the sentence has come by now: 1, or more for a repeated block.
    """

    number: int
    line: int | None
    repeat: int = 1

    @property
    def first_line(self) -> int:
        """Its first line in the all-identity file."""
        return (self.number - 1) * SIZE + 1

    @property
    def label(self) -> str:
        """Its number in case ids: the neutral line, ``84``, or ``84.2`` for the first repeat."""
        return str(self.line) if self.repeat == 1 else f"{self.line}.{self.repeat}"


def match_blocks(block_file: TextFile, neutral_file: TextFile) -> list[Block]:
    """Find the neutral sentence of each block.

    A damaged first line costs one block, which then has no line. More blocks without a sentence than sentences without
    a block, or the reverse, mean that the files do not belong together.

    Raises:
        GntError: the files do not pair up; names both and their counts.
    """
    variants = block_file.lines
    neutral = neutral_file.lines
    if len(variants) % SIZE:
        raise GntError(
            f"{block_file.path} has {len(variants)} lines, not a multiple of the {SIZE} identities "
            f"({neutral_file.path} has {len(neutral)} lines); replace it by the whole file"
        )
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number, sentence in enumerate(neutral, start=1):
        if sentence.strip():
            places[sentence.strip()].append(number)
    seen: defaultdict[str, int] = defaultdict(int)
    blocks = []
    for number in range(1, len(variants) // SIZE + 1):
        sentence = variants[(number - 1) * SIZE].strip()
        blocks.append(_place(number, places.get(sentence, []), seen[sentence]))
        seen[sentence] += 1
    _check_pairing(blocks, block_file, neutral_file)
    return blocks


def check_identity_order(block_file: TextFile, blocks: Sequence[Block]) -> list[int]:
    """Check that each variant names the identity of its place in the block.

    Returns:
        The lines that do not name it (the public file has a few such flaws).

    Raises:
        GntError: most lines of a place do not, so the file has another order of identities.
    """
    wrong: list[int] = []
    lines = [line.casefold() for line in block_file.lines]
    starts = [block.first_line for block in blocks if block.line is not None]
    for place, identity in enumerate(IDENTITIES):
        terms = identity_terms(identity, "en")
        numbers = [start + place for start in starts]
        unnamed = [number for number in numbers if not any(term in lines[number - 1] for term in terms)]
        if len(unnamed) * 2 > len(numbers):
            raise GntError(
                f"{block_file.path}: line {place + 1} of each block should be about {identity}, but {len(unnamed)} of "
                f"{len(numbers)} such lines are not (the first is line {unnamed[0]}); the order of identities must be "
                f"{', '.join(IDENTITIES)}"
            )
        wrong += unnamed
    return sorted(wrong)


def _place(number: int, lines: list[int], seen: int) -> Block:
    if not lines:
        return Block(number, None)
    # The same sentence on several neutral lines takes them in turn; only what goes beyond them is a repeat.
    if seen < len(lines):
        return Block(number, lines[seen])
    return Block(number, lines[0], seen - len(lines) + 2)


def _check_pairing(blocks: Sequence[Block], block_file: TextFile, neutral_file: TextFile) -> None:
    stray = [block.first_line for block in blocks if block.line is None]
    matched = {block.line for block in blocks}
    lonely = [line for line in range(1, len(neutral_file.lines) + 1) if line not in matched]
    if len(stray) == len(lonely) and len(stray) < max(len(blocks), 1):
        return
    where = f"; line {stray[0]}, which begins a block, is no neutral sentence" if stray else ""
    if lonely:
        where += f"; the neutral sentence of line {lonely[0]} has no block"
    raise GntError(
        f"{block_file.path} ({len(block_file.lines)} lines, {len(blocks)} blocks of {SIZE}) and {neutral_file.path} "
        f"({len(neutral_file.lines)} lines) do not pair up: {len(stray)} blocks without a sentence, {len(lonely)} "
        f"sentences without a block{where}; use files of the same release"
    )
