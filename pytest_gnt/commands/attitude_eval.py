"""``gnt attitude-eval``: how far an attitude model agrees with people about word pairs (AmbGIMT, appendix A)."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gnt.commands.agreement_text import confusion_lines, number, rows_lines
from pytest_gnt.commands.judge_eval import named_file
from pytest_gnt.config import Config, load_config
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.metrics.attitude import Templates, WordQuery, WordScore
    from pytest_gnt.pipeline.word_scores import WordScores
    from pytest_gnt.verdicts.agreement import Confusion
    from pytest_gnt.verdicts.word_pairs import WordPair, WordPairs


def add_parser(subparsers: Any) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "attitude-eval",
        help="measure an attitude model against human labels of word pairs",
        description="Score pairs of a word and its translation that people have labelled, and say how often the model "
        "sees the same shift. Columns of the files: source_word, target_word, label (to-positive, neutral, "
        "to-negative), target_lang or lang; optional source_lang (default: en).",
    )
    parser.add_argument(
        "--pairs",
        nargs="+",
        action="extend",
        required=True,
        metavar="[LANG=]FILE",
        help="tables of labelled pairs",
    )
    parser.add_argument(
        "--attitude-model", metavar="NAME", help="model to measure (default: that of gnt.toml, else gemma270m)"
    )
    parser.add_argument(
        "--scale",
        choices=("raw", "calibrated"),
        default="raw",
        help="scores as the model gives them (default, the paper's), or on each language's scale of kind and harsh",
    )
    parser.add_argument(
        "--threshold", metavar="T", type=float, default=1.0, help="a difference beyond T is a shift (default: 1)"
    )
    parser.add_argument("--json", action="store_true", help="write everything as JSON instead of text")
    parser.add_argument("--store", metavar="PATH", type=Path, help="result store (default: that of gnt.toml)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the intervals' draws (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print.

    Raises:
        GntError: a file, the attitude model or the store cannot be used, or no pair could be scored.
    """
    from pytest_gnt.verdicts.word_pairs import read_word_pairs

    if not 0 <= arguments.threshold < float("inf"):
        raise GntError(f"--threshold: {arguments.threshold} must be a number of 0 or more")
    files = load_config(Path.cwd())
    gold = read_word_pairs([named_file(text) for text in arguments.pairs])
    measured = _measure(arguments, files, gold)
    if arguments.json:
        print(json.dumps(_as_json(measured, arguments.seed), ensure_ascii=True, indent=1, allow_nan=False))
    else:
        print(*_lines(measured, arguments.seed), sep="\n")
    return 0


