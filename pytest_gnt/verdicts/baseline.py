"""Stored results of one model on one corpus: ``baselines/<model>/<corpus>.jsonl`` and ``summary.json``.

One line a case, sorted by id, keys in a fixed order, numbers rounded to 4 decimals: a git diff is the list of changed
cases. ``summary.json`` says for each corpus of the folder what its numbers depend on. The format is described in
docs/gates.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_gnt.case import id_part
from pytest_gnt.errors import GntError
from pytest_gnt.files import locked, replace_file
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.results import Outcome

BASELINE_SCHEMA = 1
SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The baseline of one model on one corpus.

    Attributes:
        model: name of the system.
        corpus: name of the corpus.
        signature: what the numbers depend on.
        older_signatures: other signatures that some of the cases come from (a baseline updated in parts).
        revision: the corpus' content hash.
        entries: by case id, in order of id.
    """

    model: str
    corpus: str
    signature: str
    revision: str
    older_signatures: tuple[str, ...] = ()
    entries: Mapping[str, Entry] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Cases, and tests by outcome."""
        outcomes = dict.fromkeys(Outcome, 0)
        for entry in self.entries.values():
            for test in entry.tests.values():
                outcomes[test.outcome] += 1
        return {"cases": len(self.entries), **{str(outcome): count for outcome, count in outcomes.items()}}


def baseline_folder(root: Path, model: str) -> Path:
    """The folder of a model's baselines. A name that cannot be a folder's is percent-encoded.

    Raises:
        GntError: the name is empty or made of dots.
    """
    if not model.strip(" ."):
        raise GntError(f"{model!r} cannot name a baseline: give the model a name with letters in it.")
    return root / id_part(model)


def list_baselines(root: Path) -> list[tuple[Path, str]]:
    """Folder and corpus of every baseline under ``root``, sorted."""
    return [
        (path.parent, corpus)
        for path in sorted(root.glob(f"*/{SUMMARY}"))
        for corpus in sorted(_read_summary(path)["corpora"])
        if (path.parent / f"{corpus}.jsonl").is_file()
    ]


def read_baseline(path: Path, corpus: str | None = None) -> Baseline:
    """Read the baseline of one corpus: from a model's folder, or from its ``.jsonl`` file.

    Raises:
        GntError: there is none; the schema is another; a line cannot be read, or an id occurs twice (file and line are
            named).
    """
    if path.suffix == ".jsonl" and not path.is_dir():
        path, corpus = path.parent, corpus or path.stem
    if corpus is None:
        raise GntError(f"{path} holds the baselines of several corpora: name one, or give the .jsonl file.")
    file, summary = path / f"{corpus}.jsonl", path / SUMMARY
    if not file.is_file() or not summary.is_file():
        raise GntError(f"there is no baseline of {corpus} in {path}. Store one with --gnt-update-baseline.")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise GntError(f"{file} cannot be read: {error.strerror}.") from error
    about = _about(summary, corpus, _digest(data))
    return Baseline(
        model=about["model"],
        corpus=corpus,
        signature=about["signature"],
        older_signatures=tuple(about["older_signatures"]),
        revision=about["revision"],
        entries=_entries(file, corpus, data),
    )


def write_baseline(folder: Path, baseline: Baseline) -> None:
    """Put a baseline in the place of the stored one. A killed or failed write leaves the old one whole.

    Raises:
        GntError: the folder cannot be written.
    """
    with locked(folder):
        write_unlocked(folder, baseline)


def prune(baseline: Baseline, case_ids: Collection[str]) -> Baseline:
    """The baseline without the cases that are not among ``case_ids``."""
    wanted = set(case_ids)
    return replace(baseline, entries={key: entry for key, entry in baseline.entries.items() if key in wanted})


def write_unlocked(folder: Path, baseline: Baseline) -> None:
    """`write_baseline` for a caller that holds the folder's lock."""
    lines = [baseline.entries[key].to_line() for key in sorted(baseline.entries)]
    file, summary = folder / f"{baseline.corpus}.jsonl", folder / SUMMARY
    corpora = _read_summary(summary)["corpora"] if summary.is_file() else {}
    row = {
        "signature": baseline.signature,
        "older_signatures": list(baseline.older_signatures),
        "revision": baseline.revision,
        **baseline.counts(),
        "digest": _digest("".join(line + "\n" for line in lines).encode("utf-8")),
    }
    # Two files cannot be replaced in one step. The summary first speaks of both states, each with the digest of its
    # lines, and a reader takes the one that it finds. So a kill at any point leaves a pair that belongs together.
    between = row | {"previous": _row_in_force(corpora.get(baseline.corpus), file)}
    _write_summary(summary, baseline.model, corpora | {baseline.corpus: between})
    replace_file(file, lines)
    _write_summary(summary, baseline.model, corpora | {baseline.corpus: row})


