"""`gnt fetch`, against a git repository of our own and a server that plays the data hub."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from pytest_gnt.commands import fetch
from pytest_gnt.commands.fetch import AMBGIMT_ROWS, RECORD, intact, read_record
from pytest_gnt.commands.fetch_sources import git_object_id

Gnt = Callable[..., int]
COMMIT = "c0ffee" + "0" * 34


# --- AmbGIMT, by git


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with files of the release's names and lengths, and with things that do not belong to it."""
    folder = tmp_path / "upstream"
    (folder / "datasets").mkdir(parents=True)
    for name, lines in AMBGIMT_ROWS.items():
        text = "".join(f"The person is terse, {number}.\r\n" for number in range(lines))
        (folder / "datasets" / name).write_text(text, encoding="utf-8", newline="")
    (folder / "datasets" / "README.md").write_text("read me")
    (folder / "evil.py").write_text("raise SystemExit")
    (folder / ".gitattributes").write_text("* text eol=lf filter=evil\n")
    git(folder, "init", "--quiet")
    git(folder, "-c", "core.autocrlf=false", "add", "--all")
    git(folder, "commit", "--quiet", "-m", "release")
    return folder


def fetch_from(gnt: Gnt, repository: Path, *more: str) -> int:
    revision = () if "--revision" in more else ("--revision", git(repository, "rev-parse", "HEAD"))
    return gnt("fetch", "ambgimt", "--repository", repository.as_uri(), *revision, *more)


