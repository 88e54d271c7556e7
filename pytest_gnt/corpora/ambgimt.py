"""AmbGIMT (Beyond Binary Gender, 2024): English sentences about "the person" with an attitude word, for 14 identities.

Files of a subset, one folder (``STEM`` is ``DictExample_convert_sents`` for the authentic sentences, and
``GIMT_amb_sents_v3_extend`` for the synthesized ones):

- ``STEM.txt`` and ``STEM.hypo.zh``: the neutral sentences and their references, line by line;
- ``STEM.AllType.txt.corrected`` and ``STEM.AllType.hypo.zh``: 14 lines a sentence, one an identity, in the order of
  `pytest_gnt.case.Identity`.

Where the second pair is there, each of its lines is a row and a case; the neutral file then only gives the sentence
numbers. Else each line of the neutral file is a row, and a case of the identity "person". The names ``STEM.zh``,
``STEM.AllType.txt`` and ``STEM.AllType.zh`` do as well. A target language without reference files gives cases without
references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_gnt.case import Case, Identity, Subset
from pytest_gnt.corpora import attitude_words
from pytest_gnt.corpora.ambgimt_files import DEFAULT_LANG, PartFiles, find_parts
from pytest_gnt.corpora.attitude_words import AttitudeWord, Renderings
from pytest_gnt.corpora.blocks import IDENTITIES, SIZE, Block, check_identity_order, match_blocks
from pytest_gnt.corpora.collector import CaseCollector
from pytest_gnt.corpora.labels import read_label
from pytest_gnt.corpora.options import check_options, mapping_option
from pytest_gnt.corpora.source import CorpusData, CorpusSource
from pytest_gnt.corpora.tables import read_table
from pytest_gnt.corpora.textfile import TextFile, read_text
from pytest_gnt.errors import GntError

TITLE = "AmbGIMT"

_SLUGS = {identity: identity.value.replace(" ", "-") for identity in Identity}


def load(source: CorpusSource) -> CorpusData:
    """Read AmbGIMT from a folder or its subfolder ``ambgimt``.

    Without wanted languages, those with reference files are loaded, or Chinese without references where there are none.

    The option ``stems`` maps subsets to other file stems (``{authentic = "mine"}``); only these subsets are read then.
    Attitude words come from ``attitude_words.SUBSET.tsv`` (or ``attitude_words.tsv``, if the folder holds one subset;
    columns line, attitude_word, zh_word, confidence) in the folder, and else from the shipped table. ``renderings.tsv``
    (attitude_word, lang, rendering) in the folder adds to the known renderings.

    Raises:
        GntError: files are missing, or do not pair up (both names and counts are given).
    """
    return read(source, TITLE)


def read(source: CorpusSource, title: str) -> CorpusData:
    """Read data of AmbGIMT's form under another title; see `load`."""
    check_options(source, ("stems",))
    collector = CaseCollector(source.name)
    parts = find_parts(source.root, _stems(source))
    english = [_read_english(collector, part, alone=len(parts) == 1) for part in parts]
    langs = source.langs
    if langs is None:
        langs = tuple(sorted({lang for part in parts for lang in part.languages()})) or (DEFAULT_LANG,)
    for path in (attitude_words.WORDS_FILE, attitude_words.SAMPLE_RENDERINGS_FILE):
        collector.open(read_text(path))
    for lang in langs:
        for part in english:
            _LanguagePart(collector, part, lang).read()
    return collector.data(title)


def _stems(source: CorpusSource) -> Mapping[Subset, str] | None:
    stems: dict[Subset, str] = {}
    for name, stem in mapping_option(source, "stems").items():
        subset, _ = read_label(Subset, name)
        if subset not in (Subset.AUTHENTIC, Subset.SYNTHESIZED):
            raise GntError(f"corpus {source.name!r}: stems knows authentic and synthesized, not {name!r}")
        stems[subset] = stem
    return stems or None


@dataclass(frozen=True, slots=True)
class _English:
    """The English side of a subset, read once for all languages.

    Attributes:
        files: its files.
        neutral: the neutral sentences.
        variants: the sentences of all identities, if they are there.
        blocks: the blocks of ``variants``.
        words: the attitude word of each neutral line, None where it is not known.
        renderings: known renderings of attitude words.
        groups: the line that gives its number to the group of each neutral line: the first with the same sentence.
    """

    files: PartFiles
    neutral: TextFile
    variants: TextFile | None
    blocks: Sequence[Block]
    words: Sequence[AttitudeWord | None]
    renderings: Renderings
    groups: Sequence[int]


