"""``gnt judge-eval``: how good a judge is by gold labels, and how two judges differ on the same translations."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gnt.commands.agreement_text import (
    SHOWN_REFUSED,
    confusion_lines,
    matrix_lines,
    rows_lines,
    with_interval,
)
from pytest_gnt.config import Config, load_config
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.evidence import Judgement
    from pytest_gnt.runner.judges import JudgeSetup
    from pytest_gnt.verdicts.agreement import Confusion
    from pytest_gnt.verdicts.calibration import Calibration
    from pytest_gnt.verdicts.gold import Gold


def add_parser(subparsers: Any) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "judge-eval",
        help="measure a judge against gold labels",
        description="Judge translations that people have labelled, and say how often the judge is right. Columns of "
        "the files: source, translation, label, lang; optional set and gender (also SRC, src, tgt, out).",
    )
    parser.add_argument(
        "--gold",
        nargs="+",
        action="extend",
        required=True,
        metavar="[LANG=]FILE",
        help="tables of judged translations",
    )
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
    gold = read_gold([named_file(text) for text in arguments.gold], labelled=arguments.against is None)
    print(*rows_lines("gold", gold.files, len(gold.rows), gold.refused), sep="\n")
    first = _judged(arguments, files, arguments.judge or files.run.judge, gold, arguments.judge_prompt_dir)
    second = _judged(arguments, files, arguments.against, gold) if arguments.against else None
    for judged in filter(None, (first, second)):
        if any(row.label for row in gold.rows):
            calibration = judged.calibration()
            print(*_quality_lines(judged, calibration, arguments.seed), sep="\n")
            if arguments.out and judged is first:
                from pytest_gnt.verdicts.calibration import write_calibration

                write_calibration(arguments.out, calibration)
                print(*_usage_lines(first.setup, arguments.out), sep="\n")
    if second is not None:
        print(*_comparison_lines(first, second, arguments.seed), sep="\n")
    return 0


def named_file(text: str) -> tuple[str | None, Path]:
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


def _usage_lines(setup: JudgeSetup, out: Path) -> list[str]:
    """The table of gnt.toml that names the calibration. It is whole: a table of the user's replaces a preset's."""
    import json

    kept = setup.settings.model_dump(exclude_unset=True, exclude={"calibration", "title"})
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in kept.items()]
    return [
        "",
        f"written: {out}. To use it, have in gnt.toml:",
        f"[judges.{setup.name}]",
        *lines,
        f"calibration = {json.dumps(str(out), ensure_ascii=False)}",
    ]


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
        lines += confusion_lines(name, confusion, seed)
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
        f"  same label {with_interval(found, 'accuracy')}   kappa {with_interval(found, 'kappa')}; "
        f"undecided by {names[0]} {unscored}, by {names[1]} alone {found['unscored']}",
        *matrix_lines(names[0], names[1], found["confusion"]),
    ]
    if better or worse:
        from pytest_gnt.verdicts.statistics import mcnemar

        p = mcnemar(worse, better, side="two-sided")
        lines.append(
            f"  where they differ {names[0]} is right {worse} times, {names[1]} {better} times (McNemar p = {p:.3g})"
        )
    return [*lines, *differing[:SHOWN_REFUSED]]