@dataclass(frozen=True, slots=True)
class _Compared:
    """One pair with the model's scores; ``label`` is None, and ``reason`` says why, where one of them is missing."""

    pair: WordPair
    source: WordScore
    target: WordScore
    label: str | None

    @property
    def difference(self) -> float | None:
        """e(target) − e(source)."""
        if self.source.score is None or self.target.score is None:
            return None
        return self.target.score - self.source.score

    @property
    def missing(self) -> WordScore | None:
        """The first score that is not there."""
        return next((score for score in (self.source, self.target) if score.score is None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    gold: WordPairs
    model: str
    signature: str
    scale: str
    threshold: float
    compared: Sequence[_Compared]
    scores: WordScores
    templates: Templates

    def confusions(self) -> dict[str, Confusion]:
        """Counts of human and model label by language pair, and over all pairs where there are several."""
        from pytest_gnt.verdicts.agreement import Confusion
        from pytest_gnt.verdicts.word_pairs import SHIFTS

        found: dict[str, list[tuple[str, str | None]]] = {}
        for one in self.compared:
            found.setdefault(one.pair.langs, []).append((one.pair.label, one.label))
        by_langs = {langs: Confusion.of(found[langs], SHIFTS) for langs in sorted(found)}
        if len(by_langs) > 1:
            by_langs["all languages"] = Confusion.of([pair for pairs in found.values() for pair in pairs], SHIFTS)
        return by_langs

    def langs(self) -> list[str]:
        """Every language that a word is of."""
        return sorted({query.lang for one in self.compared for query in (one.pair.source, one.pair.target)})


def _measure(arguments: argparse.Namespace, files: Config, gold: WordPairs) -> _Measured:
    from pytest_gnt.metrics.attitude import Templates
    from pytest_gnt.pipeline.executor import Executor
    from pytest_gnt.pipeline.store import Store
    from pytest_gnt.pipeline.word_scores import word_scores
    from pytest_gnt.runner.attitude_models import DEFAULT_ATTITUDE_MODEL, signature_part, word_scorer

    name = arguments.attitude_model or files.run.attitude_model or DEFAULT_ATTITUDE_MODEL
    templates = Templates(files.attitude_templates)
    scorer = word_scorer(files, name, files.attitude_model(name), templates)
    words = list(dict.fromkeys(query for pair in gold.pairs for query in (pair.source, pair.target)))
    executor = Executor(Store(arguments.store or files.path(files.run.store), run="attitude-eval"))
    try:
        scores = word_scores(scorer, templates, words, executor)
    finally:
        executor.store.close()
    score = scores.calibrated if arguments.scale == "calibrated" else scores.raw.__getitem__
    compared = [_compared(pair, score(pair.source), score(pair.target), arguments.threshold) for pair in gold.pairs]
    if all(one.label is None for one in compared):
        first = compared[0].missing
        raise GntError(f"none of the {len(compared)} pairs could be scored: {first.detail if first else ''}")
    part = signature_part(
        name, scorer, templates, [query.lang for query in words], calibrated=arguments.scale == "calibrated"
    )
    return _Measured(
        gold=gold,
        model=name,
        signature=f"{part}.t{arguments.threshold:g}",
        scale=arguments.scale,
        threshold=arguments.threshold,
        compared=compared,
        scores=scores,
        templates=templates,
    )


def _compared(pair: WordPair, source: WordScore, target: WordScore, threshold: float) -> _Compared:
    from pytest_gnt.verdicts.word_pairs import shift_label

    label = None
    if source.score is not None and target.score is not None:
        label = shift_label(target.score - source.score, threshold)
    return _Compared(pair, source, target, label)


def _lines(measured: _Measured, seed: int) -> list[str]:
    gold = measured.gold
    lines = [
        *rows_lines("pairs", gold.files, len(gold.pairs), gold.refused),
        "",
        f"attitude model {measured.model}, {measured.scale} scores, a shift is a difference beyond "
        f"{measured.threshold:g}",
        f"signature {measured.signature}",
    ]
    lines += [f"note: {note}" for note in measured.scores.notes]
    for name, confusion in measured.confusions().items():
        lines += confusion_lines(name, confusion, seed, rows="human", columns="model", done="compared")
    reasons = Counter(str(one.missing.reason) for one in measured.compared if one.missing is not None)
    if reasons:
        lines.append("  unscored: " + ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items())))
    return [*lines, "", "plainly kind against plainly harsh words", *_calibration_lines(measured)]


def _calibration_lines(measured: _Measured) -> list[str]:
    lines = []
    for lang in measured.langs():
        known = measured.templates.find(lang)
        found = measured.scores.calibrations.get(lang)
        review = "" if known is None or known.reviewed else "; template not reviewed by a native speaker"
        if found is None:
            lines.append(f"  {lang}: {measured.scores.uncalibrated.get(lang, 'no scores')}{review}")
            continue
        lines.append(
            f"  {lang}: kind above harsh in {found.auc:.1%} of pairs (AUC {number(found.auc)}, {found.n} words), "
            f"zero {found.zero:+.3f}, unit {found.unit:.3f}{review}"
        )
    return lines


def _as_json(measured: _Measured, seed: int) -> dict[str, Any]:
    from pytest_gnt import __version__
    from pytest_gnt.verdicts.agreement import quality

    return {
        "product": f"pytest-gnt {__version__}",
        "attitude_model": measured.model,
        "signature": measured.signature,
        "scale": measured.scale,
        "threshold": measured.threshold,
        "seed": seed,
        "files": list(measured.gold.files),
        "refused": list(measured.gold.refused),
        "notes": list(measured.scores.notes),
        "agreement": {name: quality(confusion, seed) for name, confusion in measured.confusions().items()},
        "calibration": {lang: asdict(found) for lang, found in sorted(measured.scores.calibrations.items())},
        "pairs": [_pair_row(one) for one in measured.compared],
    }


def _pair_row(one: _Compared) -> dict[str, Any]:
    missing = one.missing
    return {
        "origin": one.pair.origin,
        **_word("source", one.pair.source, one.source),
        **_word("target", one.pair.target, one.target),
        "difference": one.difference,
        "human": one.pair.label,
        "model": one.label,
        "reason": None if missing is None else str(missing.reason),
        "detail": "" if missing is None else missing.detail,
    }


def _word(which: str, query: WordQuery, score: WordScore) -> dict[str, Any]:
    return {f"{which}_lang": query.lang, f"{which}_word": query.word, f"{which}_score": score.score}
