"""How often the lexicon judge is right: confusion matrix, accuracy and macro-F1 on public judged data.

    python benchmarks/judge_accuracy.py --data DIR [--write]

DIR holds ``neutreval/`` (hlt-mt/fbk-NEUTR-evAL), ``genderous/`` (jhacken/GENDEROUS) and ``mgente/`` (a part of mGeNTE
en-it). Without it, only the shipped sample is measured. ``--write`` stores the figures that the product prints beside
its numbers.

What was tuned on and what is only reported is kept apart, in column ``split``: ``tuning`` was looked at again and again
while lexicon and rules were written; ``validation`` (the even lines of ``neutreval``) once, after which three errors
were mended by general rules; ``development`` is the shipped sample; of ``held-out`` no verdict was looked at before the
rules were final.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from pytest_gnt.case import Case, Gender, Subset  # noqa: E402
from pytest_gnt.evidence import JudgedLabel, Translation  # noqa: E402
from pytest_gnt.judges.lexicon import ACCURACY_FILE, VERSION, LexiconJudge  # noqa: E402
from pytest_gnt.judges.lexicon_data import LANGUAGES, lexicon_hash  # noqa: E402

SAMPLE = ROOT / "pytest_gnt" / "corpora" / "sample"
TUNING_SYSTEM = "GT"
TUNING_ROWS = 260
"""The first rows of the mGeNTE part were read while the Italian rules were written; the others were not."""


@dataclass(frozen=True)
class Item:
    """One judged example: what to judge, the gold label, and where the result is counted."""

    name: str
    split: str
    case: Case
    text: str
    gold: str
    group: str = ""


@dataclass
class Gold:
    """The items of one source, and what could not be used or read only with repair, by line."""

    items: list[Item] = field(default_factory=list)
    skipped: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)


def make_case(number: int, lang: str, source: str, gender: str = "") -> Case:
    """A case that holds just what the judge looks at."""
    subset = Subset.SET_G if gender else Subset.SET_N
    name = f"gold/en-{lang}/{number}"
    stated = Gender(gender) if gender else None
    return Case(
        id=name,
        corpus="gold",
        subset=subset,
        target_lang=lang,
        source=source,
        group=name,
        gender=stated,
    )


def rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of an unquoted TSV with the numbers of their lines (the header is line 1)."""
    lines = path.read_text(encoding="utf-8").split("\n")
    header = lines[0].split("\t")
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            yield number, dict(zip(header, line.split("\t"), strict=False))


def read_neutreval(folder: Path) -> Gold:
    """The published judged examples; the source's gender is not given, so the judge has the source's words only."""
    gold = Gold()
    for lang in LANGUAGES:
        path = folder / f"shots_{lang}_cross-p_l.tsv"
        for number, row in rows(path):
            split = "tuning" if (number - 1) % 2 else "validation"
            label, remark = gold_label(row["out"])
            if remark:
                gold.remarks.append(f"{path.name}:{number}: {remark}")
            if label is None:
                gold.skipped["neutreval", split, lang, ""] += 1
                continue
            gold.items.append(Item("neutreval", split, make_case(number, lang, row["src"]), row["tgt"], label))
    return gold


def gold_label(text: str) -> tuple[str | None, str]:
    """The label of a published annotation and a remark where its JSON is broken; a trailing comma is forgiven."""
    try:
        data = json.loads(text)
        remark = ""
    except ValueError as error:
        remark = f"broken JSON ({error})"
        try:
            data = json.loads(re.sub(r",\s*([}\]])", r"\1", text))
        except ValueError:
            return None, f"{remark}, skipped"
        remark += ", read without the trailing comma"
    label = data.get("label") if isinstance(data, dict) else None
    if label not in set(JudgedLabel):
        return None, f"unknown label {label!r}, skipped"
    return str(label), remark


def read_genderous(path: Path) -> Gold:
    """German system output with the gender that a human saw in it; rows that the human called an error are skipped."""
    gold = Gold()
    for number, row in rows(path):
        split = "tuning" if row["system"] == TUNING_SYSTEM else "held-out"
        if row["human_gender"] not in {"M", "F", "N"}:
            gold.skipped["genderous", split, "de", row["subset"]] += 1
            continue
        case = make_case(number, "de", row["src"])
        gold.items.append(Item("genderous", split, case, row["tgt"], row["human_gender"], row["subset"]))
    return gold