def test_a_repository_is_fetched_counted_and_recorded(
    project: Path, gnt: Gnt, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch_from(gnt, repository) == 0
    folder = project / "data" / "ambgimt"
    assert {path.name for path in folder.iterdir()} == {*AMBGIMT_ROWS, RECORD}
    record = read_record(folder)
    assert record is not None
    assert record["revision"] == git(repository, "rev-parse", "HEAD")
    assert {name: about["rows"] for name, about in record["files"].items()} == dict(AMBGIMT_ROWS)
    for name, about in record["files"].items():
        stored = subprocess.run(
            ["git", "cat-file", "blob", f"HEAD:datasets/{name}"], cwd=repository, capture_output=True, check=True
        )
        assert (folder / name).read_bytes() == stored.stdout
        assert about["sha256"] == hashlib.sha256(stored.stdout).hexdigest()
    assert [path.name for path in (project / "data").iterdir()] == ["ambgimt"]
    assert "--gnt-data=" in capsys.readouterr().out


def test_a_second_fetch_only_checks(
    project: Path, gnt: Gnt, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch_from(gnt, repository) == 0
    moved = repository.rename(repository.with_name("moved"))
    assert gnt("fetch", "ambgimt") == 0
    assert "already in" in capsys.readouterr().out
    damaged = project / "data" / "ambgimt" / "GIMT_amb_sents_v3_extend.txt"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert gnt("fetch", "ambgimt") == 2  # it has to be fetched again, and its repository is away
    moved.rename(repository)
    assert gnt("fetch", "ambgimt") == 0
    record = read_record(damaged.parent)
    assert record is not None
    assert intact(damaged.parent, record)


@pytest.mark.parametrize("damage", ["short", "missing", "revision", "url"])
def test_what_is_not_the_release_is_not_used(
    project: Path, gnt: Gnt, repository: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    assert fetch_from(gnt, repository) == 0
    before = sorted((path.name, path.stat().st_mtime_ns) for path in (project / "data" / "ambgimt").iterdir())
    file = repository / "datasets" / "DictExample_convert_sents.hypo.zh"
    more: tuple[str, ...] = ("--force",)
    if damage == "short":
        file.write_text("one line\n")
    elif damage == "missing":
        file.unlink()
    elif damage == "revision":
        more = ("--revision", "f" * 40)
    else:
        more = ("--revision", "main", "--repository", (project / "nowhere").as_uri())
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "next")
    assert fetch_from(gnt, repository, *more) == 2
    error = capsys.readouterr().err
    assert error.startswith("gnt fetch: ")
    assert error.count("\n") == 1
    after = sorted((path.name, path.stat().st_mtime_ns) for path in (project / "data" / "ambgimt").iterdir())
    assert after == before
    assert [path.name for path in (project / "data").iterdir()] == ["ambgimt"]


def test_own_files_are_not_overwritten(
    project: Path, gnt: Gnt, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = project / "data" / "ambgimt" / "GIMT_amb_sents_v3_extend.txt"
    own.parent.mkdir(parents=True)
    own.write_text("mine\n")
    assert fetch_from(gnt, repository) == 2
    assert "--force" in capsys.readouterr().err
    assert own.read_text() == "mine\n"
    assert fetch_from(gnt, repository, "--force") == 0
    assert own.read_text() != "mine\n"


def test_an_option_is_no_repository(project: Path, gnt: Gnt, capsys: pytest.CaptureFixture[str]) -> None:
    assert gnt("fetch", "ambgimt", "--repository=--upload-pack=touch x", "--revision", "main") == 2
    assert "no repository" in capsys.readouterr().err


def test_the_pinned_rows_are_those_of_the_public_files(shared_data: Path) -> None:
    for name in ("GIMT_amb_sents_v3_extend.txt", "GIMT_amb_sents_v3_extend.hypo.zh"):
        assert fetch._lines(shared_data / "ambgimt" / name) == AMBGIMT_ROWS[name]


# --- mGeNTE, by the hub


def mgente_table(rows: int = 1500, lang: str = "it") -> bytes:
    lines = ["ID\tEuroparl_ID\tSET\tSRC\tREF-G\tREF-N\tCOMMON\tGENDER\tREF-G_ann\tG-WORDS"]
    for number in range(rows):
        subset, gender = ("Set-N", "") if number % 2 else ("Set-G", "F")
        lines.append(f"{number}\tep{number}\t{subset}\tSentence {number}.\tG {lang}\tN {lang}\t\t{gender}\t\t")
    return ("\n".join(lines) + "\n").encode()


class Hub:
    """What a hub holds, and how it answers."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {
            f"data/en-{lang}.tsv": mgente_table(lang=lang) for lang in ("it", "es", "de", "el")
        }
        self.files |= {"README.md": b"# card", "data/en-it_common.tsv": mgente_table(200)}
        self.sent: dict[str, bytes] = {}
        self.status = 200
        self.code = ""
        self.asked: list[str] = []

    def answer(self, path: str) -> tuple[int, Mapping[str, str], bytes]:
        self.asked.append(path)
        if path.startswith("/api/datasets/"):
            return 200, {"content-type": "application/json"}, json.dumps(self.info()).encode()
        if self.status != 200:
            return self.status, {"X-Error-Code": self.code, "X-Error-Message": "no"}, b"no"
        name = path.partition(f"/resolve/{COMMIT}/")[2]
        content = self.sent.get(name, self.files.get(name))
        if content is None:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        return 200, {"ETag": f'"{git_object_id(content)}"', "X-Repo-Commit": COMMIT}, content

    def info(self) -> dict[str, Any]:
        siblings = [
            {"rfilename": name, "size": len(content), "blobId": git_object_id(content)}
            for name, content in self.files.items()
        ]
        return {"id": "FBK-MT/mGeNTE", "sha": COMMIT, "gated": "auto", "private": False, "siblings": siblings}


@contextmanager
def hub_server(hub: Hub) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.do_GET(body=False)

        def do_GET(self, body: bool = True) -> None:
            status, headers, content = hub.answer(self.path.partition("?")[0].replace("%2F", "/"))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)


Fetch = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def fetch_mgente(project: Path) -> Iterator[tuple[Hub, Fetch]]:
    """The command in a process of its own, since the hub's client reads its address when it is imported."""
    hub = Hub()
    with hub_server(hub) as url:

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
            environment = {**kept, "HF_ENDPOINT": url, "HF_HOME": str(project.parent / "hf"), "HF_TOKEN": "hf_secret"}
            command = [sys.executable, "-m", "pytest_gnt.cli", "fetch", "mgente", *arguments]
            return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=120)

        yield hub, run


def test_a_data_set_is_fetched_counted_and_recorded(project: Path, fetch_mgente: tuple[Hub, Fetch]) -> None:
    hub, run = fetch_mgente
    done = run()
    assert done.returncode == 0, done.stderr
    folder = project / "data" / "mgente"
    assert {path.name for path in folder.iterdir()} == {
        *(f"en-{lang}.tsv" for lang in ("it", "es", "de", "el")),
        "en-it_common.tsv",
        RECORD,
    }
    record = read_record(folder)
    assert record is not None
    assert record["revision"] == COMMIT
    assert record["files"]["en-de.tsv"] == {
        "rows": 1500,
        "sha256": hashlib.sha256(hub.files["data/en-de.tsv"]).hexdigest(),
    }
    asked = len(hub.asked)
    assert "already in" in run().stdout
    assert len(hub.asked) == asked


def test_a_gated_data_set_says_how_to_get_access(project: Path, fetch_mgente: tuple[Hub, Fetch]) -> None:
    hub, run = fetch_mgente
    hub.status, hub.code = 403, "GatedRepo"
    done = run()
    assert done.returncode == 2
    assert "is gated: sign in at http://127.0.0.1" in done.stderr
    assert "HF_TOKEN" in done.stderr
    assert "hf_secret" not in done.stderr + done.stdout
    assert done.stderr.count("\n") == 1
    assert not (project / "data" / "mgente").exists()


@pytest.mark.parametrize("damage", ["content", "rows", "language", "away"])
def test_a_damaged_data_set_is_not_used(project: Path, fetch_mgente: tuple[Hub, Fetch], damage: str) -> None:
    hub, run = fetch_mgente
    said = {"content": "damaged", "rows": "has 1499 rows", "language": "no table for en-el", "away": "there is no http"}
    if damage == "content":
        good = hub.files["data/en-es.tsv"]
        hub.sent["data/en-es.tsv"] = good[:-5] + b"\tX\n\n\n"
    elif damage == "rows":
        hub.files["data/en-es.tsv"] = mgente_table(1499)
    elif damage == "language":
        del hub.files["data/en-el.tsv"]
    else:
        hub.status, hub.code = 404, "RepoNotFound"
    done = run()
    assert done.returncode == 2
    assert said[damage] in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list((project / "data").glob("*")), "what was not finished is gone"
    assert not list((project / "data").glob(".*"))
