"""Suite-level properties in the JUnit file that pytest writes: signature and rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest


def add_properties(config: pytest.Config, summary: Mapping[str, Any]) -> None:
    """Add the run's signature, counts and rates to ``--junitxml``, where one is written."""
    from _pytest.junitxml import xml_key

    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    for corpus, signature in summary["signature"].items():
        xml.add_global_property(f"gnt.signature.{corpus}", signature)
    for name, count in summary["counts"].items():
        xml.add_global_property(f"gnt.count.{name}", count)
    for row in summary["rates"]:
        if row["rate"] is not None:
            place = ",".join(row["by"].values())
            value = f"{row['rate']:.4f} (n={row['n']}, unscored={row['unscored']})"
            xml.add_global_property(f"gnt.rate.{row['corpus']}.{row['test']}[{place}]", value)