def read_mgente(path: Path) -> Gold:
    """Gendered references of Set-N: each expresses a gender, so that accuracy is the recall of gendered wording."""
    gold = Gold()
    for index, (number, row) in enumerate(rows(path), start=1):
        split = "tuning" if index <= TUNING_ROWS else "held-out"
        case = make_case(number, "it", row["SRC"])
        gold.items.append(Item("mgente-ref-g", split, case, row["REF-G"], "GENDERED"))
    return gold


def read_sample() -> Gold:
    """The shipped sample: both references, and the two recorded systems with their planted faults.

    The gendered words of the references are left out: they would give the judge the answer for the references.
    """
    gold = Gold()
    cases: dict[str, Case] = {}
    for lang in LANGUAGES:
        for number, row in rows(SAMPLE / "mgente" / f"en-{lang}.tsv"):
            case = make_case(number, lang, row["SRC"], row["GENDER"])
            cases[f"mgente/en-{lang}/{row['ID']}"] = case
            gendered = JudgedLabel.CORRECTLY_GENDERED if case.gender else JudgedLabel.WRONGLY_GENDERED
            gold.items.append(Item("sample-references", "development", case, row["REF-N"], JudgedLabel.NEUTRAL))
            gold.items.append(Item("sample-references", "development", case, row["REF-G"], gendered))
    planted: dict[tuple[str, str], set[str]] = {}
    for _, row in rows(SAMPLE / "systems" / "planted.tsv"):
        planted.setdefault((row["system"], row["case_id"]), set()).add(row["fault"])
    for system in ("sample-v1", "sample-v2"):
        for _, row in rows(SAMPLE / "systems" / f"{system}.tsv"):
            if row["case_id"] not in cases:
                continue
            case, faults = cases[row["case_id"]], planted.get((system, row["case_id"]), set())
            if faults & {"empty", "untranslated"}:
                gold.skipped["sample-systems", "development", case.target_lang, ""] += 1
                continue
            label = planted_label(case, faults)
            gold.items.append(Item("sample-systems", "development", case, row["translation"], label))
    return gold


def planted_label(case: Case, faults: set[str]) -> str:
    """The label that a recorded translation with these planted faults has."""
    if case.gender is None:
        gendered = faults & {"masculine-generic", "needless-gender"}
        return JudgedLabel.WRONGLY_GENDERED if gendered else JudgedLabel.NEUTRAL
    if "wrong-gender" in faults:
        return JudgedLabel.WRONGLY_GENDERED
    return JudgedLabel.NEUTRAL if "lost-gender" in faults else JudgedLabel.CORRECTLY_GENDERED


def judge_all(items: Sequence[Item]) -> Iterator[str]:
    """The judge's answers, in the terms of each item's gold; ``unscored`` where it could not decide."""
    judge = LexiconJudge()
    subjects = [Translation(case=item.case, text=item.text, raw=item.text) for item in items]
    answers = dict(judge.run([judge.work(subject) for subject in subjects]))
    for index, (item, subject) in enumerate(zip(items, subjects, strict=True)):
        judgement = judge.read(subject, answers[index].value)
        if judgement.label is None:
            yield "unscored"
        elif item.name == "genderous":
            genders = sorted({phrase.gender for phrase in judgement.phrases} - {"N"})
            yield "mixed" if len(genders) > 1 else genders[0] if genders else "N"
        elif item.name == "mgente-ref-g":
            yield "NEUTRAL" if judgement.label is JudgedLabel.NEUTRAL else "GENDERED"
        else:
            yield str(judgement.label)


def macro_f1(pairs: Iterable[tuple[str, str]]) -> float:
    """Unweighted mean of F1 over the labels of the gold; an answer outside them is an error, not a class of its own."""
    counts = Counter(pairs)
    labels = sorted({gold for gold, _ in counts})
    scores = []
    for label in labels:
        hits = counts[label, label]
        given = sum(n for (_, answer), n in counts.items() if answer == label)
        wanted = sum(n for (gold, _), n in counts.items() if gold == label)
        scores.append(2 * hits / (given + wanted))
    return sum(scores) / len(scores)


