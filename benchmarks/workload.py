"""A job of any size for the benchmarks, made of the shipped sample's sentences, each row with a number of its own.

The full job has the shape of the two public corpora: 6,000 mGeNTE cases (4 languages, 1,500 sentences each) and 43,624
AmbGIMT cases (3,116 sentences for 14 identities each), 49,624 in all. Smaller and larger jobs keep the proportions. The
system under test is a file of translations, the judge is the lexicon, attitude scores come from the shipped table and
quality is BLEU and chrF, so that no model is needed to fill the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from pathlib import Path

from pytest_gnt.case import Case, Identity, Subset
from pytest_gnt.corpora.ambgimt_files import PUBLIC_STEMS
from pytest_gnt.corpora.mgente import LANGUAGES
from pytest_gnt.corpora.sample import FOLDER, load_ambgimt, load_mgente
from pytest_gnt.corpora.source import CorpusSource

FULL = 49_624
MGENTE_ROWS = 1_500
SENTENCES = 3_116
AUTHENTIC = 538

SUITE = '''"""One test a case, resting on all evidence that the corpus has."""

from pytest_gnt import assert_attitude_kept, assert_correctly_gendered, assert_identity_kept, assert_neutral, cases


@cases("mgente", sets=["Set-N"])
def test_neutral(judgement, quality):
    assert_neutral(judgement)


@cases("mgente", sets=["Set-G"])
def test_gendered(judgement, quality):
    assert_correctly_gendered(judgement)


@cases("ambgimt")
def test_identity_and_attitude(translation, attitude, quality):
    assert_identity_kept(translation)
    assert_attitude_kept(attitude)
'''

BARE = """import pytest

@pytest.mark.parametrize("number", range({cases}))
def test_nothing(number):
    pass
"""

SETTINGS = """[run]
model = "system"
attitude_model = "words"
data = "data"
max_unscored_rate = 1.0

[models.system]
backend = "recorded"
path = "system.tsv"

[attitude_models.words]
kind = "recorded"
path = "words.tsv"
"""

_NUMBERED = {
    "en": "{} (Item {}.)",
    "it": "{} (Punto {}.)",
    "es": "{} (Punto {}.)",
    "de": "{} (Punkt {}.)",
    "el": "{} (Σημείο {}.)",
    "zh": "{}（第{}点）",
}


@dataclass(frozen=True, slots=True)
class Size:
    """How many sentences of each corpus; ``cases`` is what they come to."""

    rows: int
    sentences: int

    @property
    def cases(self) -> int:
        """Cases of both corpora."""
        return len(LANGUAGES) * self.rows + len(Identity) * self.sentences


def size_for(cases: int) -> Size:
    """The size nearest to a number of cases, in the proportions of the full job."""
    if cases == FULL:
        return Size(MGENTE_ROWS, SENTENCES)
    rows = max(2, round(cases * MGENTE_ROWS / FULL))
    return Size(rows, max(2, round((cases - len(LANGUAGES) * rows) / len(Identity))))


def write_workload(folder: Path, size: Size) -> None:
    """Write corpora, system, settings and suite, and a bare pytest file with as many tests (``bare/``)."""
    product = folder / "product"
    (product / "data" / "mgente").mkdir(parents=True, exist_ok=True)
    (product / "data" / "ambgimt").mkdir(exist_ok=True)
    with (product / "system.tsv").open("w", encoding="utf-8") as system:
        system.write("case_id\ttranslation\tlabel\n")
        for row in chain(_mgente(product / "data" / "mgente", size), _ambgimt(product / "data" / "ambgimt", size)):
            system.write("\t".join(row) + "\n")
    (product / "gnt.toml").write_text(SETTINGS, encoding="utf-8")
    (product / "words.tsv").write_bytes(
        files("pytest_gnt.metrics").joinpath("data", "attitude_scores.tsv").read_bytes()
    )
    (product / "test_cases.py").write_text(SUITE, encoding="utf-8")
    (product / "pytest.ini").write_text("[pytest]\n")
    bare = folder / "bare"
    bare.mkdir(exist_ok=True)
    (bare / "pytest.ini").write_text("[pytest]\n")
    (bare / "test_bare.py").write_text(BARE.format(cases=size.cases))


def _numbered(text: str, lang: str, number: int) -> str:
    return _NUMBERED[lang].format(text, number)


def _mgente(folder: Path, size: Size) -> Iterator[tuple[str, str, str]]:
    """Write the tables; yields the system's rows: neutral and gendered translations in turns."""
    by_lang: dict[str, list[Case]] = {}
    for case in load_mgente(CorpusSource(name="mgente", root=FOLDER)).cases:
        by_lang.setdefault(case.target_lang, []).append(case)
    for lang, sample in by_lang.items():
        with (folder / f"en-{lang}.tsv").open("w", encoding="utf-8") as table:
            table.write("ID\tEuroparl_ID\tSET\tSRC\tREF-G\tREF-N\tGENDER\tG-WORDS\n")
            for number in range(1, size.rows + 1):
                case = sample[number % len(sample)]
                right, other = (
                    _numbered(texts[0], lang, number) for texts in (case.references, case.contrast_references)
                )
                neutral, gendered = (right, other) if case.subset is Subset.SET_N else (other, right)
                source, words = _numbered(case.source, "en", number), "; ".join(case.gendered_words)
                cells = (f"ep-{number}", case.subset, source, gendered, neutral, case.gender or "", words)
                table.write(f"{number}\t" + "\t".join(cells) + "\n")
                kept = number % 5 > 0
                label = "NEUTRAL" if (case.subset is Subset.SET_N) == kept else "GENDERED"
                yield f"mgente/en-{lang}/{number}", right if kept else other, label


