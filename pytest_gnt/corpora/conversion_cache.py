"""Plans of whole files, kept between runs: parsing the public sentences takes seconds, and every worker needs them.

The key is a hash of the lines, the parser's version, and the conversion's own code and data, so nothing stale is ever
read. A cache that cannot be read or written changes nothing but the time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pytest_gnt.corpora.conversion import NotConvertible, plan_lines
from pytest_gnt.corpora.conversion_forms import FORMS_FILE
from pytest_gnt.corpora.conversion_plan import Kind, Plan, Slot
from pytest_gnt.errors import GntError
from pytest_gnt.files import locked, replace_file

CACHE_VARIABLE = "GNT_CACHE_DIR"
"""Environment variable that names another cache folder."""

_MIN_LINES = 100


def cached_plans(lines: Sequence[str]) -> Sequence[Plan | NotConvertible]:
    """What `plan_lines` gives, from the cache where it is there. Files of a few lines are not kept.

    Raises:
        GntError: the parser is needed and not usable.
    """
    if len(lines) < _MIN_LINES:
        return plan_lines(lines)
    folder = _folder()
    path = folder / f"{_key(lines)}.json"
    known = _read(path, lines)
    if known is not None:
        return known
    with contextlib.ExitStack() as stack:
        # Of several workers one does the work; the others wait for it.
        with contextlib.suppress(GntError):
            stack.enter_context(locked(folder))
        plans = _read(path, lines) or plan_lines(lines)
        with contextlib.suppress(GntError, OSError):
            replace_file(path, (json.dumps(_written(plan), ensure_ascii=True) for plan in plans))
    return plans


def _folder() -> Path:
    override = os.environ.get(CACHE_VARIABLE)
    if override:
        return Path(override).expanduser() / "conversion"
    import platformdirs

    return Path(platformdirs.user_cache_dir("pytest-gnt")) / "conversion"


def _key(lines: Sequence[str]) -> str:
    summary = hashlib.sha256(_code_digest().encode())
    for line in lines:
        summary.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return summary.hexdigest()[:32]


@cache
def _code_digest() -> str:
    summary = hashlib.sha256(_parser_version().encode())
    for path in [*sorted(Path(__file__).parent.glob("conversion*.py")), FORMS_FILE]:
        summary.update(path.read_bytes())
    return summary.hexdigest()


def _parser_version() -> str:
    try:
        return version("spacy")
    except PackageNotFoundError:
        return ""


def _written(plan: Plan | NotConvertible) -> Any:
    if isinstance(plan, NotConvertible):
        return str(plan)
    return [plan.text, [_cells(slot) for slot in plan.slots], [[_cells(slot), why] for slot, why in plan.kept]]


def _cells(slot: Slot) -> list[Any]:
    return [slot.start, slot.end, slot.kind.value, slot.singular]


def _read(path: Path, lines: Sequence[str]) -> list[Plan | NotConvertible] | None:
    try:
        plans = [_plan(json.loads(row)) for row in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return plans if len(plans) == len(lines) else None


def _plan(data: Any) -> Plan | NotConvertible:
    if isinstance(data, str):
        return NotConvertible(data)
    text, slots, kept = data
    return Plan(text, tuple(_slot(cells) for cells in slots), tuple((_slot(cells), why) for cells, why in kept))


def _slot(cells: list[Any]) -> Slot:
    start, end, kind, singular = cells
    return Slot(int(start), int(end), Kind(kind), singular)