def result(pairs: Sequence[tuple[str, str]], skipped: int) -> dict[str, Any]:
    """Figures of (gold, answer) pairs; unscored ones are counted and stay out of accuracy and F1."""
    scored = [pair for pair in pairs if pair[1] != "unscored"]
    confusion: dict[str, dict[str, int]] = {}
    for gold, answer in sorted(scored):
        confusion.setdefault(gold, {})[answer] = confusion.get(gold, {}).get(answer, 0) + 1
    one_class = len({gold for gold, _ in scored}) == 1
    return {
        "n": len(scored),
        "unscored": len(pairs) - len(scored),
        "skipped": skipped,
        "accuracy": round(sum(gold == answer for gold, answer in scored) / len(scored), 4) if scored else None,
        "macro_f1": round(macro_f1(scored), 4) if scored and not one_class else None,
        "confusion": confusion,
    }


def measure(golds: Sequence[Gold]) -> list[dict[str, Any]]:
    """Results by gold, split and language, and for ``genderous`` also by part; ``lang`` "all" sums the languages up."""
    items = [item for gold in golds for item in gold.items]
    pairs = [(item.gold, answer) for item, answer in zip(items, judge_all(items), strict=True)]
    skipped: Counter[tuple[str, str, str, str]] = sum((gold.skipped for gold in golds), Counter())
    buckets: dict[tuple[str, str, str, str], list[tuple[str, str]]] = {}
    left_out: Counter[tuple[str, str, str, str]] = Counter()
    for item, pair in zip(items, pairs, strict=True):
        for key in bucket_keys(item.name, item.split, item.case.target_lang, item.group):
            buckets.setdefault(key, []).append(pair)
    for found, count in skipped.items():
        for key in bucket_keys(*found):
            left_out[key] += count
    return [
        {"name": key[0], "split": key[1], "lang": key[2], "part": key[3], **result(bucket, left_out[key])}
        for key, bucket in buckets.items()
    ]


def bucket_keys(name: str, split: str, lang: str, part: str) -> set[tuple[str, str, str, str]]:
    """Where one item is counted: its part, its language, and all languages together."""
    keys = {(name, split, lang, part), (name, split, lang, "")}
    return keys if name in {"genderous", "mgente-ref-g"} else {*keys, (name, split, "all", "")}


def read_golds(data: Path | None) -> list[Gold]:
    """All sources that are there, the shipped sample last.

    Raises:
        FileNotFoundError: a folder was given and lacks one of the files.
    """
    if data is None:
        return [read_sample()]
    return [
        read_neutreval(data / "neutreval"),
        read_genderous(data / "genderous" / "genderous.de.tsv"),
        read_mgente(data / "mgente" / "en-it.set-n.part.tsv"),
        read_sample(),
    ]


def figures(golds: Sequence[Gold]) -> dict[str, Any]:
    """What the product ships: the figures and the lexicon that they were measured with. Free of dates and paths."""
    results = sorted(measure(golds), key=lambda r: (r["name"], r["split"], r["lang"], r["part"]))
    return {"judge": "lexicon", "version": VERSION, "lexicon": lexicon_hash(), "gold": results}


def show(data: dict[str, Any], golds: Sequence[Gold]) -> None:
    """Print the figures with their confusion matrices, and the flaws of the gold data by line."""
    for entry in data["gold"]:
        part = f" ({entry['part']})" if entry["part"] else ""
        f1 = "–" if entry["macro_f1"] is None else f"{entry['macro_f1']:.3f}"
        print(f"{entry['name']}{part} [{entry['split']}] {entry['lang']}: n={entry['n']}", end=" ")
        print(f"accuracy={entry['accuracy']:.3f} macro-F1={f1}", end=" ")
        print(f"unscored={entry['unscored']} skipped={entry['skipped']}")
        for gold, answers in entry["confusion"].items():
            print(f"    gold {gold:20} " + "  ".join(f"{answer}: {n}" for answer, n in answers.items()))
    for remark in (remark for gold in golds for remark in gold.remarks):
        print(f"gold data: {remark}")


def main() -> None:
    """Measure, print, and store on request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with neutreval/, genderous/ and mgente/")
    parser.add_argument("--write", action="store_true", help=f"store the figures in {ACCURACY_FILE.name}")
    options = parser.parse_args()
    if options.write and options.data is None:
        parser.error("--write needs --data: figures on the sample alone are not what the product ships")
    golds = read_golds(options.data)
    data = figures(golds)
    show(data, golds)
    if options.write:
        text = json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True)
        ACCURACY_FILE.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
