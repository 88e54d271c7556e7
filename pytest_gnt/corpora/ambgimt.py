"""AmbGIMT (Beyond Binary Gender, 2024): English sentences about "the person" with an attitude word, for 14 identities.

Files of a subset, one folder (``STEM`` is ``DictExample_convert_sents`` for the authentic sentences, and
``GIMT_amb_sents_v3_extend`` for the synthesized ones):

- ``STEM.txt`` and ``STEM.hypo.zh``: the neutral sentences and their references, line by line;
- ``STEM.AllType.txt.corrected`` and ``STEM.AllType.hypo.zh``: 14 lines a sentence, one an identity, in the order of
  `pytest_gnt.case.Identity`.

Where the second pair is there, each of its lines is a row and a case; the neutral file then only gives the sentence
numbers. Else each line of the neutral file is a row, and a case of the identity "person"; or, with the option
``convert``, 14 rows and the cases of all identities, made by `pytest_gnt.corpora.conversion`. The names ``STEM.zh``,
``STEM.AllType.txt`` and ``STEM.AllType.zh`` do as well. A target language without reference files gives cases without
references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_gnt.case import Case, Identity, Subset
from pytest_gnt.corpora import attitude_words
from pytest_gnt.corpora.ambgimt_english import English, read_english, some
from pytest_gnt.corpora.ambgimt_files import DEFAULT_LANG, find_parts
from pytest_gnt.corpora.blocks import IDENTITIES, SIZE
from pytest_gnt.corpora.collector import CaseCollector
from pytest_gnt.corpora.conversion import NotConvertible
from pytest_gnt.corpora.conversion_chinese import chinese_sentence, names_person
from pytest_gnt.corpora.conversion_plan import Plan
from pytest_gnt.corpora.labels import read_label
from pytest_gnt.corpora.options import check_options, mapping_option
from pytest_gnt.corpora.source import CorpusData, CorpusSource
from pytest_gnt.corpora.textfile import TextFile, read_text
from pytest_gnt.errors import GntError

TITLE = "AmbGIMT"

_SLUGS = {identity: identity.value.replace(" ", "-") for identity in Identity}


def load(source: CorpusSource) -> CorpusData:
    """Read AmbGIMT from a folder or its subfolder ``ambgimt``.

    Without wanted languages, those with reference files are loaded, or Chinese without references where there are none.

    The option ``stems`` maps subsets to other file stems (``{authentic = "mine"}``); only these subsets are read then.
    The option ``convert`` makes the sentences of all identities from the neutral ones: ``true`` where there is no
    all-identity file, ``"always"`` also in the place of one. Case ids and groups are the same either way.
    Attitude words come from ``attitude_words.SUBSET.tsv`` (or ``attitude_words.tsv``, if the folder holds one subset;
    columns line, attitude_word, zh_word, confidence) in the folder, and else from the shipped table. ``renderings.tsv``
    (attitude_word, lang, rendering) in the folder adds to the known renderings.

    Raises:
        GntError: files are missing, or do not pair up (both names and counts are given).
    """
    return read(source, TITLE)


def read(source: CorpusSource, title: str) -> CorpusData:
    """Read data of AmbGIMT's form under another title; see `load`."""
    check_options(source, ("stems", "convert"))
    convert = _convert_option(source)
    collector = CaseCollector(source.name)
    parts = find_parts(source.root, _stems(source))
    english = [read_english(collector, part, len(parts) == 1, convert) for part in parts]
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


def _convert_option(source: CorpusSource) -> str:
    """``never``, ``missing`` or ``always``."""
    value = source.options.get("convert")
    known = {None: "never", False: "never", True: "missing", "never": "never", "missing": "missing", "always": "always"}
    if not isinstance(value, bool | str | None) or value not in known:
        raise GntError(f'corpus {source.name!r}: the option convert must be true, false or "always", not {value!r}')
    return known[value]


class _LanguagePart:
    """Makes the cases of one subset in one language."""

    def __init__(self, collector: CaseCollector, english: English, lang: str) -> None:
        self._collector = collector
        self._english = english
        self._lang = lang
        self._subset = english.files.subset
        self._prefix = f"{collector.name}/en-{lang}/{self._subset}"
        self._label = f"en-{lang} {self._subset}"
        self._renderings = [english.renderings.of(word.word, lang) if word else () for word in english.words]

    def read(self) -> None:
        files, variants = self._english.files, self._english.variants
        if self._english.plans is not None:
            references = self._references(files.reference(self._lang), self._english.neutral)
            self._collector.expect(len(self._english.neutral.lines) * SIZE)
            self._read_converted(self._english.plans, references)
            self._note_missing(references)
            return
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
            self._collector.note(
                f"{self._label}: neutral sentences only, so each is one case about the person; options = {{convert = "
                f"true}} makes {SIZE} of it"
            )
        self._note_missing(references)

    def _note_missing(self, references: TextFile | None) -> None:
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
                f"identities, which names none (sentences {some(same)})"
            )

    def _read_converted(self, plans: Sequence[Plan | NotConvertible], references: TextFile | None) -> None:
        unnamed: list[str] = []
        for number, plan in enumerate(plans, start=1):
            if isinstance(plan, NotConvertible):
                for _ in IDENTITIES:
                    self._collector.refuse(self._english.neutral.name, number, str(plan))
                continue
            reference = references.lines[number - 1] if references else None
            if reference and self._lang == "zh" and not names_person(reference):
                unnamed.append(str(number))
            for identity in IDENTITIES:
                own = self._own_reference(reference, identity)
                texts = [(self._english.neutral, plan.sentence(identity))]
                texts += [(references, own)] if references and own is not None else []
                self._make(texts, number, identity, number, str(number))
        if unnamed:
            self._collector.note(
                f"{self._label}: {len(unnamed)} of {len(plans)} references name no person, so they are the same for "
                f"all {SIZE} identities (lines {some(unnamed)})"
            )
        if references and self._lang != "zh":
            self._collector.note(
                f"{self._label}: references cannot be converted, so only the cases of {Identity.PERSON} have one"
            )

    def _own_reference(self, reference: str | None, identity: Identity) -> str | None:
        """The reference of an identity, or None where there is none."""
        if reference is None or identity is Identity.PERSON:
            return reference
        return chinese_sentence(reference, identity) if self._lang == "zh" else None

    def _take(
        self, english: TextFile, references: TextFile | None, number: int, identity: Identity, line: int, label: str
    ) -> None:
        """Make the case of one row: its line in the file, its identity, its sentence's neutral line and label."""
        texts = [(file, file.lines[number - 1]) for file in (english, references) if file is not None]
        self._make(texts, number, identity, line, label)

    def _make(
        self, texts: Sequence[tuple[TextFile, str]], number: int, identity: Identity, line: int, label: str
    ) -> None:
        """Make a case of a sentence and, if there is one, its reference, each with the file that it comes from."""
        for file, text in texts:
            if not text.strip():
                self._collector.refuse(file.name, number, "blank line")
                return
        (english, sentence), *referenced = texts
        word = self._english.words[line - 1]
        case = Case(
            id=f"{self._prefix}/{label}/{_SLUGS[identity]}",
            corpus=self._collector.name,
            subset=self._subset,
            target_lang=self._lang,
            source=sentence,
            group=f"{self._collector.name}/{self._subset}/{self._english.groups[line - 1]}",
            references=tuple(reference for _, reference in referenced),
            identity=identity,
            attitude_word=word.word if word else None,
            attitude_renderings=self._renderings[line - 1],
            origin=f"{english.name}:{number}",
        )
        self._collector.add(case, english.name, number)
