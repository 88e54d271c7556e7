"""Run-to-run noise: the system is asked again, flips are counted, the reported run is the first."""

from __future__ import annotations

import json

import pytest

from tests.runner.conftest import House

MOODY = '''
"""A translator that answers otherwise each time, for every other sentence."""
from pathlib import Path

from pytest_gnt.evidence import Translation
from pytest_gnt.work import Answer, Context, Work

ASKED = Path(__file__).with_name("asked.txt")

class Moody:
    stage = "translate"
    batch_size = 100
    context = Context({"stage": "translate", "model": "moody"})

    def work(self, case):
        return Work(self.context, {"source": case.source})

    def run(self, works):
        with ASKED.open("a") as stream:
            stream.write("run\\n")
        time = len(ASKED.read_text().splitlines())
        for index, work in enumerate(works):
            number = int("".join(filter(str.isdigit, work.input["source"])))
            gendered = number % 2 == 0 and time % 2 == 0
            yield index, Answer({"text": "I cittadini sono arrivati." if gendered else "La cittadinanza ascolta."})

    def read(self, case, answer):
        return Translation(case=case, text=answer["text"], raw=answer["text"])

    def close(self):
        pass

def pytest_gnt_translator(config, name, settings):
    return Moody() if settings["backend"] == "moody" else None
'''

N = 20


@pytest.fixture
def moody(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("PYTHONPATH", str(house.path))
    house.write("moody.py", MOODY)
    rows = "".join(f"{number}\tCitizens of town {number} are listening.\tSet-N\n" for number in range(N))
    house.write("house.tsv", "id\tsource\tset\n" + rows)
    house.write("gnt.toml", '[corpora.house]\npath="house.tsv"\nlang="it"\n[models.moody]\nbackend="moody"\n')
    house.write(
        "test_house.py",
        "from pytest_gnt import assert_neutral, cases\n\n"
        '@cases("house")\ndef test_neutral(judgement):\n    assert_neutral(judgement)\n',
    )
    return house


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_flips_between_repeats_are_measured(moody: House, workers: tuple[str, ...]) -> None:
    result = moody.run("-p", "moody", "--gnt-repeats=2", *workers, model="moody")
    assert result.ret == 0, "the first run is the one that counts"
    assert moody.summary()["repeats"] == {"runs": 2, "cases": N, "unstable": N // 2, "rate": 0.5}
    assert "run 2 times: 10 of 20 decided tests were not decided alike" in result.stdout.str()
    again = (moody.path / "gnt-report/cases.repeat-1.jsonl").read_text().splitlines()
    outcomes = [json.loads(line)["tests"]["test_neutral"]["outcome"] for line in again]
    assert outcomes.count("failed") == N // 2
    before = (moody.path / "asked.txt").read_text()
    assert moody.run("-p", "moody", "--gnt-repeats=2", model="moody").ret == 0
    assert (moody.path / "asked.txt").read_text() == before, "repeats are stored like any answer"


def test_gates_know_the_noise(moody: House) -> None:
    moody.run("-p", "moody", "--gnt-repeats=2", "--gnt-update-baseline", model="moody")
    moody.run("-p", "moody", "--gnt-repeats=2", model="moody")
    gates = {gate["name"]: gate for gate in moody.summary()["gates"]}
    assert gates["house[it]::set-n-accuracy"]["noise"] > 0
    moody.run("-p", "moody", model="moody")
    gates = {gate["name"]: gate for gate in moody.summary()["gates"]}
    assert gates["house[it]::set-n-accuracy"]["noise"] is None


def test_a_deterministic_system_has_no_noise(house: House) -> None:
    house.run("--gnt-repeats=3")
    assert house.summary()["repeats"] == {"runs": 3, "cases": 3, "unstable": 0, "rate": 0.0}
