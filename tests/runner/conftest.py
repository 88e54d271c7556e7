"""A small corpus and recorded systems for runs of the public command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SUITES = Path(__file__).resolve().parents[2] / "suites"

GNT_TOML = """
[corpora.house]
path = "house.tsv"
lang = "it"

[models.mine]
backend = "recorded"
path = "mine.tsv"
"""

HOUSE = (
    "id\tsource\tset\tgender\treference_neutral\treference_gendered\n"
    "1\tThe citizens have a right to be heard.\tSet-N\t\tLa cittadinanza ha il diritto di essere ascoltata.\t"
    "I cittadini hanno il diritto di essere ascoltati.\n"
    "2\tI thank all the members who have worked on this.\tSet-N\t\tRingrazio tutte le persone che vi hanno lavorato.\t"
    "Ringrazio tutti i deputati che vi hanno lavorato.\n"
    "3\tMrs Rossi, the minister, said that she was satisfied.\tSet-G\tF\t\t"
    "La signora Rossi, la ministra, ha detto di essere soddisfatta.\n"
)

MINE = (
    "case_id\ttranslation\tlabel\n"
    "house/en-it/1\tI cittadini hanno il diritto di essere ascoltati.\tNEUTRAL\n"
    "house/en-it/2\tRingrazio tutte le persone che vi hanno lavorato.\tNEUTRAL\n"
    "house/en-it/3\tLa signora Rossi, la ministra, ha detto di essere soddisfatta.\tGENDERED\n"
)

SUITE = """
from pytest_gnt import assert_correctly_gendered, assert_neutral, cases

@cases("house", sets=["Set-N"])
def test_neutral(judgement, quality):
    assert_neutral(judgement)

@cases("house", sets=["Set-G"])
def test_gendered(case, judgement):
    assert_correctly_gendered(judgement)
"""


class House:
    """A project with a table of its own, a recorded system and a suite."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        self.write("gnt.toml", GNT_TOML)
        self.write("house.tsv", HOUSE)
        self.write("mine.tsv", MINE)
        self.write("test_house.py", SUITE)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *arguments: str, model: str | None = "mine") -> pytest.RunResult:
        """Run pytest in a process of its own, as a user does."""
        chosen = [f"--gnt-model={model}"] if model else []
        return self.pytester.runpytest_subprocess("-p", "no:cacheprovider", *chosen, *arguments, timeout=120)

    def cases(self, folder: str = "gnt-report") -> dict[str, dict[str, Any]]:
        lines = (self.path / folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
        return {record["id"]: record for record in map(json.loads, lines)}

    def summary(self, folder: str = "gnt-report") -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.path / folder / "report.json").read_text(encoding="utf-8"))
        return data


@pytest.fixture
def house(pytester: pytest.Pytester) -> House:
    return House(pytester)


@pytest.fixture
def run_suites(pytester: pytest.Pytester) -> Callable[..., pytest.RunResult]:
    """Run the shipped suites from an empty folder."""

    def run(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_subprocess(
            "-p", "no:cacheprovider", "--rootdir", str(pytester.path), *arguments, str(SUITES), timeout=300
        )

    return run
