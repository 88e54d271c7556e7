"""The shipped sample: sentences, references and annotations written by hand for this project.

It has the form of the two corpora, shows what a run looks like, and lets the demo and the tests run without them. Its
figures say nothing about the benchmarks, so the title, which every report shows, says that it is a sample.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from pytest_gnt.corpora import ambgimt, mgente
from pytest_gnt.corpora.source import CorpusData, CorpusSource

FOLDER = Path(__file__).with_name("sample")
"""Where the sample lies: ``mgente/`` and ``ambgimt/`` in the form that the loaders read."""


def load_mgente(source: CorpusSource) -> CorpusData:
    """Read the sample in mGeNTE's form: 24 sentences in each of four languages. The source's root is not used."""
    return mgente.read(dataclasses.replace(source, root=FOLDER / "mgente"), f"{mgente.TITLE} (hand-written sample)")


def load_ambgimt(source: CorpusSource) -> CorpusData:
    """Read the sample in AmbGIMT's form: 12 sentences for 14 identities each. The source's root is not used."""
    own = dataclasses.replace(source, root=FOLDER / "ambgimt", options={"stems": {"synthesized": "sample"}})
    return ambgimt.read(own, f"{ambgimt.TITLE} (hand-written sample)")
