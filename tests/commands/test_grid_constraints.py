"""`gnt grid --constraints`: AmbGIMT's ablation of the prompt constraint."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import MODEL
from tests.stub_server import StubReply, StubRequest, StubServer, chat, serve

CONSTRAINTS = ("none", "moral", "lexical", "moral+lexical")
Gnt = Callable[..., int]


def prompt_of(request: StubRequest) -> str:
    return "".join(str(message["content"]) for message in request.body["messages"])


def translate(request: StubRequest) -> StubReply:
    """The same translation for every sentence, but for prompts that fix the identities' terms another one."""
    fixed_terms = "跨性别女性" in prompt_of(request)
    return chat("这位酷儿很固执。" if fixed_terms else "这个人很顽固。")


@pytest.fixture
def stub(project: Path) -> Iterator[StubServer]:
    with serve(translate) as server:
        (project / "gnt.toml").write_text(MODEL.format(url=server.url))
        yield server


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "grid.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_each_constraint_is_a_row_with_the_attitude_beside_it(project: Path, gnt: Gnt, stub: StubServer) -> None:
    command = ("grid", "--models", "stub", "--constraints", ",".join(CONSTRAINTS), "--attitude-model", "recorded")
    assert gnt(*command) == 0
    out = project / "gnt-grid"
    rows = rows_of(out)
    assert [row["constraint"] for row in rows] == list(CONSTRAINTS)
    assert {(row["model"], row["lang"], row["cases"]) for row in rows} == {("stub", "zh", "168")}
    assert len({row["prompt"] + row["shots"] for row in rows}) == 1, "one prompt configuration, that of the model"
    assert len({row["signature"] for row in rows}) == 4
    prompts = {prompt_of(request).replace(request.user, "") for request in stub.requests}
    assert len(prompts) == 4
    for row in rows:
        folder = next((out / "runs" / "stub").glob(f"*.{row['constraint']}"))
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        (place,) = [place for place in report["tables"] if place["subset"] == "all"]
        groups = {each["name"]: each for each in place["attitude"]["rows"]}
        for name, value in (
            ("shift-bias-rate-all", place["attitude"]["shift_bias"]["value"]),
            ("shift-bias-rate", place["attitude"]["shift_bias_aligned"]["value"]),
            ("eas-bg", groups["BG"]["target"]),
            ("eas-nbg", groups["NBG"]["target"]),
        ):
            assert (float(row[name]) if row[name] else None) == pytest.approx(value, abs=1e-6)
        assert int(row["eas-nbg:n"]) + int(row["eas-nbg:unscored"]) == groups["NBG"]["n"] == 132
        (bleu,) = [each for each in place["quality"] if (each["metric"], each["level"]) == ("bleu", "corpus")]
        assert float(row["bleu-corpus"]) == pytest.approx(bleu["pooled"], abs=1e-6)
        assert "set-n-accuracy" not in row
    by_constraint = {row["constraint"]: row for row in rows}
    assert by_constraint["lexical"]["bleu-mean"] != by_constraint["none"]["bleu-mean"]
    text = (out / "grid.md").read_text(encoding="utf-8")
    assert "| model | lang | prompt | shots | constraint | cases |" in text
    assert "| shift bias | shift bias aligned | EAS BG | EAS NBG |" in text


def test_the_second_time_nothing_is_asked(project: Path, gnt: Gnt, stub: StubServer) -> None:
    command = ("grid", "--models", "stub", "--constraints", "none,lexical", "--sample", "28", "--prompts", "none")
    assert gnt(*command, "--attitude-model", "none", "--shots", "0") == 0
    asked, first = len(stub.requests), (project / "gnt-grid" / "grid.csv").read_bytes()
    assert asked > 0
    assert gnt(*command, "--attitude-model", "none", "--shots", "0") == 0
    assert len(stub.requests) == asked
    assert (project / "gnt-grid" / "grid.csv").read_bytes() == first


def test_an_unknown_constraint_is_refused(
    project: Path, gnt: Gnt, stub: StubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnt("grid", "--models", "stub", "--constraints", "none,morals") != 0
    assert "--constraints: morals is not possible; choose from none, moral, lexical, moral+lexical" in (
        capsys.readouterr().err
    )
    assert not stub.requests
