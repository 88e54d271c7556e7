"""``gnt fetch``: get a public corpus, check it, and record what was got."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_gnt.commands.fetch_sources import Fetched, from_git, from_hub
from pytest_gnt.errors import GntError

RECORD = "SOURCE.json"
"""Beside the files of a corpus: where they came from, which commit, and each file's checksum and rows."""

_MGENTE_FILE = re.compile(r"(?:.*/)?en-(?:it|es|de|el)(?:_common)?\.(?:tsv|csv|jsonl)")
_MGENTE_MAIN = re.compile(r"en-(it|es|de|el)\.(?:tsv|csv|jsonl)")
_AMBGIMT_FILE = re.compile(
    r"datasets/(?:DictExample_convert_sents|GIMT_amb_sents_v3_extend)(?:\.AllType)?\.(?:hypo\.zh|txt|txt\.corrected)"
)
AMBGIMT_COMMIT = "dc126a1b4fdbdc180a643a9115b351d48aff8242"
_SENTENCES, _BLOCKS, _SYNTHESIZED, _IDENTITIES = 538, 540, 2578, 14
AMBGIMT_ROWS: Mapping[str, int] = {
    "DictExample_convert_sents.txt": _SENTENCES,
    "DictExample_convert_sents.hypo.zh": _SENTENCES,
    "DictExample_convert_sents.AllType.txt.corrected": _BLOCKS * _IDENTITIES,
    "DictExample_convert_sents.AllType.hypo.zh": _BLOCKS * _IDENTITIES,
    "GIMT_amb_sents_v3_extend.txt": _SYNTHESIZED,
    "GIMT_amb_sents_v3_extend.hypo.zh": _SYNTHESIZED,
    "GIMT_amb_sents_v3_extend.AllType.txt.corrected": _SYNTHESIZED * _IDENTITIES,
    "GIMT_amb_sents_v3_extend.AllType.hypo.zh": _SYNTHESIZED * _IDENTITIES,
}
"""Lines of each file of the release."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a corpus comes from unless the user says otherwise."""

    repository: str
    revision: str
    licence: str


SOURCES: Mapping[str, _Source] = {
    "mgente": _Source("FBK-MT/mGeNTE", "main", "CC BY 4.0; gated: its terms have to be accepted"),
    "ambgimt": _Source("https://github.com/pppa2019/ambGIMT", AMBGIMT_COMMIT, "the release states no licence"),
}


def add_parser(subparsers: Any) -> None:
    """Declare the arguments of ``gnt fetch``."""
    parser = subparsers.add_parser(
        "fetch",
        help="fetch a public corpus",
        description="Downloads a corpus into DATA/NAME, checks checksums and numbers of rows, and records the commit "
        f"in {RECORD}. A download that is not complete and right is never used. mGeNTE is gated: accept its terms on "
        "the hub and set HF_TOKEN.",
    )
    parser.add_argument("corpus", choices=sorted(SOURCES))
    parser.add_argument("--data", metavar="DIR", help="data folder (default: the configuration's, else ./data)")
    parser.add_argument("--revision", metavar="COMMIT", help="commit to fetch (default: the recorded, else the pinned)")
    parser.add_argument("--repository", metavar="ID|URL", help="fetch from elsewhere")
    parser.add_argument("--force", action="store_true", help="replace files that are there and were not fetched by us")


def run(arguments: argparse.Namespace) -> int:
    """Fetch a corpus, or check the one that is there.

    Raises:
        GntError: it cannot be had, or what was downloaded is not what it should be; the data folder is as before.
    """
    from pytest_gnt.config import load_config

    config = load_config(Path.cwd())
    data = config.path(arguments.data or config.run.data or "data")
    folder = data / arguments.corpus
    source = SOURCES[arguments.corpus]
    record = read_record(folder)
    revision = arguments.revision or (record or {}).get("revision") or source.revision
    if record is not None and arguments.revision in (None, record["revision"]) and not arguments.force:
        if intact(folder, record):
            print(f"{arguments.corpus} is already in {folder}, commit {record['revision']}, unchanged")
            return 0
        print(f"{arguments.corpus} in {folder} has been changed since it was fetched; fetching it again")
    elif folder.exists() and record is None and any(folder.iterdir()) and not arguments.force:
        raise GntError(f"{folder} holds files that gnt fetch did not put there: move them away, or use --force")
    repository = arguments.repository or (record or {}).get("repository") or source.repository
    counted = install(arguments.corpus, repository, revision, folder)
    print(f"{arguments.corpus}: {len(counted['files'])} files, commit {counted['revision']}, licence: {source.licence}")
    print(f"it is in {folder}; use it with  pytest --gnt-data={data} …")
    return 0