def _ambgimt(folder: Path, size: Size) -> Iterator[tuple[str, str, str]]:
    """Write both subsets; yields the system's rows: the reference, with the identity lost in one of nine."""
    sample = load_ambgimt(CorpusSource(name="ambgimt", root=FOLDER)).cases
    blocks = [sample[start : start + len(Identity)] for start in range(0, len(sample), len(Identity))]
    authentic = max(1, size.sentences * AUTHENTIC // SENTENCES)
    for subset, first, last in (
        (Subset.AUTHENTIC, 1, authentic),
        (Subset.SYNTHESIZED, authentic + 1, size.sentences),
    ):
        stem = PUBLIC_STEMS[subset]
        with (
            (folder / f"{stem}.txt").open("w", encoding="utf-8") as neutral,
            (folder / f"{stem}.hypo.zh").open("w", encoding="utf-8") as neutral_reference,
            (folder / f"{stem}.AllType.txt.corrected").open("w", encoding="utf-8") as variants,
            (folder / f"{stem}.AllType.hypo.zh").open("w", encoding="utf-8") as references,
            (folder / f"attitude_words.{subset}.tsv").open("w", encoding="utf-8") as words,
        ):
            words.write("line\tattitude_word\tzh_word\tconfidence\n")
            for number in range(first, last + 1):
                block, line = blocks[number % len(blocks)], number - first + 1
                words.write(f"{line}\t{block[0].attitude_word}\t{block[0].attitude_renderings[0]}\thigh\n")
                neutral.write(_numbered(block[0].source, "en", number) + "\n")
                neutral_reference.write(_numbered(block[0].references[0], "zh", number) + "\n")
                for place, case in enumerate(block):
                    reference = _numbered(case.references[0], "zh", number)
                    variants.write(_numbered(case.source, "en", number) + "\n")
                    references.write(reference + "\n")
                    lost = (number + place) % 9 == 0
                    text = _numbered(block[0].references[0], "zh", number) if lost else reference
                    slug = str(case.identity).replace(" ", "-")
                    yield f"ambgimt/en-zh/{subset}/{line}/{slug}", text, ""
