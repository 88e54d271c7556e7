"""Finding what a user names: a stored baseline by name or folder, or a report folder."""

from __future__ import annotations

from pathlib import Path

from pytest_gnt.config import load_config
from pytest_gnt.config.files import did_you_mean
from pytest_gnt.errors import GntError
from pytest_gnt.verdicts.baseline import SUMMARY, baseline_folder, list_baselines, read_baseline
from pytest_gnt.verdicts.diff import DiffSide, side_of_baselines, side_of_report


def baselines_root(given: str | None) -> Path:
    """The folder of stored baselines: as given, else that of the configuration of the current folder."""
    here = Path.cwd()
    return (here / (given or load_config(here).run.baselines)).resolve()


def find_side(name: str, root: Path) -> DiffSide:
    """A side of a comparison.

    Raises:
        GntError: there is neither a report folder nor a baseline of that name, or it cannot be read.
    """
    folder = Path(name)
    if (folder / "report.json").is_file():
        return side_of_report(folder)
    for place in (folder, baseline_folder(root, name)):
        if (place / SUMMARY).is_file():
            corpora = [corpus for path, corpus in list_baselines(place.parent) if path == place]
            return side_of_baselines(place.name, [read_baseline(place, corpus) for corpus in corpora])
    known = sorted({path.name for path, _ in list_baselines(root)})
    raise GntError(
        f"{name!r} is neither a report folder nor a baseline in {root}.{did_you_mean(name, known)} "
        f"Known baselines: {', '.join(known) or 'none'}."
    )
