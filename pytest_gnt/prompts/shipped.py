"""The prompts that the product ships: its own wording, in data files.

Only these files are templates. What is filled in (sentences, language names, terms) is never looked at for template
syntax, so braces, quotes and dollar signs in data arrive as they are.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pytest_gnt.case import Form
from pytest_gnt.engines.protocol import Message
from pytest_gnt.errors import GntError
from pytest_gnt.prompts.config import PromptConfig
from pytest_gnt.prompts.form import render_form
from pytest_gnt.prompts.languages import base_code, language_name
from pytest_gnt.prompts.parts import PromptParts, Shot, ShotType

if TYPE_CHECKING:
    from jinja2 import Template

GUIDELINE_LANGS = frozenset({"it", "es", "de", "el"})
"""Languages with guidelines of their own; the others get the generic text."""

_DATA = files(__package__) / "data"


class ShippedWording:
    """The product's own prompts."""

    name = "pytest-gnt"

    def parts(self, lang: str, config: PromptConfig, *, labelled: bool) -> PromptParts:
        """See `Wording`.

        Raises:
            GntError: fixed terms are asked for and there is no glossary for the language.
        """
        kind = "labelled" if labelled else "plain"
        about = {"lang": base_code(lang), "language": language_name(lang)}
        terms = _terms(lang) if config.lexical and not labelled else ()
        preamble = _render(f"preamble_{kind}.j2", moral=config.moral, terms=terms, **about)
        guidelines = _guidelines(lang, about) if config.guidelines and labelled else None
        return PromptParts(
            system=Message("system", _render(f"system_{kind}.j2", **about)) if config.system else None,
            preamble=Message("user", preamble),
            guidelines=Message("user", guidelines) if guidelines else None,
            shots=tuple(self._shots(lang, labelled=labelled)),
        )

    def user_turn(self, source: str, lang: str, *, labelled: bool) -> str:
        """See `Wording`."""
        name = "user_labelled.j2" if labelled else "user_plain.j2"
        return _render(name, source=source, language=language_name(lang))

    def _shots(self, lang: str, *, labelled: bool) -> list[Shot]:
        code = base_code(lang)
        shots = []
        for entry in _toml("shots/labelled.toml" if labelled else "shots/plain.toml")["shots"]:
            if code not in entry:
                continue
            kind: ShotType = entry.get("type", "plain")
            label = Form.NEUTRAL if kind == "neutral" else Form.GENDERED
            reply = render_form(entry[code], label, code) if labelled else entry[code]
            shots.append(Shot(kind, entry["source"], self.user_turn(entry["source"], lang, labelled=labelled), reply))
        return shots


def glossary(lang: str) -> dict[str, str]:
    """The fixed term of each identity in a language; empty where the product has none."""
    terms: dict[str, str] = _toml("glossary.toml").get(base_code(lang), {})
    return terms


def _terms(lang: str) -> tuple[tuple[str, str], ...]:
    terms = glossary(lang)
    if not terms:
        raise GntError(
            f"constraint = lexical needs a glossary, and there is none for {language_name(lang)}; "
            "choose another constraint or other languages"
        )
    return tuple(terms.items())


def _guidelines(lang: str, about: dict[str, str]) -> str:
    code = base_code(lang)
    return _render(f"guidelines/{code if code in GUIDELINE_LANGS else 'generic'}.j2", **about)


def _render(name: str, **values: Any) -> str:
    return _template(name).render(values)


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    # Prompts are plain text for a model: escaping for HTML would alter them.
    environment = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)  # noqa: S701
    return environment.from_string((_DATA / name).read_text(encoding="utf-8"))


@cache
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((_DATA / name).read_text(encoding="utf-8"))
