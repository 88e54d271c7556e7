"""Downloading the files of a public corpus into a scratch folder: from the data hub, or from a git repository."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_gnt.engines.weights import require
from pytest_gnt.errors import GntError

Wanted = Callable[[str], bool]
"""Told a file's path in the repository, whether it belongs to the corpus."""

GIT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was downloaded: the files in the scratch folder, and the commit that they are of."""

    files: tuple[Path, ...]
    commit: str


def from_hub(repository: str, revision: str, wanted: Wanted, into: Path) -> Fetched:
    """Download a data set's files from the hub, each checked against the hub's checksum.

    Raises:
        GntError: the hub cannot be reached, the data set is gated or unknown, a file is not what the hub says.
    """
    require("huggingface_hub", "hub", "gnt fetch")
    from huggingface_hub import HfApi, constants, hf_hub_download

    page = f"{constants.ENDPOINT}/datasets/{repository}"
    try:
        info = HfApi().dataset_info(repository, revision=revision, files_metadata=True, timeout=30)
        found = [file for file in info.siblings or () if wanted(file.rfilename)]
        if not info.sha:
            raise GntError(f"{page} tells no commit for {revision!r}: name one with --revision")
        files = []
        for file in found:
            path = hf_hub_download(
                repository, file.rfilename, repo_type="dataset", revision=info.sha, local_dir=into / "hub"
            )
            _check_hub(Path(path), file, page)
            files.append(_flat(Path(path), into))
    except GntError:
        raise
    except Exception as error:  # the hub client's errors differ from version to version
        raise GntError(_hub_failure(error, repository, revision, page)) from error
    shutil.rmtree(into / "hub", ignore_errors=True)
    return Fetched(tuple(files), str(info.sha))


def _hub_failure(error: Exception, repository: str, revision: str, page: str) -> str:
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    if isinstance(error, GatedRepoError):
        return (
            f"{repository} is gated: sign in at {page}, accept its terms there, make a read token and set HF_TOKEN to "
            "it (or run  hf auth login), then fetch again"
        )
    if isinstance(error, RevisionNotFoundError):
        return f"{page} has no revision {revision!r}: leave --revision away, or name a commit that it has"
    if isinstance(error, RepositoryNotFoundError):
        return f"there is no {page} for you: check --repository, and set HF_TOKEN if your account may see it"
    return (
        f"{page} cannot be read ({type(error).__name__}): connect, or download the files elsewhere and put them into "
        "the data folder yourself"
    )


def _check_hub(path: Path, file: Any, page: str) -> None:
    """Compare a file with the SHA-256 that the hub states for large files, else with its git object id."""
    content = path.read_bytes()
    lfs = getattr(file, "lfs", None)
    if lfs is not None:
        same = hashlib.sha256(content).hexdigest() == lfs.sha256
    else:
        same = file.blob_id is None or git_object_id(content) == file.blob_id
    if not same or (file.size is not None and len(content) != file.size):
        raise GntError(f"{file.rfilename} of {page} is damaged (its checksum is another one): fetch again")


def git_object_id(content: bytes) -> str:
    """The id under which git stores a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def from_git(url: str, revision: str, wanted: Wanted, into: Path) -> Fetched:
    """Take a repository's files at one commit, byte for byte (no filters, no hooks, no line-end conversion).

    Raises:
        GntError: git is missing, the repository cannot be reached, or it has no such revision.
    """
    if shutil.which("git") is None:
        raise GntError("gnt fetch needs the program git, which is not on the PATH: install it")
    if url.startswith("-") or revision.startswith("-"):
        raise GntError(f"{url!r} at {revision!r} is no repository and revision")
    repository = into / "git"
    _git(None, "init", "--quiet", "--bare", str(repository))
    try:
        _git(repository, "fetch", "--quiet", "--depth=1", "--no-tags", url, revision)
    except GntError as error:
        raise GntError(
            f"{url} at {revision} cannot be fetched ({error}): check the connection, or download the files elsewhere "
            "and put them into the data folder yourself"
        ) from error
    commit = _git(repository, "rev-parse", "FETCH_HEAD^{commit}").decode("ascii").strip()
    if re.fullmatch(r"[0-9a-f]{40}", revision) and commit != revision:
        raise GntError(f"{url} gave commit {commit} instead of {revision}: not used")
    files = []
    for line in _git(repository, "ls-tree", "-r", "-z", "FETCH_HEAD").decode("utf-8", "replace").split("\0"):
        about, _, name = line.partition("\t")
        if about.startswith("100") and wanted(name):  # plain files only, no links
            content = _git(repository, "cat-file", "blob", about.split()[2])
            path = into / Path(name).name
            _new(path)
            path.write_bytes(content)
            files.append(path)
    shutil.rmtree(repository, ignore_errors=True)
    return Fetched(tuple(files), commit)


def _git(repository: Path | None, *arguments: str) -> bytes:
    where = [] if repository is None else [f"--git-dir={repository}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *where, *arguments],  # noqa: S607
            capture_output=True,
            env=environment,
            timeout=GIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GntError(f"git was not finished in {GIT_SECONDS} s") from error
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GntError(f"git: {lines[-1][:200] if lines else done.returncode}")
    return done.stdout


def _flat(path: Path, into: Path) -> Path:
    target = into / path.name
    _new(target)
    return path.rename(target)


def _new(path: Path) -> None:
    if path.exists():
        raise GntError(f"the source holds two files of the name {path.name}: download the right one yourself")
