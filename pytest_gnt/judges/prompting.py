"""What an LLM judge is told: the product's own wording of the task, in data files, and worked examples a language.

Only the data files are templates. Sentences that are filled in are never looked at for template syntax.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Protocol

from pytest_gnt.engines.protocol import Constraint, Message
from pytest_gnt.judges.settings import DEFAULT_SETTING, Setting
from pytest_gnt.judges.untrusted import as_json_data
from pytest_gnt.judges.verdict_form import schema_text
from pytest_gnt.prompts.languages import base_code, language_name

_DATA = files(__package__) / "prompts"


class JudgePrompts(Protocol):
    """A wording of the task: the product's, or a folder of published files.

    ``prefix`` is the same object for the same language. ``notes`` say what the user should know: flaws of files,
    languages without examples. ``prefix`` raises `GntError` where there is no prompt for a language.
    """

    setting: Setting
    name: str

    def prefix(self, lang: str) -> tuple[Message, ...]: ...

    def user_turn(self, source: str, translation: str, lang: str) -> str: ...

    def constraint(self) -> Constraint: ...

    @property
    def notes(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class JudgeShot:
    """A worked example with phrases as (text, gender, correct or wrong) and the three-way label."""

    source: str
    translation: str
    phrases: tuple[tuple[str, str, str], ...]
    label: str

    def reply(self, setting: Setting) -> str:
        """The example's answer in the form of a setting."""
        answer: dict[str, Any] = {}
        if setting.has_phrases:
            names = ("phrase", "gender", "gender_correctness") if setting.sees_source else ("phrase", "gender")
            answer["phrases"] = [dict(zip(names, phrase, strict=False)) for phrase in self.phrases]
        answer["label"] = self.label if setting.sees_source or self.label == "NEUTRAL" else "GENDERED"
        return json.dumps(answer, ensure_ascii=False)


class ShippedPrompts:
    """The product's own wording. Italian, Spanish, German and Greek have notes and eight examples of their own; other
    languages get the generic notes and no examples.

    Args:
        setting: what the judge is shown and has to write.
    """

    name = "pytest-gnt"

    def __init__(self, setting: Setting = DEFAULT_SETTING) -> None:
        self.setting = setting
        self._prefixes: dict[str, tuple[Message, ...]] = {}

    def prefix(self, lang: str) -> tuple[Message, ...]:
        """The system turn and the examples."""
        code = base_code(lang)
        if code not in self._prefixes:
            turns = [Message("system", system_text(code, self.setting))]
            for shot in shots(code):
                turns += [
                    Message("user", self.user_turn(shot.source, shot.translation, code)),
                    Message("assistant", shot.reply(self.setting)),
                ]
            self._prefixes[code] = tuple(turns)
        return self._prefixes[code]

    def user_turn(self, source: str, translation: str, lang: str) -> str:
        """The sentences as one JSON object."""
        del lang
        texts = {"source": source} if self.setting.sees_source else {}
        return as_json_data(**texts, translation=translation)

    def constraint(self) -> Constraint:
        """The schema of the setting."""
        return self._constraint

    @cached_property
    def _constraint(self) -> Constraint:
        return Constraint("json", schema_text(self.setting))

    @property
    def notes(self) -> tuple[str, ...]:
        """Languages that were judged without notes and examples of their own."""
        return tuple(
            f"the judge has no examples for {language_name(lang)}: generic instructions were used"
            for lang in sorted(self._prefixes)
            if not shots(lang)
        )


@cache
def shots(lang: str) -> tuple[JudgeShot, ...]:
    """The worked examples of a language, in the order in which they are shown; none where there is no file."""
    path = _DATA / "shots" / f"{lang}.toml"
    if not path.is_file():
        return ()
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["shots"]
    return tuple(
        JudgeShot(
            entry["source"],
            entry["translation"],
            tuple((text, gender, correctness) for text, gender, correctness in entry["phrases"]),
            entry["label"],
        )
        for entry in entries
    )


def system_text(lang: str, setting: Setting) -> str:
    """The instructions for a language and setting."""
    from jinja2 import Environment, StrictUndefined

    language = language_name(lang)
    path = _DATA / f"notes_{lang}.txt"
    if path.is_file():
        notes = path.read_text(encoding="utf-8")
    else:
        notes = (_DATA / "notes_generic.txt").read_text(encoding="utf-8").replace("{language}", language)
    # Prompts are plain text for a model: escaping for HTML would alter them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    template = environment.from_string((_DATA / "system.j2").read_text(encoding="utf-8"))
    return template.render(
        language=language, notes=notes.strip(), cross=setting.sees_source, phrases=setting.has_phrases
    ).strip()
