"""Finding and loading a corpus by name: the user's own, the public files of ``--gnt-data``, or the shipped sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gnt.config.files import did_you_mean
from pytest_gnt.corpora.source import CorpusData, CorpusLoader, CorpusSource
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.config import CorpusSettings
    from pytest_gnt.runner.session import GntSession

PUBLIC = ("mgente", "ambgimt")


def load_corpus(gnt: GntSession, name: str) -> CorpusData:
    """Load a corpus, whole: ``--gnt-langs`` selects afterwards, so that the revision is the same in every run.

    Raises:
        GntError: unknown name, missing files, or files that cannot be read.
    """
    own = gnt.files.corpora.get(name)
    if own is not None:
        return _existing(own.loader, gnt)(_own_source(gnt, name, own))
    if name not in PUBLIC:
        known = sorted({*PUBLIC, *gnt.files.corpora})
        raise GntError(
            f"unknown corpus {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}. "
            "Add your own as [corpora.NAME] in gnt.toml."
        )
    if gnt.settings.data is None:
        return _sample(name)(CorpusSource(name=name, root=Path()))
    root = gnt.path(gnt.settings.data)
    if not root.is_dir():
        raise GntError(
            f"--gnt-data: {root} is not a folder. It should hold mgente/ and ambgimt/ with the public files."
        )
    return _existing(name, gnt)(CorpusSource(name=name, root=root))


def _own_source(gnt: GntSession, name: str, own: CorpusSettings) -> CorpusSource:
    options: dict[str, object] = {**own.options, "columns": own.columns}
    if own.lang is not None:
        options["lang"] = own.lang
    return CorpusSource(name=name, root=gnt.files.path(own.path), langs=own.langs, options=options)


def _existing(loader: str, gnt: GntSession) -> CorpusLoader:
    from pytest_gnt.corpora import ambgimt, mgente, table

    builtin: dict[str, CorpusLoader] = {"mgente": mgente.load, "ambgimt": ambgimt.load, "table": table.load}
    if loader in builtin:
        return builtin[loader]
    found: CorpusLoader | None = gnt.config.hook.pytest_gnt_corpus(config=gnt.config, loader=loader)
    if found is None:
        raise GntError(f"unknown corpus loader {loader!r}.{did_you_mean(loader, builtin)} Known: {', '.join(builtin)}.")
    return found


def _sample(name: str) -> Callable[[CorpusSource], CorpusData]:
    from pytest_gnt.corpora import sample

    return {"mgente": sample.load_mgente, "ambgimt": sample.load_ambgimt}[name]
