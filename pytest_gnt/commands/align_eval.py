"""``gnt align-eval``: how often an aligner finds the attitude word's translation, on AmbGIMT's own references."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_gnt.config import load_config
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.case import Case
    from pytest_gnt.metrics.alignment.quality import AlignerQuality
    from pytest_gnt.pipeline.aligning import WordFinder

HOLD_OUT = ("sentence", "subset")


class Gold(NamedTuple):
    """A neutral sentence with its reference, and the word in it that stands for the attitude word."""

    case: Case
    zh_word: str


def add_parser(subparsers: Any) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "align-eval",
        help="measure an aligner against gold words",
        description="Align the public AmbGIMT sentences with their Chinese references, and say how often the aligner "
        "finds the word that was marked in the reference. The lexicon does not see what it is asked for: the marked "
        "word of the sentence itself is withheld from it.",
    )
    parser.add_argument(
        "--aligner", metavar="NAME", help="aligner to measure (default: that of gnt.toml, else lexicon)"
    )
    parser.add_argument("--data", metavar="DIR", help="folder of the public corpora (default: that of gnt.toml)")
    parser.add_argument(
        "--hold-out",
        choices=HOLD_OUT,
        default="sentence",
        help="what is withheld from the lexicon: the renderings of the sentence itself, or of its whole subset",
    )
    parser.add_argument("--first", metavar="N", type=int, help="only the first N sentences of each subset")
    parser.add_argument("--store", metavar="PATH", type=Path, help="result store (default: that of gnt.toml)")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print.

    Raises:
        GntError: data or aligner cannot be used.
    """
    from pytest_gnt.evidence import Translation
    from pytest_gnt.metrics.alignment.quality import AlignerQuality
    from pytest_gnt.pipeline.executor import Executor
    from pytest_gnt.pipeline.store import Store
    from pytest_gnt.runner.aligners import set_up_aligner

    files = load_config(Path.cwd())
    folder = arguments.data or files.run.data
    if folder is None:
        raise GntError("give the folder of the public corpora by --data=DIR (gnt fetch ambgimt)")
    gold = _gold(files.path(folder), arguments.first)
    setup = set_up_aligner(files, arguments.aligner or files.run.aligner)
    finder = _blind(setup.finder, gold, arguments.hold_out)
    executor = Executor(Store(arguments.store or files.path(files.run.store), run="align-eval"))
    try:
        found = finder.find([Translation(case=row.case, text=row.case.references[0]) for row in gold], executor)
    finally:
        executor.store.close()
    print(f"aligner {setup.label({'zh'})}, {len(gold)} pairs of sentences")
    counted: dict[str, AlignerQuality] = {}
    for row, one in zip(gold, found, strict=True):
        for name in dict.fromkeys((str(row.case.subset), "all")):
            counted.setdefault(name, AlignerQuality()).add(one.words, row.zh_word)
    for name in sorted(counted, key=lambda name: (name == "all", name)):
        print(*_lines(name, counted[name]), sep="\n")
    return 0


def _gold(folder: Path, first: int | None) -> list[Gold]:
    """The neutral sentences with a reference whose word was marked with high confidence."""
    from pytest_gnt.case import Identity
    from pytest_gnt.corpora import ambgimt
    from pytest_gnt.corpora.attitude_words import attitude_word, sentence_hash
    from pytest_gnt.corpora.source import CorpusSource

    cases = ambgimt.load(CorpusSource(name="ambgimt", root=folder, langs=("zh",))).cases
    rows: dict[str, list[Gold]] = {}
    seen: set[str] = set()
    for case in cases:
        key = sentence_hash(case.source)
        word = attitude_word(key)
        if case.identity is not Identity.PERSON or not case.references or word is None or key in seen:
            continue
        if word.zh_word and word.confidence == "high":
            seen.add(key)
            rows.setdefault(case.subset, []).append(Gold(case, word.zh_word))
    if not rows:
        raise GntError(f"{folder} holds no AmbGIMT sentence whose attitude word is known")
    return [row for subset in sorted(rows) for row in rows[subset][:first]]


def _blind(finder: WordFinder, gold: Sequence[Gold], hold_out: str) -> WordFinder:
    """The finder with a lexicon that lacks what a sentence's own gold word would give away."""
    from pytest_gnt.pipeline.aligning import ByLexicon

    if not isinstance(finder, ByLexicon):
        return finder
    marked: dict[str, list[Gold]] = {}
    for row in gold:
        marked.setdefault((row.case.attitude_word or "").casefold(), []).append(row)

    def known(case: Case) -> tuple[str, ...]:
        others: Iterable[Gold] = marked.get((case.attitude_word or "").casefold(), ())
        if hold_out == "subset":
            others = (row for row in others if row.case.subset != case.subset)
        return tuple(dict.fromkeys(row.zh_word for row in others if row.case.id != case.id))

    return replace(finder, known=known)


def _lines(name: str, counted: AlignerQuality) -> list[str]:
    lines = [
        f"  {name}: {counted.pairs} pairs, something found in {_share(counted.answered, counted.pairs)}",
        f"    exact        precision {_share(counted.exact_words, counted.words)}   "
        f"recall {_share(counted.exact_pairs, counted.pairs)}",
        f"    overlapping  precision {_share(counted.overlapping_words, counted.words)}   "
        f"recall {_share(counted.overlapping_pairs, counted.pairs)}",
    ]
    if counted.reasons:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(counted.reasons.items()))
        lines.append(f"    nothing found: {reasons}")
    return lines


def _share(count: int, of: int) -> str:
    from pytest_gnt.verdicts.statistics import wilson

    interval = wilson(count, of)
    if interval is None:
        return "– (0 of 0)"
    low, high = interval
    return f"{count / of:.1%} [{low:.1%}, {high:.1%}]"