def _row_in_force(row: Any, file: Path) -> dict[str, Any] | None:
    """What the summary says of the lines that are stored now; None where nothing is stored."""
    if not isinstance(row, dict) or not file.is_file():
        return None
    digest = _digest(file.read_bytes())
    return {**_row_of(row, digest), "digest": digest}


def _row_of(row: dict[str, Any], digest: str) -> dict[str, Any]:
    """The state that has this digest; for lines edited by hand, which have none, the latest."""
    previous = row.get("previous")
    if isinstance(previous, dict) and row.get("digest") != digest and previous.get("digest") == digest:
        return previous
    return {key: value for key, value in row.items() if key != "previous"}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write_summary(path: Path, model: str, corpora: Mapping[str, Any]) -> None:
    data = {"schema": BASELINE_SCHEMA, "model": model, "corpora": {name: corpora[name] for name in sorted(corpora)}}
    replace_file(path, [json.dumps(data, indent=2, ensure_ascii=True, allow_nan=False)])


def _read_summary(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GntError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise GntError(f"{path}: not JSON: {error}. Restore it, or store the baseline anew.") from error
    if not isinstance(data, dict) or data.get("schema") != BASELINE_SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise GntError(
            f"{path}: a baseline of schema {found!r}, this version reads {BASELINE_SCHEMA}. Store it anew with "
            "--gnt-update-baseline in an empty folder."
        )
    if not isinstance(data.get("corpora"), dict) or not isinstance(data.get("model"), str):
        raise GntError(f"{path}: 'model' or 'corpora' is missing. Restore it, or store the baseline anew.")
    return data


def _about(path: Path, corpus: str, digest: str) -> dict[str, Any]:
    """What the summary says of a corpus' lines."""
    summary = _read_summary(path)
    row = summary["corpora"].get(corpus)
    if not isinstance(row, dict):
        raise GntError(f"{path} does not know {corpus}. Restore it, or store the baseline anew.")
    about = {"older_signatures": [], **_row_of(row, digest), "model": summary["model"]}
    if not all(isinstance(about.get(name), str) for name in ("signature", "revision")):
        raise GntError(f"{path}: {corpus} has no signature or revision. Store the baseline anew.")
    return about


def _entries(file: Path, corpus: str, data: bytes) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    lines: dict[str, int] = {}
    for number, line in _lines(data):
        try:
            entry = Entry.from_line(line.decode("utf-8"))
            if entry.corpus != corpus:
                raise ValueError(f"{entry.id!r} is not a case of {corpus}")
        except (ValueError, RecursionError) as error:
            raise GntError(f"{file}:{number}: {error}. Mend the line, or restore the file from git.") from error
        if entry.id in entries:
            raise GntError(f"{file}:{number}: {entry.id!r} stands in line {lines[entry.id]} too. Remove one of them.")
        entries[entry.id], lines[entry.id] = entry, number
    return {key: entries[key] for key in sorted(entries)}


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, by number. Only LF ends a line; an editor's byte-order mark and CR are dropped."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            yield number, line


def new_baseline(model: str, corpus: str, signature: str, revision: str, entries: Iterable[Entry]) -> Baseline:
    """A baseline made of entries.

    Raises:
        ValueError: an id occurs twice, or belongs to another corpus.
    """
    made: dict[str, Entry] = {}
    for entry in entries:
        if entry.id in made or entry.corpus != corpus:
            raise ValueError(f"{entry.id!r} occurs twice or is not a case of {corpus}")
        made[entry.id] = entry
    return Baseline(
        model=model,
        corpus=corpus,
        signature=signature,
        revision=revision,
        entries={key: made[key] for key in sorted(made)},
    )
