"""Makes report folders of any size, as a run would leave them: invented systems, made-up judgements and scores.

The sentences start from the shipped sample; beyond its size they are lengthened with words drawn at random from the
product's own word lists, so that they do not compress better than real text.

    python tests/reports/make_folder.py OUT [--rows 1500] [--sentences 3116] [--version 2]
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from make_summary import LANGS, about_run, example_gates, stage_counts

from pytest_gnt.case import Identity
from pytest_gnt.reports.summary import build_summary
from pytest_gnt.verdicts.keyword_tally import KeywordTally
from pytest_gnt.verdicts.rates import tally
from pytest_gnt.verdicts.results import SCHEMA, CaseResult, read_results
from pytest_gnt.verdicts.tables import Tables

DATA = Path(__file__).resolve().parents[2] / "pytest_gnt" / "corpora"
DELTA = 0.2
NEUTRAL_TEXT = "La presidenza apre la seduta."
NEUTRAL_TEST, GENDERED_TEST = "test_neutral_where_gender_is_open", "test_gendered_where_gender_is_stated"
IDENTITY_TEST, ATTITUDE_TEST = "test_identity_is_kept", "test_attitude_is_kept"
LOST = ("empty", "source-copy", "refusal", "truncated", "wrong-language")

SHARES: dict[int, dict[str, float]] = {
    1: {"it": 0.52, "es": 0.55, "de": 0.71, "el": 0.44},
    2: {"it": 0.78, "es": 0.80, "de": 0.70, "el": 0.46},
}
"""Share of neutral translations in Set-N, by version of the invented system and language."""

HARSHER = {Identity.TRANS_WOMAN: 0.55, Identity.QUEER: 0.45}
"""What version 2 does to the attitude of some identities, in units of the score."""


@dataclass
class Recipe:
    """What to make. ``rows``: mGeNTE sentences a language; ``sentences``: AmbGIMT sentences, of 14 cases each."""

    rows: int = 24
    sentences: int = 12
    version: int = 1
    seed: int = 7
    judge: bool = True
    scores: bool = True
    lost: float = 0.012
    gates: list[dict[str, Any]] = field(default_factory=list)
    incomplete: str | None = None
    exit_status: int = 1


def make_folder(folder: Path, recipe: Recipe | None = None) -> Path:
    """Write ``cases.jsonl`` and ``report.json``."""
    recipe = recipe or Recipe()
    folder.mkdir(parents=True, exist_ok=True)
    write_cases(folder, sorted(_cases(recipe), key=lambda row: row["id"]) if small(recipe) else _cases(recipe))
    write_summary(folder, recipe)
    return folder


def small(recipe: Recipe) -> bool:
    """Whether the cases may be sorted in memory; the big folder is in the order in which they are made."""
    return recipe.rows * 4 + recipe.sentences * 14 < 20_000


def write_cases(folder: Path, rows: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> None:
    with (folder / "cases.jsonl").open("w", encoding="ascii") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n")


def write_summary(folder: Path, recipe: Recipe, **changed: Any) -> dict[str, Any]:
    """Count the cases of the folder with the product's own code and write ``report.json``."""
    counted = tally(read_results(folder))
    corpora = Counter(result.corpus for result in read_results(folder))
    summary = build_summary(
        counted,
        tables=counted_tables(folder),
        keywords=KeywordTally(),
        about=about_run(recipe.version, recipe.judge, corpora),
        stages=stage_counts(counted.cases),
        started=datetime(2026, 3, 2, 9, 30, tzinfo=UTC),
        seconds=0.031 * counted.cases + 12.5,
        exit_status=recipe.exit_status,
        incomplete=recipe.incomplete,
        limits=(),
        gates=recipe.gates,
        baseline=None,
        repeats=None,
        stored=(),
    )
    summary |= {"finished": "2026-03-02T09:58:11+00:00", **changed}
    (folder / "report.json").write_text(
        json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False), encoding="utf-8", errors="backslashreplace"
    )
    return summary


def counted_tables(folder: Path) -> Tables:
    tables = Tables()
    for result in read_results(folder):
        tables.add(result)
    return tables


def baseline_of(folder: Path) -> dict[str, dict[str, Any]]:
    """The cases of a folder by id, as a baseline."""
    return {result.id: result.to_json() for result in read_results(folder)}


def _cases(recipe: Recipe) -> Iterator[dict[str, Any]]:
    texts = Texts(random.Random(recipe.seed))
    yield from _ambgimt(recipe, texts, random.Random(f"{recipe.seed}/{recipe.version}/a"))
    yield from _mgente(recipe, texts, random.Random(f"{recipe.seed}/{recipe.version}/m"))


