"""`gnt doctor`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gnt.commands import checkup

Gnt = Callable[..., int]


def findings(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, str]]:
    rows = json.loads(capsys.readouterr().out)
    return {row["name"] if row["section"] != "judges" else f"judge {row['name']}": row for row in rows}


def test_an_empty_folder_is_no_fault(project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnt("doctor", "--json") == 0
    rows = findings(capsys)
    assert rows["pytest-gnt"]["state"] == "ok"
    assert rows["sample-v2"]["state"] == "ok"
    assert rows["mgente (shipped sample)"]["detail"].startswith("96 cases of 96 rows")
    assert rows["mgente"]["state"] == "missing"
    assert "gnt fetch mgente" in rows["mgente"]["advice"]
    assert rows["store"]["state"] == "missing"
    assert not list(project.iterdir())


def test_what_is_not_installed_says_how_to_get_it(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find = checkup.importlib.util.find_spec
    hidden = ("vllm", "openai")
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name in hidden else find(name, *rest))
    assert gnt("doctor", "--json") == 0
    rows = findings(capsys)
    assert {rows[name]["state"] for name in ("vllm", "qwen72b", "gpt4o", "judge qwen72b")} == {"missing"}
    assert "pytest-gnt[vllm]" in rows["vllm"]["advice"]
    assert "pytest-gnt[openai]" in rows["openai servers"]["advice"]


def test_what_is_configured_and_unusable_is_a_fault(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "here.tsv").write_text("case_id\ttranslation\n")
    (project / "gnt.toml").write_text(
        '[models.here]\nbackend = "recorded"\npath = "here.tsv"\n'
        '[models.gone]\nbackend = "recorded"\npath = "gone.tsv"\n'
        '[models.prog]\nbackend = "command"\nargv = ["no-such-program-anywhere"]\n'
        '[models.served]\nbackend = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"\n'
        '[judges.mine]\nkind = "llm"\nmodel = "nobody"\n'
        '[corpora.own]\npath = "own.tsv"\n'
    )
    assert gnt("doctor", "--json") == 1
    rows = findings(capsys)
    assert {name: rows[name]["state"] for name in ("here", "gone", "prog", "served", "judge mine", "own")} == {
        "here": "ok",
        "gone": "broken",
        "prog": "broken",
        "served": "ok",
        "judge mine": "broken",
        "own": "broken",
    }


def test_a_broken_configuration_is_named(project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "gnt.toml").write_text("[models.x]\nbackend = 3\n")
    assert gnt("doctor") == 1
    out = capsys.readouterr().out
    assert "!!  gnt.toml" in out
    assert "[models.x]" in out


def test_a_key_is_never_printed(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0000")
    monkeypatch.setenv("HF_TOKEN", "hf_secret_0000")
    gnt("doctor")
    out = capsys.readouterr().out
    assert "key in OPENAI_API_KEY" in out
    assert "secret" not in out


def test_the_store_is_counted_and_a_broken_one_named(
    project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]
) -> None:
    from pytest_gnt.pipeline.store import Store
    from pytest_gnt.work import Answer, Context, Work

    store = Store(project / ".gnt" / "store.sqlite", run="r")
    store.commit("translate", [(Work(Context({"m": 1}), {"n": number}), Answer({})) for number in range(3)])
    store.close()
    assert gnt("doctor", "--json") == 0
    assert findings(capsys)["store"]["detail"].endswith("translate 3")
    (project / ".gnt" / "store.sqlite").write_bytes(b"no database at all" * 100)
    assert gnt("doctor", "--json") == 1
    assert findings(capsys)["store"]["state"] == "broken"


def test_public_data_are_counted(
    gnt: Gnt, project: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnt("doctor", "--json", "--data", shared_data) == 0
    rows = findings(capsys)
    assert rows["mgente"]["detail"].startswith("400 cases of 400 rows")
    assert rows["ambgimt"]["state"] == "ok"
