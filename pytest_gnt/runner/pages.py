"""The pages of a report folder that people read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_gnt.verdicts.entry import Entry


def write_pages(folder: Path, baseline: Mapping[str, Entry] | None = None) -> list[Path]:
    """Write ``report.html`` and ``report.md`` from the folder's records.

    Raises:
        GntError: the records cannot be read.
    """
    from pytest_gnt.reports.html import write_html
    from pytest_gnt.reports.markdown import write_markdown

    return [write_html(folder, baseline), write_markdown(folder, baseline)]
