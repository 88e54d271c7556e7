"""Which interpreter runs COMET, and `gnt setup comet`, which makes one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_gnt import cli
from pytest_gnt.errors import EngineFailure, GntError
from pytest_gnt.metrics import comet_runtime
from pytest_gnt.metrics.comet_runtime import PYTHON_VARIABLE, ask, find_python, identify, interpreter, worker_argv
from tests.comet.conftest import FakeWorker


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable, no environment in the cache, no COMET beside the tests."""
    monkeypatch.delenv(PYTHON_VARIABLE, raising=False)
    monkeypatch.setenv("GNT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(comet_runtime, "_installed_here", lambda: False)


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_the_order_in_which_interpreters_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GntError, match=r"COMET is not installed: run  gnt setup comet  once"):
        find_python()
    made = program(interpreter(tmp_path / "cache" / "comet"))
    assert find_python() == str(made)
    configured = program(tmp_path / "mine" / "python")
    assert find_python(str(configured)) == str(configured)
    named = program(tmp_path / "variable" / "python")
    monkeypatch.setenv(PYTHON_VARIABLE, str(named))
    assert find_python(str(configured)) == str(named)


def test_this_interpreter_is_taken_where_it_has_comet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "comet.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GntError, match="not installed"):  # a module of that name is not enough
        find_python()
    monkeypatch.setattr(comet_runtime, "_installed_here", lambda: True)
    assert find_python() == sys.executable
    assert "-E" not in worker_argv(sys.executable, "score", {})
    assert "-E" in worker_argv("/other/python", "score", {})


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """An environment's interpreter is a link to the one it was made with, which has other packages."""
    link = tmp_path / "env" / "bin" / "python"
    link.parent.mkdir(parents=True)
    link.symlink_to(sys.executable)
    assert find_python(str(link)) == str(link)


@pytest.mark.parametrize("asked", ["nowhere/python", "."])
def test_an_interpreter_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    with pytest.raises(GntError, match=f"python names '{asked}', which is not there"):
        find_python(asked)
    monkeypatch.setenv(PYTHON_VARIABLE, asked)
    with pytest.raises(GntError, match=f"{PYTHON_VARIABLE} names '{asked}'"):
        find_python(sys.executable)


def test_an_interpreter_without_comet(tmp_path: Path) -> None:
    assert ask(sys.executable, None, offline=True)["versions"]["unbabel-comet"] is None
    with pytest.raises(GntError, match="has no unbabel-comet; run  gnt setup comet"):
        identify(sys.executable, "any", "comet", offline=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#!/bin/sh\necho hello; echo bad thing >&2; exit 7\n", r"did not answer \(exit status 7\): bad thing"),
        ("#!/bin/sh\n", r"did not answer \(exit status 0\): it said nothing"),
        ("no program", "cannot run .*: Exec format error"),
    ],
)
def test_a_program_that_is_no_python(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(EngineFailure, match=message):
        ask(str(program(tmp_path / "python", text)), None, offline=True)


def test_setup_leaves_a_finished_environment_alone(
    tmp_path: Path, fake_worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    link = interpreter(tmp_path / "cache" / "comet")
    link.parent.mkdir(parents=True)
    link.symlink_to(fake_worker().python)
    assert cli.main(["setup", "comet", "--python", "/nowhere"]) == 0
    assert capsys.readouterr().out == f"COMET 2.2.7 is already in {tmp_path / 'cache' / 'comet'}\n"


def test_setup_never_empties_a_folder_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.tex").write_text("x")
    assert cli.main(["setup", "comet", "--dir", str(tmp_path / "work")]) == 2
    assert "is no Python environment and not empty" in capsys.readouterr().err
    assert (tmp_path / "work" / "thesis.tex").read_text() == "x"


def test_setup_installs_torch_first_and_says_what_failed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The interpreter given makes an environment whose pip writes down what it is asked, and fails at COMET."""
    log = tmp_path / "log"
    inner = f'#!/bin/sh\necho "$@" >> {log}\ncase "$*" in *unbabel*) echo no such version >&2; exit 9;; esac\n'
    maker = program(
        tmp_path / "maker",
        f"#!/bin/sh\nfor folder; do :; done\nmkdir -p $folder/bin\ncat > $folder/bin/python <<'END'\n{inner}END\n"
        "chmod +x $folder/bin/python\n",
    )
    arguments = ["setup", "comet", "--dir", str(tmp_path / "env"), "--python", str(maker), "--torch", "torch==9"]
    assert cli.main(arguments) == 2
    said = capfd.readouterr()
    assert "installing unbabel-comet==2.2.7, setuptools<82 failed (exit status 9)" in said.err
    assert "no such version" in said.err
    lines = log.read_text().splitlines()
    assert [line.split("--quiet ")[1] for line in lines] == ["torch==9", "unbabel-comet==2.2.7 setuptools<82"]


def test_setup_fetches_models_of_the_configuration(
    tmp_path: Path, fake_worker: FakeWorker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "env"
    interpreter(folder).parent.mkdir(parents=True)
    interpreter(folder).symlink_to(fake_worker().python)
    assert cli.main(["setup", "comet", "--dir", str(folder), "--model", "comet22"]) == 0
    assert "comet22: none" in capsys.readouterr().out
    assert cli.main(["setup", "comet", "--dir", str(folder), "--model", "comet23"]) == 2
    assert "unknown COMET model 'comet23'. Did you mean comet22" in capsys.readouterr().err
