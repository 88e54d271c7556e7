"""`gnt grid`."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.engines.protocol import GenerationRequest, Reply
from pytest_gnt.reports.grid_table import Cell, GridTable, Line, Number, line_of
from pytest_gnt.runner.kept_engines import keep_engines, kept
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.results import read_results
from tests.commands.conftest import MODEL, translate
from tests.stub_server import StubReply, StubRequest, StubServer, serve

Gnt = Callable[..., int]
FILES = ("grid.csv", "grid.md", "grid.json")


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "grid.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def test_a_recorded_system_has_one_row_a_language(project: Path, gnt: Gnt) -> None:
    assert gnt("grid", "--models", "sample-v1,sample-v2") == 0
    rows = table(project / "gnt-grid")
    assert [(row["model"], row["lang"], row["prompt"], row["shots"]) for row in rows] == [
        (model, lang, "", "") for model in ("sample-v1", "sample-v2") for lang in ("de", "el", "es", "it")
    ]
    for row in rows:
        cases = [
            case for case in read_results(project / "gnt-grid" / "runs" / row["model"]) if case.lang == row["lang"]
        ]
        assert len(cases) == int(row["cases"]) == 24
        open_ones = [case for case in cases if case.subset == "Set-N"]
        judged = [label for case in open_ones if (label := (case.judgement or {}).get("label"))]
        assert int(row["set-n-accuracy:n"]) == len(judged)
        assert int(row["set-n-accuracy:unscored"]) == len(open_ones) - len(judged)
        assert float(row["set-n-accuracy"]) == pytest.approx(judged.count("NEUTRAL") / len(judged), abs=1e-6)
        said = [(case.expected, label) for case in cases if (label := (case.translation or {}).get("label"))]
        right = sum(expected == label for expected, label in said)
        assert float(row["label-accuracy"]) == pytest.approx(right / len(said), abs=1e-6)
        assert float(row["set-g-accuracy"]) <= float(row["set-g-accuracy-paper"])


def test_every_configuration_is_a_row_and_a_warm_store_gives_the_same_bytes(
    project: Path, gnt: Gnt, stub: StubServer
) -> None:
    (project / "gnt.toml").write_text(MODEL.format(url=stub.url))
    command = ("grid", "--models", "stub", "--prompts", "none,G+S", "--shots", "0,2", "--langs", "it,de")
    assert gnt(*command, "--sample", 24) == 0
    rows = table(project / "gnt-grid")
    assert [(row["prompt"], row["shots"], row["lang"]) for row in rows] == [
        (prompt, shots, lang) for prompt in ("none", "G+S") for shots in ("0", "2") for lang in ("de", "it")
    ]
    assert {row["extraction-error-rate"] for row in rows} != {"0.0"}
    assert len({row["signature"] for row in rows}) == 4
    asked, first = len(stub.requests), contents(project / "gnt-grid")
    cases = sum(int(row["cases"]) for row in rows)
    assert asked >= cases > 0
    assert gnt(*command, "--sample", 24) == 0
    # Refusals may pass and are asked again; everything else came from the store.
    assert len(stub.requests) - asked <= cases // 10
    assert contents(project / "gnt-grid") == first


def test_a_killed_grid_goes_on_and_ends_as_if_it_had_not_been_killed(project: Path, gnt: Gnt) -> None:
    def slowly(request: StubRequest) -> StubReply:
        reply = translate(request)
        return StubReply(body=reply.body, delay=0.15)

    with serve(slowly) as server:
        (project / "gnt.toml").write_text(MODEL.format(url=server.url))
        command = ["grid", "--models", "stub", "--prompts", "none,S", "--shots", "0", "--sample", "48"]
        killed = [sys.executable, "-m", "pytest_gnt.cli", *command]
        process = subprocess.Popen(killed, start_new_session=True, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while len(server.requests) < 60 and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        before = len(server.requests)
        assert not (project / "gnt-grid" / "grid.csv").exists()
        assert gnt(*command) == 0
        resumed = contents(project / "gnt-grid")
        again = len(server.requests) - before
        assert gnt(*command, "--store", "other.sqlite") == 0
        whole = len(server.requests) - before - again
    assert contents(project / "gnt-grid") == resumed
    assert again < whole


def test_an_interrupt_ends_the_grid_and_says_how_to_go_on(project: Path) -> None:
    with serve(lambda request: StubReply(body=translate(request).body, delay=0.5)) as server:
        (project / "gnt.toml").write_text(MODEL.format(url=server.url))
        command = [sys.executable, "-m", "pytest_gnt.cli", "grid", "--models", "stub", "--prompts", "S", "--shots", "0"]
        process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 60
        while len(server.requests) < 20 and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on where it stopped" in said
    assert "Traceback" not in said
    assert not (project / "gnt-grid" / "grid.csv").exists()


def test_a_judge_that_is_a_model_comes_after_all_translations(project: Path, gnt: Gnt, stub: StubServer) -> None:
    (project / "gnt.toml").write_text(
        MODEL.format(url=stub.url) + '[judges.mine]\nkind = "llm"\nmodel = "stub"\n', encoding="utf-8"
    )
    assert gnt("grid", "--models", "sample-v2", "--judge", "mine", "--langs", "it") == 0
    (row,) = table(project / "gnt-grid")
    # This judge talks about something else: every sentence is undecided, and none is neutral.
    assert (row["set-n-accuracy"], row["set-n-accuracy:n"], row["set-n-accuracy:unscored"]) == ("", "0", "12")
    runs = project / "gnt-grid" / "runs" / "sample-v2"
    judged = [(case.judgement or {})["reason"] for case in read_results(runs) if case.subset == "Set-N"]
    assert set(judged) == {"invalid-verdict"}
    before = [(case.judgement or {})["reason"] for case in read_results(runs / "translations")]
    assert set(before) == {"not-run"}


def test_a_model_that_cannot_run_costs_no_other_row(project: Path, gnt: Gnt, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "gnt.toml").write_text('[models.gone]\nbackend = "recorded"\npath = "gone.tsv"\n')
    assert gnt("grid", "--models", "gone,sample-v1") == 1
    assert {row["model"] for row in table(project / "gnt-grid")} == {"sample-v1"}
    (missing,) = json.loads((project / "gnt-grid" / "grid.json").read_text())["missing"]
    assert missing["run"] == "gone"
    assert "there is no file" in missing["why"]
    assert "not run: gone" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--models", "sample-v3"), "Did you mean"),
        (("--models", "sample-v1", "--prompts", "X"), "--prompts: X is not possible"),
        (("--models", "sample-v1", "--shots", "3"), "--shots: 3 is not possible"),
        (("--models", "sample-v1", "--judge", "nobody"), "unknown judge"),
    ],
)
def test_wrong_settings_are_one_line(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert gnt("grid", *arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (project / "gnt-grid").exists()


class Engine:
    def __init__(self) -> None:
        self.closed = 0

    def context(self) -> dict[str, Any]:
        return {"backend": "test"}

    def generate(self, requests: list[GenerationRequest]) -> Any:
        yield from ((index, Reply(text=request.user)) for index, request in enumerate(requests))

    def close(self) -> None:
        self.closed += 1


def test_an_engine_is_kept_for_the_sessions_of_one_process() -> None:
    made: list[Engine] = []

    def make() -> Engine:
        made.append(Engine())
        return made[-1]

    with keep_engines():
        first, second = kept("vllm", "a", make), kept("vllm", "a", make)
        first.close()
        assert [reply.text for _, reply in second.generate([GenerationRequest(prefix=(), user="x")])] == ["x"]
        kept("vllm", "b", make)
        assert len(made) == 2
        assert [engine.closed for engine in made] == [0, 0]
        kept("openai", "a", make)  # nothing is loaded for a server
        assert len(made) == 3
    assert [engine.closed for engine in made] == [1, 1, 0]
    kept("vllm", "a", make).close()
    assert made[-1].closed == 1


def entry(number: int, **values: Any) -> Entry:
    given = {"id": f"mgente/en-it/{number}", "lang": "it", "subset": "Set-N", "group": f"g{number}"}
    return Entry(**{**given, "source_digest": "0" * 16, "expected": "NEUTRAL", **values})


def test_a_row_counts_what_could_not_be_decided() -> None:
    entries = [
        entry(1, text="a", label="NEUTRAL", judged="NEUTRAL", scores={"bleu": 50.0}),
        entry(2, text="b", label="NEUTRAL", judged="WRONGLY GENDERED", scores={"bleu": 25.0}),
        entry(3, why={"translation": "no-form", "judgement": "no-form", "quality": "no-form"}),
        entry(4, text="d", label="GENDERED", why={"judgement": "invalid-verdict"}, scores={"bleu": 0.0}),
        entry(5, lang="de", text="e", label="NEUTRAL", judged="NEUTRAL"),
    ]
    line = line_of(Cell("m", "it", "G", 2), entries, "signature")
    assert line.cases == 4
    assert line.numbers["set-n-accuracy"] == Number(0.5, 2, 2)
    assert line.numbers["label-accuracy"] == Number(round(2 / 3, 6), 3, 1)
    assert line.numbers["coherence"] == Number(0.5, 2, 2)
    assert line.numbers["extraction-error-rate"] == Number(0.25, 4, 0)
    assert line.numbers["set-g-accuracy"] == Number(None, 0, 0)
    assert line.numbers["bleu-mean"] == Number(25.0, 3, 1)


def test_texts_stay_inside_their_cells() -> None:
    cell = Cell("a|b\n<script>", "it", None, None)
    out = GridTable({"judge": "x|y"}, [Line(cell, 1, {"bleu-mean": Number(None, 0, 3)}, 'with "quotes", and commas')])
    row = next(line for line in out.to_markdown().splitlines() if line.startswith("| a"))
    assert row.startswith("| a\\|b &lt;script> | it | – | – | 1 |")
    assert row.endswith("| – (0+3) |")
    (read,) = list(csv.DictReader(out.to_csv().splitlines(keepends=True)))
    assert read["signature"] == 'with "quotes", and commas'
    assert json.loads(out.to_json())["rows"][0]["numbers"]["bleu-mean"] == {"value": None, "n": 0, "unscored": 3}
