"""The English side of an AmbGIMT subset: sentences, blocks or conversions of them, attitude words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_gnt.corpora import attitude_words
from pytest_gnt.corpora.ambgimt_files import PartFiles
from pytest_gnt.corpora.attitude_words import AttitudeWord, Renderings
from pytest_gnt.corpora.blocks import SIZE, Block, check_identity_order, match_blocks
from pytest_gnt.corpora.collector import CaseCollector
from pytest_gnt.corpora.conversion import NotConvertible, converted_file
from pytest_gnt.corpora.conversion_cache import cached_plans
from pytest_gnt.corpora.conversion_plan import Plan
from pytest_gnt.corpora.tables import read_table
from pytest_gnt.corpora.textfile import TextFile, read_text


@dataclass(frozen=True, slots=True)
class English:
    """The English side of a subset, read once for all languages.

    Attributes:
        files: its files.
        neutral: the neutral sentences.
        variants: the sentences of all identities, if they are there.
        blocks: the blocks of ``variants``.
        words: the attitude word of each neutral line, None where it is not known.
        renderings: known renderings of attitude words.
        groups: the line that gives its number to the group of each neutral line: the first with the same sentence.
        plans: how to make the identities from each neutral line, or why it cannot be; None where nothing is converted.
    """

    files: PartFiles
    neutral: TextFile
    variants: TextFile | None
    blocks: Sequence[Block]
    words: Sequence[AttitudeWord | None]
    renderings: Renderings
    groups: Sequence[int]
    plans: Sequence[Plan | NotConvertible] | None


def read_english(collector: CaseCollector, files: PartFiles, alone: bool, convert: str) -> English:
    """Read the English side of a subset.

    Args:
        collector: takes the files and what is found in them.
        files: the files of the subset.
        alone: whether the folder holds this subset only.
        convert: whether identities are made by conversion: ``never``, where they are ``missing``, or ``always``.

    Raises:
        GntError: files are missing or do not pair up, or the conversion needs a parser that is not usable.
    """
    neutral = collector.open(read_text(files.neutral))
    converted = convert == "always" or (convert == "missing" and files.block is None)
    variants = collector.open(read_text(files.block)) if files.block and not converted else None
    blocks = match_blocks(variants, neutral) if variants else []
    if variants:
        _report_blocks(collector, files, variants, blocks)
    renderings = attitude_words.shipped_renderings()
    own = Renderings()
    if path := files.optional("renderings.tsv"):
        table = read_table(path)
        collector.open(table.file)
        own.add_table(table)
    words = _own_words(collector, files, neutral, alone)
    for word in filter(None, words):
        own.add_word(word)
    missing = sum(word is None for word in words)
    if missing:
        collector.note(f"{files.subset}: {missing} of {len(words)} sentences have no known attitude word")
    first: dict[str, int] = {}
    groups = [first.setdefault(line.strip(), number) for number, line in enumerate(neutral.lines, start=1)]
    plans = _read_plans(collector, files, neutral) if converted else None
    return English(files, neutral, variants, blocks, words, own.merged(renderings), groups, plans)


def _read_plans(collector: CaseCollector, files: PartFiles, neutral: TextFile) -> Sequence[Plan | NotConvertible]:
    """How to turn each neutral line to the identities; what comes out counts into the revision."""
    plans = cached_plans(neutral.lines)
    collector.open(converted_file(f"{neutral.name} converted", plans))
    kept = sum(bool(plan.kept) for plan in plans if isinstance(plan, Plan))
    left = f"; {kept} of them keep a they that is not the person" if kept else ""
    done = sum(isinstance(plan, Plan) for plan in plans)
    collector.note(f"{files.subset}: {done} of {len(plans)} neutral sentences converted to {SIZE} identities{left}")
    return plans


def _report_blocks(collector: CaseCollector, files: PartFiles, variants: TextFile, blocks: Sequence[Block]) -> None:
    sentences = len({block.line for block in blocks if block.line is not None})
    repeats = [f"block {block.number} repeats line {block.line}" for block in blocks if block.repeat > 1]
    repeated = f"; repeated: {some(repeats)}" if repeats else ""
    collector.note(f"{files.subset}: {sentences} sentences in {len(blocks)} blocks of {SIZE}{repeated}")
    unnamed = check_identity_order(variants, blocks)
    if unnamed:
        collector.note(
            f"{variants.name}: {len(unnamed)} lines do not name their identity (lines {some(list(map(str, unnamed)))})"
        )


def _own_words(
    collector: CaseCollector, files: PartFiles, neutral: TextFile, alone: bool
) -> Sequence[AttitudeWord | None]:
    names = (f"attitude_words.{files.subset}.tsv", *(("attitude_words.tsv",) if alone else ()))
    path = files.optional(*names)
    table = read_table(path) if path else None
    own = attitude_words.read_line_words(table) if table else {}
    if table:
        collector.open(table.file)
    words: list[AttitudeWord | None] = []
    for line, sentence in enumerate(neutral.lines, start=1):
        word = own.get(line)
        if word and table and not attitude_words.stands_in(word.word, sentence):
            collector.tally(f"{table.file.name}: attitude word that does not stand in its sentence", f"line {line}")
            word = None
        words.append(word or attitude_words.attitude_word_of(sentence, files.subset, line))
    return words


def some(items: Sequence[str]) -> str:
    """A few items of a list, and how many more there are."""
    shown = ", ".join(items[:12])
    return shown if len(items) <= 12 else f"{shown} and {len(items) - 12} more"