def install(corpus: str, repository: str, revision: str, folder: Path) -> dict[str, Any]:
    """Download, check, and put in place in one step; returns the record.

    Raises:
        GntError: see `run`.
    """
    with _scratch(folder) as scratch:
        files = scratch / "files"
        files.mkdir()
        if corpus == "mgente":
            fetched = from_hub(repository, revision, lambda name: _MGENTE_FILE.fullmatch(name) is not None, files)
            rows = _mgente_rows(fetched, repository)
        else:
            fetched = from_git(repository, revision, lambda name: _AMBGIMT_FILE.fullmatch(name) is not None, files)
            rows = _ambgimt_rows(fetched, repository)
        record = {
            "corpus": corpus,
            "repository": repository,
            "revision": fetched.commit,
            "files": {path.name: {"sha256": _sha256(path), "rows": rows[path.name]} for path in sorted(fetched.files)},
        }
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        (files / RECORD).write_text(text, encoding="utf-8")
        _swap(files, folder, scratch)
    return record


def _mgente_rows(fetched: Fetched, repository: str) -> dict[str, int]:
    """Rows of each file; the main files have to be complete."""
    from pytest_gnt.corpora.mgente import LANGUAGES, PUBLISHED_ROWS
    from pytest_gnt.corpora.tables import read_table

    rows = {path.name: read_table(path, None).rows_read for path in fetched.files}
    main = {match[1]: name for name in rows if (match := _MGENTE_MAIN.fullmatch(name))}
    missing = [f"en-{lang}" for lang in LANGUAGES if lang not in main]
    if missing:
        raise GntError(f"{repository} at {fetched.commit[:12]} holds no table for {', '.join(missing)}: not used")
    for lang in LANGUAGES:
        if rows[main[lang]] != PUBLISHED_ROWS:
            raise GntError(
                f"{main[lang]} of {repository} at {fetched.commit[:12]} has {rows[main[lang]]} rows, the release has "
                f"{PUBLISHED_ROWS}: not used; name another commit with --revision"
            )
    return rows


def _ambgimt_rows(fetched: Fetched, repository: str) -> dict[str, int]:
    rows = {path.name: _lines(path) for path in fetched.files}
    for name, wanted in AMBGIMT_ROWS.items():
        if rows.get(name) != wanted:
            found = f"{rows[name]} lines" if name in rows else "no such file"
            raise GntError(
                f"{repository} at {fetched.commit[:12]}: {name} should have {wanted} lines, there is {found}: not "
                "used; name another commit with --revision"
            )
    return rows


def _lines(path: Path) -> int:
    content = path.read_bytes()
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))


def read_record(folder: Path) -> dict[str, Any] | None:
    """What was recorded of a fetched corpus; None where nothing was, or it cannot be read."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return record if isinstance(record["revision"], str) and isinstance(record["files"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def intact(folder: Path, record: Mapping[str, Any]) -> bool:
    """Whether every recorded file is there, unchanged."""
    return bool(record["files"]) and all(
        (folder / name).is_file() and _sha256(folder / name) == about["sha256"]
        for name, about in record["files"].items()
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A working folder on the target's file system; what it holds is never read as a corpus."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.fetch-", dir=folder.parent))
    except OSError as error:
        raise GntError(f"{folder.parent} cannot be written ({error.strerror}): choose another --data") from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _swap(new: Path, folder: Path, scratch: Path) -> None:
    """Put the new folder in the place of the old one."""
    old = scratch / "old"
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
