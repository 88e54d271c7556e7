"""The command line options. Imports the standard library and pytest only."""

from __future__ import annotations

from typing import Any

import pytest


def split(text: str) -> tuple[str, ...]:
    """A comma-separated list, blanks around its parts dropped."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def add_options(parser: pytest.Parser) -> None:
    """Register ``--gnt-…``. Every default is None: what is not given comes from the configuration file."""
    group = parser.getgroup("gnt", "gender-neutral translation (pytest-gnt)")

    def add(name: str, **settings: Any) -> None:
        group.addoption(f"--gnt-{name}", dest=f"gnt_{name.replace('-', '_')}", default=None, **settings)

    add("model", metavar="NAME", help="system under test: a preset or a [models.NAME] of gnt.toml")
    add("judge", metavar="NAME|none", help="judge of neutrality (default: lexicon)")
    add("judge-prompt-dir", metavar="DIR", help="prompts of an LLM judge in the published layout")
    add("attitude-model", metavar="NAME|none", help="model that scores emotional attitude")
    add("aligner", metavar="NAME", help="what finds the attitude word in the translation (default: lexicon)")
    add(
        "comet",
        metavar="NAME,NAME|none",
        help="COMET models to score quality with, e.g. comet22,cometkiwi (default: none)",
    )
    add("data", metavar="DIR", help="folder of the public corpora (default: the shipped hand-written sample)")
    add("langs", metavar="it,es", type=split, help="keep these target languages")
    add("identities", metavar="person,woman", type=split, help="keep these identities")
    add("prompt", metavar="none|G|S|G+S", help="prompt configuration: guidelines, system prompt")
    add("shots", metavar="0|2|4", type=int, help="worked examples in the prompt")
    add("constraint", metavar="none|moral|lexical|moral+lexical", help="AmbGIMT prompt constraint")
    add("prompt-dir", metavar="DIR", help="prompts in the published YAML layout")
    add("sample", metavar="N", type=int, help="about N cases of each corpus, whole groups, stratified and seeded")
    add("seed", metavar="N", type=int, help="seed of sampling, decoding and resampling (default: 0)")
    add("baseline", metavar="NAME|PATH|none", help="compare with a stored baseline")
    add("update-baseline", action="store_const", const="merge", help="store this run as the model's baseline")
    group.addoption(
        "--gnt-force-update-baseline",
        dest="gnt_update_baseline",
        action="store_const",
        const="force",
        default=None,
        help="the same, also where the stored numbers cannot be compared with this run's",
    )
    add("gate", metavar="aggregate|case|off", help="what makes a run red against a baseline")
    add("max-unscored-rate", metavar="R", type=float, help="a larger share of undecided tests makes the run red")
    add("max-refused-rate", metavar="R", type=float, help="a larger share of refused rows makes the run red")
    add(
        "repeats",
        metavar="K",
        type=int,
        help="run system and judge K times to measure run-to-run noise; gates widen by it",
    )
    add("max-cost", metavar="X", type=float, help="stop asking servers with a configured price once this much is spent")
    add("report", metavar="DIR|none", help="where the results are written (default: gnt-report)")
    add("store", metavar="PATH", help="result store (default: .gnt/store.sqlite)")
    add("executor", metavar="local|ray", help="run models here, or as actors of a Ray cluster (default: local)")
    add("offline", action="store_true", help="never use the network")


def given(config: pytest.Config) -> dict[str, Any]:
    """The ``--gnt-…`` options that were given, by the name of their setting."""
    options = vars(config.option)
    return {
        name.removeprefix("gnt_"): value
        for name, value in options.items()
        if name.startswith("gnt_") and value is not None
    }
