"""``gnt judge-eval``: how good a judge is by gold labels, and how two judges differ on the same translations."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gnt.config import Config, load_config
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.evidence import Judgement
    from pytest_gnt.runner.judges import JudgeSetup
    from pytest_gnt.verdicts.agreement import Confusion
    from pytest_gnt.verdicts.calibration import Calibration
    from pytest_gnt.verdicts.gold import Gold

SHOWN_REFUSED = 10


def add_parser(subparsers: Any) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "judge-eval",
        help="measure a judge against gold labels",
        description="Judge translations that people have labelled, and say how often the judge is right. Columns of "
        "the files: source, translation, label, lang; optional set and gender (also SRC, src, tgt, out).",
    )
    parser.add_argument("--gold", nargs="+", required=True, metavar="[LANG=]FILE", help="tables of judged translations")
    parser.add_argument("--judge", metavar="NAME", help="judge to measure (default: that of gnt.toml, else lexicon)")
    parser.add_argument("--against", metavar="NAME", help="a second judge for the same translations")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="write a calibration file that a judge's table can name"
    )
    parser.add_argument(
        "--judge-prompt-dir", metavar="DIR", type=Path, help="prompts of --judge in the published layout"
    )
    parser.add_argument("--store", metavar="PATH", type=Path, help="result store (default: that of gnt.toml)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of decoding and resampling (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and write the calibration.

    Raises:
        GntError: a file, a judge or its model cannot be used.
    """
    from pytest_gnt.verdicts.gold import read_gold

    files = load_config(Path.cwd())
    gold = read_gold([_named_file(text) for text in arguments.gold], labelled=arguments.against is None)
    print(*_gold_lines(gold), sep="\n")
    first = _judged(arguments, files, arguments.judge or files.run.judge, gold, arguments.judge_prompt_dir)
    second = _judged(arguments, files, arguments.against, gold) if arguments.against else None
    for judged in filter(None, (first, second)):
        if any(row.label for row in gold.rows):
            calibration = judged.calibration()
            print(*_quality_lines(judged, calibration, arguments.seed), sep="\n")
            if arguments.out and judged is first:
                from pytest_gnt.verdicts.calibration import write_calibration

                write_calibration(arguments.out, calibration)
                print(f'\nwritten: {arguments.out}. Use it by  calibration = "…"  in [judges.{first.setup.name}].')
    if second is not None:
        print(*_comparison_lines(first, second, arguments.seed), sep="\n")
    return 0


def _named_file(text: str) -> tuple[str | None, Path]:
    """``it=file.tsv`` or ``file.tsv``."""
    lang, equals, name = text.partition("=")
    if equals and lang.isalpha() and len(lang) <= 3:
        return lang.lower(), Path(name)
    return None, Path(text)


class _Judged:
    """One judge's verdicts on the gold rows."""

    def __init__(self, setup: JudgeSetup, gold: Gold, judgements: Sequence[Judgement]) -> None:
        from pytest_gnt.verdicts.agreement import TWO

        self.setup = setup
        self.gold = gold
        self.judgements = judgements
        self.labels = TWO if setup.settings.setting.startswith("mono") else gold.labels

    def label(self, place: int, labels: Sequence[str]) -> str | None:
        """The verdict on one row; None where there is none."""
        from pytest_gnt.verdicts.agreement import in_two

        judgement = self.judgements[place]
        if len(labels) == 2:
            # A judge that does not see the source says GENDERED and leaves open whether that is right.
            label = judgement.label or (judgement.votes[0] if judgement.votes else None)
            return in_two(str(label)) if label in ("GENDERED", *self._three) else None
        return str(judgement.label) if judgement.label else None

    @property
    def _three(self) -> tuple[str, ...]:
        from pytest_gnt.verdicts.agreement import THREE

        return THREE

    def calibration(self) -> Calibration:
        """What the gold labels tell of the judge."""
        from pytest_gnt.verdicts.agreement import Confusion, in_two
        from pytest_gnt.verdicts.calibration import Calibration, Place

        pairs: dict[Place, list[tuple[str, str | None]]] = {}
        for place, row in enumerate(self.gold.rows):
            if row.label is None:
                continue
            label = in_two(row.label) if len(self.labels) == 2 else row.label
            pairs.setdefault(Place(row.lang, row.subset), []).append((label, self.label(place, self.labels)))
        return Calibration(
            judge=self.setup.name,
            keys={lang: self.setup.key(lang) for lang in sorted({place.lang for place in pairs})},
            gold=self.gold.files,
            labels=self.labels,
            cells={place: Confusion.of(found, self.labels) for place, found in pairs.items()},
        )


def _judged(
    arguments: argparse.Namespace, files: Config, name: str, gold: Gold, prompt_dir: Path | None = None
) -> _Judged:
    from pytest_gnt.pipeline.executor import Executor
    from pytest_gnt.pipeline.stages import judge
    from pytest_gnt.pipeline.store import Store
    from pytest_gnt.runner.judges import set_up_judge

    setup = set_up_judge(files, name, seed=arguments.seed, prompt_dir=prompt_dir)
    if setup is None:
        raise GntError(f"judge {name!r} comes from a pytest plugin, and this command runs outside of pytest")
    path = arguments.store or files.path(files.run.store)
    executor = Executor(Store(path, run="judge-eval"))
    try:
        judgements = judge(executor, setup.provider, [row.translation for row in gold.rows])
    finally:
        executor.store.close()
    for note in getattr(getattr(setup.provider, "judge", setup.provider), "notes", ()):
        print(f"note: {note}")
    return _Judged(setup, gold, judgements)