class Texts:
    """Sentences of the shipped sample, and filler to lengthen them with."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.mgente = {lang: _table(DATA / "sample" / "mgente" / f"en-{lang}.tsv") for lang in LANGS}
        sample = DATA / "sample" / "ambgimt"
        self.english = (sample / "sample.AllType.txt").read_text(encoding="utf-8").splitlines()
        self.chinese = (sample / "sample.AllType.zh").read_text(encoding="utf-8").splitlines()
        self.words = _table(sample / "attitude_words.tsv")
        self.renderings = _table(sample / "renderings.tsv")
        listed = _table(DATA / "data" / "attitude_words.tsv")
        self.filler = {
            "en": sorted({row["attitude_word"] for row in listed}),
            "zh": sorted({r["zh_word"] for r in listed}),
        }
        for lang in LANGS:
            self.filler[lang] = sorted({word for row in self.mgente[lang] for word in row["REF-G"].split()})

    def more(self, lang: str, number: int) -> str:
        """So many random words."""
        words = self.rng.choices(self.filler[lang], k=number)
        return "".join(words) if lang == "zh" else " " + " ".join(words)


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def _mgente(recipe: Recipe, texts: Texts, rng: random.Random) -> Iterator[dict[str, Any]]:
    for lang in LANGS:
        rows = texts.mgente[lang]
        for number in range(recipe.rows):
            row = rows[number % len(rows)]
            extra = number >= len(rows)
            more = (texts.more("en", 9), texts.more(lang, 11)) if extra else ("", "")
            name = f"{row['ID']}-{number // len(rows)}" if extra else row["ID"]
            yield _mgente_case(recipe, rng, lang, row, name, more, number)


def _mgente_case(
    recipe: Recipe, rng: random.Random, lang: str, row: Mapping[str, str], name: str, more: tuple[str, str], number: int
) -> dict[str, Any]:
    open_gender = row["SET"] == "Set-N"
    neutral, gendered = row["REF-N"] + more[1], row["REF-G"] + more[1]
    share = SHARES[recipe.version][lang] if open_gender else 0.06
    is_neutral = rng.random() < share
    gender = row["GENDER"] or "M"
    text = neutral if is_neutral else gendered
    correct = not open_gender and rng.random() < 0.93
    if is_neutral:
        label = "NEUTRAL"
        phrases = [_phrase(" ".join(text.split()[:3]).strip(",.;"), "N", open_gender)]
    else:
        label = "CORRECTLY GENDERED" if correct else "WRONGLY GENDERED"
        words = [word for word in row["G-WORDS"].split("; ") if word in text]
        phrases = [
            _phrase(word, gender if correct or open_gender else "FM"["FM".index(gender) - 1], correct) for word in words
        ]
    says = ("NEUTRAL" if is_neutral else "GENDERED") if rng.random() < 0.9 else "GENDERED"
    wanted = "NEUTRAL" if open_gender else "CORRECTLY GENDERED"
    record = {
        "schema": SCHEMA,
        "id": f"mgente/en-{lang}/{name}",
        "corpus": "mgente",
        "subset": row["SET"],
        "lang": lang,
        "group": f"mgente/{row['ID']}-{number // 24}",
        "source": row["SRC"] + more[0],
        "expected": "NEUTRAL" if open_gender else "GENDERED",
        "references": [neutral if open_gender else gendered],
        "contrast_references": [gendered if open_gender else neutral],
        "origin": f"en-{lang}.tsv:{number + 2}",
    }
    if not open_gender:
        record["gender"] = gender
    test = NEUTRAL_TEST if open_gender else GENDERED_TEST
    if rng.random() < recipe.lost:
        return _lost(record, rng.choice(LOST), [test], recipe)
    record["translation"] = _translation(text, says, f"<{lang}> **{says}** [{text}]")
    if recipe.judge:
        raw = json.dumps({"phrases": phrases, "label": label}, ensure_ascii=False)
        record["judgement"] = {
            "label": label,
            "phrases": phrases,
            "raw": raw,
            "votes": [label],
            "flags": [],
            "reason": None,
            "detail": "",
        }
        message = (
            ""
            if label == wanted
            else f"expected {wanted.lower()}, judged {label}\n  source       {record['source']}\n  translation  {text}"
        )
        record["tests"] = {test: _test("passed" if label == wanted else "failed", message=message)}
    else:
        record["tests"] = {test: _test("unscored", "not-run", "no judge")}
    if recipe.scores:
        record["quality"] = _quality(rng, "it")
    return record


def _ambgimt(recipe: Recipe, texts: Texts, rng: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(recipe.sentences):
        subset = "authentic" if number < min(538, max(8, recipe.sentences // 2)) else "synthesized"
        base = number % 12
        extra = (texts.more("en", 6), texts.more("zh", 6)) if number >= 12 else ("", "")
        word = texts.words[base]["attitude_word"]
        choices = [row for row in texts.renderings if row["attitude_word"] == word and row["lang"] == "zh"]
        kind = 1.0 if base >= 6 else -1.0
        score = kind * rng.uniform(0.1, 1.3)
        for place, identity in enumerate(Identity):
            line = base * 14 + place
            yield _ambgimt_case(
                recipe,
                rng,
                identity,
                word,
                choices,
                score,
                f"{subset}/{number + 1}",
                f"{texts.english[line]}{extra[0]}",
                f"{texts.chinese[line]}{extra[1]}",
                texts.words[base]["zh_word"],
            )


def _ambgimt_case(
    recipe: Recipe,
    rng: random.Random,
    identity: Identity,
    word: str,
    choices: list[dict[str, str]],
    score: float,
    place: str,
    source: str,
    reference: str,
    known: str,
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "id": f"ambgimt/en-zh/{place}/{identity.replace(' ', '-')}",
        "corpus": "ambgimt",
        "subset": place.partition("/")[0],
        "lang": "zh",
        "group": f"ambgimt/{place}",
        "source": source,
        "references": [reference],
        "identity": str(identity),
        "attitude_word": word,
        "origin": f"sample.AllType.txt:{1 + rng.randrange(168)}",
    }
    if rng.random() < recipe.lost / 3:
        return _lost(record, rng.choice(LOST), [IDENTITY_TEST, ATTITUDE_TEST], recipe)
    harsher = HARSHER.get(identity, 0.0) if recipe.version == 2 else 0.0
    target = score + rng.gauss(-0.05 - harsher, 0.3)
    polarity = "harsh" if target < score - 0.5 else "kind" if target > score + 0.5 else "neutral"
    rendering = next((row["rendering"] for row in choices if row["polarity"] == polarity), known)
    text = reference.replace(known, rendering)
    kept = rng.random() > (0.16 if harsher else 0.04)
    if not kept:
        text = text.replace("跨性别女性", "跨性别者").replace("酷儿", "这个人")
    record["translation"] = _translation(text, None, text)
    turned = score > DELTA and target < -DELTA
    record["tests"] = {
        ATTITUDE_TEST: _test(
            "failed" if turned else "passed",
            message=f"the attitude turned from kind to harsh: {word} {score:+.2f} → {rendering} {target:+.2f}"
            if turned
            else "",
        ),
        IDENTITY_TEST: _test(
            "passed" if kept else "failed",
            message="" if kept else f"the identity {identity} was dropped: the translation names none",
        ),
    }
    record["attitude"] = {
        "source_word": word,
        "target_words": [rendering],
        "source_score": score,
        "target_score": target,
        "shift": target - score,
        "reason": None,
        "detail": "",
    }
    if rng.random() < 0.01:
        record["attitude"] |= {"target_words": [], "target_score": None, "shift": None, "reason": "unaligned"}
        record["tests"][ATTITUDE_TEST] = _test("unscored", "unaligned", "no aligned word")
    if recipe.scores:
        record["quality"] = _quality(rng, "zh", -3.5 if harsher else 0.0)
    return record


def _lost(record: dict[str, Any], reason: str, tests: list[str], recipe: Recipe) -> dict[str, Any]:
    """A case without a usable translation."""
    raw = {"source-copy": record["source"], "refusal": "I'm sorry, but I can't translate this."}.get(reason, "")
    record["translation"] = {
        "text": None,
        "label": None,
        "raw": raw,
        "finish_reason": "length" if reason == "truncated" else "stop",
        "flags": [],
        "reason": reason,
        "detail": f"the reply is no translation ({reason})",
    }
    record["tests"] = {name: _test("unscored", reason, f"the reply is no translation ({reason})") for name in tests}
    if recipe.scores:
        record["quality"] = {"scores": {}, "reason": reason, "detail": ""}
    return record


def _translation(text: str, label: str | None, raw: str) -> dict[str, Any]:
    return {
        "text": text,
        "label": label,
        "raw": raw,
        "finish_reason": "stop",
        "flags": [],
        "reason": None,
        "detail": "",
    }


def _phrase(text: str, gender: str, correct: bool) -> dict[str, Any]:
    return {"text": text, "gender": gender, "correct": correct, "note": ""}


def _test(outcome: str, reason: str | None = None, message: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "reason": reason, "message": message}


def _quality(rng: random.Random, lang: str, less: float = 0.0) -> dict[str, Any]:
    middle = min(99.0, max(40.0, rng.gauss(84 if lang == "zh" else 87, 4) + less))
    scores = {"bleu": max(0.0, rng.gauss(31, 9) + less), "chrf": max(0.0, rng.gauss(58, 8) + less), "comet": middle}
    return {"scores": scores, "reason": None, "detail": ""}


def record_of(case_id: str, **fields: Any) -> dict[str, Any]:
    """One plain record to put hostile or odd values into."""
    record = {
        "schema": SCHEMA,
        "id": case_id,
        "corpus": case_id.partition("/")[0],
        "subset": "Set-N",
        "lang": "it",
        "group": case_id,
        "source": "The chair opens the sitting.",
        "expected": "NEUTRAL",
        "references": [NEUTRAL_TEXT],
        "tests": {NEUTRAL_TEST: _test("passed")},
        "translation": _translation(NEUTRAL_TEXT, "NEUTRAL", f"<it> **NEUTRAL** [{NEUTRAL_TEXT}]"),
    }
    CaseResult.from_json(record | fields)  # what no run can write is no use here
    return record | fields


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--sentences", type=int, default=12)
    parser.add_argument("--version", type=int, default=1, choices=sorted(SHARES))
    options = parser.parse_args()
    recipe = Recipe(rows=options.rows, sentences=options.sentences, version=options.version, gates=example_gates())
    print(make_folder(options.out, recipe))


if __name__ == "__main__":
    main()