def _read_english(collector: CaseCollector, files: PartFiles, alone: bool) -> _English:
    neutral = collector.open(read_text(files.neutral))
    variants = collector.open(read_text(files.block)) if files.block else None
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
    return _English(files, neutral, variants, blocks, words, own.merged(renderings), groups)


def _report_blocks(collector: CaseCollector, files: PartFiles, variants: TextFile, blocks: Sequence[Block]) -> None:
    sentences = len({block.line for block in blocks if block.line is not None})
    repeats = [f"block {block.number} repeats line {block.line}" for block in blocks if block.repeat > 1]
    repeated = f"; repeated: {_some(repeats)}" if repeats else ""
    collector.note(f"{files.subset}: {sentences} sentences in {len(blocks)} blocks of {SIZE}{repeated}")
    unnamed = check_identity_order(variants, blocks)
    if unnamed:
        collector.note(
            f"{variants.name}: {len(unnamed)} lines do not name their identity (lines {_some(list(map(str, unnamed)))})"
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


class _LanguagePart:
    """Makes the cases of one subset in one language."""

    def __init__(self, collector: CaseCollector, english: _English, lang: str) -> None:
        self._collector = collector
        self._english = english
        self._lang = lang
        self._subset = english.files.subset
        self._prefix = f"{collector.name}/en-{lang}/{self._subset}"
        self._label = f"en-{lang} {self._subset}"
        self._renderings = [english.renderings.of(word.word, lang) if word else () for word in english.words]

    def read(self) -> None:
        files, variants = self._english.files, self._english.variants
        block_reference = files.block_reference(self._lang)
        if variants is not None:
            references = self._references(block_reference, variants)
            self._collector.expect(len(variants.lines))
            self._read_blocks(variants, references)
        else:
            references = self._references(files.reference(self._lang), self._english.neutral)
            self._collector.expect(len(self._english.neutral.lines))
            for number in range(1, len(self._english.neutral.lines) + 1):
                self._take(self._english.neutral, references, number, Identity.PERSON, number, str(number))
        if references is None:
            self._collector.note(f"{self._label}: no reference file, so the cases have no reference")

    def _references(self, path: Path | None, english: TextFile) -> TextFile | None:
        if path is None:
            return None
        references = self._collector.open(read_text(path))
        if len(references.lines) != len(english.lines):
            raise GntError(
                f"{english.path} has {len(english.lines)} lines, but its references {references.path} have "
                f"{len(references.lines)}; use files of the same release"
            )
        return references

    def _read_blocks(self, variants: TextFile, references: TextFile | None) -> None:
        same: list[str] = []
        for block in self._english.blocks:
            start = block.first_line
            if block.line is None:
                for number in range(start, start + SIZE):
                    self._collector.refuse(
                        variants.name, number, f"line {start}, which begins the block, is no neutral sentence"
                    )
                continue
            for place, identity in enumerate(IDENTITIES):
                self._take(variants, references, start + place, identity, block.line, block.label)
            if references and len(set(references.lines[start - 1 : start - 1 + SIZE])) == 1:
                same.append(block.label)
        if same:
            self._collector.note(
                f"{self._label}: {len(same)} of {len(self._english.blocks)} blocks: one reference for all {SIZE} "
                f"identities, which names none (sentences {_some(same)})"
            )

    def _take(
        self, english: TextFile, references: TextFile | None, number: int, identity: Identity, line: int, label: str
    ) -> None:
        """Make the case of one row: its line in the file, its identity, its sentence's neutral line and label."""
        sentence = english.lines[number - 1]
        reference = references.lines[number - 1] if references else ""
        for file, text in ((english, sentence), (references, reference)):
            if file is not None and not text.strip():
                self._collector.refuse(file.name, number, "blank line")
                return
        word = self._english.words[line - 1]
        case = Case(
            id=f"{self._prefix}/{label}/{_SLUGS[identity]}",
            corpus=self._collector.name,
            subset=self._subset,
            target_lang=self._lang,
            source=sentence,
            group=f"{self._collector.name}/{self._subset}/{self._english.groups[line - 1]}",
            references=(reference,) if references else (),
            identity=identity,
            attitude_word=word.word if word else None,
            attitude_renderings=self._renderings[line - 1],
            origin=f"{english.name}:{number}",
        )
        self._collector.add(case, english.name, number)


def _some(items: Sequence[str]) -> str:
    """A few items of a list, and how many more there are."""
    shown = ", ".join(items[:12])
    return shown if len(items) <= 12 else f"{shown} and {len(items) - 12} more"