def _gold_lines(gold: Gold) -> list[str]:
    read = sum(entry["rows"] for entry in gold.files)
    lines = [f"gold: {read} rows read = {len(gold.rows)} used + {len(gold.refused)} refused"]
    lines += [f"  refused {row}" for row in gold.refused[:SHOWN_REFUSED]]
    if len(gold.refused) > SHOWN_REFUSED:
        lines.append(f"  … and {len(gold.refused) - SHOWN_REFUSED} more")
    return lines


def _quality_lines(judged: _Judged, calibration: Calibration, seed: int) -> list[str]:
    """Quality by language, by language and set, and over all."""
    from pytest_gnt.verdicts.agreement import vote_agreement

    by_lang = calibration.by_lang()
    places: dict[str, Confusion] = dict(by_lang)
    places.update({f"{place.lang} {place.subset}": found for place, found in calibration.cells.items() if place.subset})
    whole = list(by_lang.values())
    if len(whole) > 1:
        places["all languages"] = sum(whole[1:], start=whole[0])
    lines = ["", f"judge {judged.setup.name}"]
    for name, confusion in places.items():
        lines += _confusion_lines(name, confusion, seed)
    reasons: dict[str, int] = {}
    for judgement in judged.judgements:
        if judgement.reason:
            reasons[judgement.reason] = reasons.get(judgement.reason, 0) + 1
    if reasons:
        lines.append("  unscored: " + ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items())))
    if judged.setup.votes > 1:
        from pytest_gnt.reports.judge_text import agreement_text

        lines.append("  " + agreement_text(vote_agreement(one.votes for one in judged.judgements)))
    return lines


def _confusion_lines(name: str, confusion: Confusion, seed: int) -> list[str]:
    from pytest_gnt.verdicts.agreement import quality

    found = quality(confusion, seed)
    lines = [
        f"  {name}: {found['n']} judged, {found['unscored']} unscored",
        f"    accuracy {_with(found, 'accuracy')}   macro-F1 {_with(found, 'macro_f1')}   "
        f"kappa {_with(found, 'kappa')}",
    ]
    for label, scores in found["labels"].items():
        lines.append(
            f"    {label:<18} precision {_with(scores, 'precision')}   recall {_with(scores, 'recall')}   "
            f"F1 {_number(scores['f1'])}   n {scores['support']}"
        )
    return lines + _matrix("gold", "judged", found["confusion"])


def _matrix(rows: str, columns: str, counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    names = list(next(iter(counts.values())))
    lines = [f"    {rows + ' ↓  ' + columns + ' →':<20}" + "".join(f"{name:>20}" for name in names)]
    return lines + [f"    {label:<20}" + "".join(f"{row[name]:>20}" for name in names) for label, row in counts.items()]


def _comparison_lines(first: _Judged, second: _Judged, seed: int) -> list[str]:
    """How the verdicts of two judges differ, and which is right where they do."""
    from pytest_gnt.verdicts.agreement import Confusion, in_two, quality

    labels = min(first.labels, second.labels, key=len)
    pairs: list[tuple[str, str | None]] = []
    unscored = better = worse = 0
    differing: list[str] = []
    for place, row in enumerate(first.gold.rows):
        one, other = first.label(place, labels), second.label(place, labels)
        if one is None:
            unscored += 1
            continue
        pairs.append((one, other))
        if other is not None and one != other:
            differing.append(f"    {row.translation.case.origin}: {one} / {other}")
            gold = row.label and (in_two(row.label) if len(labels) == 2 else row.label)
            better += other == gold
            worse += one == gold
    names = (first.setup.name, second.setup.name)
    found = quality(Confusion.of(pairs, labels), seed)
    lines = [
        "",
        f"{names[0]} against {names[1]} on the same {len(first.gold.rows)} translations",
        f"  same label {_with(found, 'accuracy')}   kappa {_with(found, 'kappa')}; "
        f"undecided by {names[0]} {unscored}, by {names[1]} alone {found['unscored']}",
        *_matrix(names[0], names[1], found["confusion"]),
    ]
    if better or worse:
        from pytest_gnt.verdicts.statistics import mcnemar

        p = mcnemar(worse, better, side="two-sided")
        lines.append(
            f"  where they differ {names[0]} is right {worse} times, {names[1]} {better} times (McNemar p = {p:.3g})"
        )
    return [*lines, *differing[:SHOWN_REFUSED]]


def _with(found: Mapping[str, Any], name: str) -> str:
    low, high = found[f"{name}_low"], found[f"{name}_high"]
    interval = f" [{_number(low)}, {_number(high)}]" if low is not None else ""
    return _number(found[name]) + interval


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
