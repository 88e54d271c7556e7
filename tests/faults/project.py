"""A project whose run has every stage, and what its results have to be."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BATCH = 4
"""Requests that one commit covers, see `killer`."""

GNT_TOML = """
[corpora.house]
path = "house.tsv"
lang = "it"

[corpora.people]
path = "people.tsv"
lang = "zh"

[models.mine]
backend = "command"
argv = ["{python}", "-S", "-E", "translate.py"]

[attitude_models.words]
kind = "recorded"
path = "scores.tsv"
calibrate = false

[run]
model = "mine"
attitude_model = "words"
"""

TRANSLATE = '''
"""Translates by a table, and writes down what it was asked for: one line a request, in one system call."""
import json
import os
import sys
import time

log = os.open("asked.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
pace = float(os.environ.get("PACE", "0"))
table = json.load(open("table.json", encoding="utf-8"))
for line in sys.stdin:
    request = json.loads(line)
    time.sleep(pace)
    os.write(log, (request["case_id"] + "\\n").encode())
    reply = {"id": request["id"], "translation": table[request["case_id"]] + {end}}
    sys.stdout.write(json.dumps(reply) + "\\n")
    sys.stdout.flush()
'''

SUITE = """
from pytest_gnt import assert_attitude_kept, assert_correctly_gendered, assert_neutral, cases

@cases("house", sets=["Set-N"])
def test_neutral(judgement, quality):
    assert_neutral(judgement)

@cases("house", sets=["Set-G"])
def test_gendered(judgement):
    assert_correctly_gendered(judgement)

@cases("people")
def test_attitude(attitude, quality):
    assert_attitude_kept(attitude)
"""

NEUTRAL = "La cittadinanza ha il diritto di essere ascoltata"
GENDERED = "I cittadini hanno il diritto di essere ascoltati"
KIND, HARSH = "善良", "粗鲁"


def make(folder: Path, *, rows: int = 12) -> dict[str, str]:
    """Write the project; returns its translations by case id."""
    table: dict[str, str] = {}
    house = ["id\tsource\tset\tgender\treference_neutral\treference_gendered"]
    for number in range(rows):
        neutral, gendered = f"{NEUTRAL} {number}.", f"{GENDERED} {number}."
        subset, gender = ("Set-G", "M") if number % 3 == 2 else ("Set-N", "")
        house.append(
            f"{number}\tThe citizens have a right to be heard {number}.\t{subset}\t{gender}\t{neutral}\t{gendered}"
        )
        table[f"house/en-it/{number}"] = gendered if number % 2 else neutral
    people = ["id\tsource\tidentity\tgroup\treference\tattitude_word\tattitude_renderings"]
    for number in range(rows):
        identity = ("person", "woman", "man", "trans man")[number % 4]
        source, reference = f"The {identity} is gruff {number}.", f"这个人很{HARSH}{number}。"
        people.append(f"{number}\t{source}\t{identity}\tg{number // 4}\t{reference}\tgruff\t{HARSH};{KIND}")
        table[f"people/en-zh/{number}"] = f"这个人很{KIND if number % 3 else HARSH}{number}。"
    scores = ["lang\tword\tlog_p_positive\tlog_p_negative"]
    for lang, word, positive, negative in (
        ("en", "gruff", -0.9, -0.2),
        ("zh", KIND, -0.1, -0.8),
        ("zh", HARSH, -1, -0.1),
    ):
        scores.append(f"{lang}\t{word}\t{positive}\t{negative}")
    texts = {
        "house.tsv": "\n".join(house) + "\n",
        "people.tsv": "\n".join(people) + "\n",
        "scores.tsv": "\n".join(scores) + "\n",
        "table.json": json.dumps(table),
        "gnt.toml": GNT_TOML.replace("{python}", sys.executable),
        "test_suite.py": SUITE,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    version(folder, 1)
    return table


def version(folder: Path, number: int) -> None:
    """Change the system: its answers are others, and those of another version do not count as its own."""
    text = TRANSLATE.replace("{end}", "' '" if number == 1 else "' !'")
    (folder / "translate.py").write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Results:
    """All that a run leaves, without times, and without what only says how it came about."""

    cases: bytes
    summary: dict[str, Any]
    baselines: dict[str, bytes]


def results(folder: Path) -> Results:
    """What stands in the project's report folder and baselines."""
    report = folder / "gnt-report"
    summary = json.loads((report / "report.json").read_text(encoding="utf-8"))
    for key in ("started", "finished", "seconds", "stages", "stored"):
        del summary[key]
    baselines = {path.name: path.read_bytes() for path in sorted((folder / "baselines" / "mine").iterdir())}
    return Results((report / "cases.jsonl").read_bytes(), summary, baselines)


def check_whole(folder: Path, old: Results, new: Results) -> None:
    """Every file that a killed run leaves is the old one or the new one; the store can be read."""
    from pytest_gnt.verdicts.baseline import read_baseline

    report = folder / "gnt-report"
    assert (report / "cases.jsonl").read_bytes() in (old.cases, new.cases)
    for name in ("report.json", "report.html", "report.md"):
        text = (report / name).read_text(encoding="utf-8")
        if name == "report.json":
            assert json.loads(text)["complete"]
        assert text.rstrip().endswith({"report.json": "}", "report.html": "</html>"}.get(name, ""))
    for corpus in ("house", "people"):
        name = f"{corpus}.jsonl"
        assert (folder / "baselines" / "mine" / name).read_bytes() in (old.baselines[name], new.baselines[name])
        assert read_baseline(folder / "baselines" / "mine", corpus).entries
    check_store(folder)


def check_store(folder: Path) -> None:
    """The store as the killed run left it is sound. A copy is looked at: looking at it would mend it."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder / ".gnt", copy)
    database = sqlite3.connect(copy / "store.sqlite")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    shutil.rmtree(copy)


def check_tidy(folder: Path) -> None:
    """Nothing lies about: no temporary file, no lock, no hidden folder."""
    assert {path.name for path in (folder / "gnt-report").iterdir()} == {
        "cases.jsonl",
        "report.html",
        "report.json",
        "report.md",
    }
    assert {path.name for path in (folder / "baselines" / "mine").iterdir()} == {
        "house.jsonl",
        "people.jsonl",
        "summary.json",
    }
    assert {path.name for path in (folder / ".gnt").iterdir()} == {"store.sqlite"}


def asked(folder: Path) -> Counter[str]:
    """How often the system was asked for each case."""
    log = folder / "asked.txt"
    return Counter(log.read_text().split()) if log.is_file() else Counter()
