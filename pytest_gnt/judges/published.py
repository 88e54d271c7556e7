"""Judge prompts in the layout that the authors of the published judge released (Piergentili et al. 2025).

    prompts/<lang>/<setting>     system text, e.g. prompts/it/cross-p_l
    prompts/user_cross           user turn with the placeholders {src} and {tgt}; user_mono with {tgt}
    shots/<lang>/<setting>.tsv   examples: columns src (or SRC), tgt (or translation), out
    schemas/<setting>.json       JSON schema of the reply

File endings .txt and .md are accepted for the texts. What is in the files is sent as it is, flaws included, so that
published results can be repeated; flaws are noted with file and line. Replies are checked against the product's own
form of the setting in any case.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from pytest_gnt.corpora.tables import Row, Table, read_table
from pytest_gnt.corpora.textfile import read_text
from pytest_gnt.engines.protocol import Constraint, Message
from pytest_gnt.errors import GntError
from pytest_gnt.judges.consistency import ALL_ABSENT, contradiction, phrase_flags
from pytest_gnt.judges.reply_json import ReplyFault, find_object
from pytest_gnt.judges.settings import DEFAULT_SETTING, Setting
from pytest_gnt.judges.untrusted import with_control_tokens_broken
from pytest_gnt.judges.verdict_form import check_verdict, labels_of, schema_text
from pytest_gnt.judges.verdict_reader import phrases_of
from pytest_gnt.prompts.languages import base_code

_COLUMNS = {"source": ("src", "SRC"), "translation": ("tgt", "translation"), "out": ("out",)}
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DEFAULT_TURN = {True: "Source: {src}\nTarget: {tgt}", False: "Sentence: {tgt}"}
"""The published user turns, used where the folder holds none."""


@dataclass(frozen=True, slots=True)
class PublishedShot:
    """One example as it is in the file, and its line."""

    line: int
    source: str
    translation: str
    out: str


class PublishedPrompts:
    """A folder of published prompts, as `JudgePrompts`.

    Args:
        folder: see the module's text.
        setting: which of the settings' files are used.

    Raises:
        GntError: the folder or one of its shared files cannot be used; names it.
    """

    def __init__(self, folder: Path, setting: Setting = DEFAULT_SETTING) -> None:
        if not folder.is_dir():
            raise GntError(f"prompt folder {folder} does not exist; check --gnt-judge-prompt-dir")
        self.setting = setting
        self.name = f"prompt files of {folder.name}"
        self._folder = folder
        self._notes: dict[str, None] = {}
        self._turn = self._user_template()
        self._schema = Constraint("json", self._schema_text())
        self._prefixes: dict[str, tuple[Message, ...]] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Flaws of the files read so far, by file and line."""
        return tuple(self._notes)

    def prefix(self, lang: str) -> tuple[Message, ...]:
        """The system turn and the examples, as published.

        Raises:
            GntError: there are no files for the language, or they cannot be read.
        """
        code = base_code(lang)
        if code not in self._prefixes:
            self._prefixes[code] = self._read_prefix(code)
        return self._prefixes[code]

    def user_turn(self, source: str, translation: str, lang: str) -> str:
        """The published user turn. Control tokens of chat templates are broken up by a blank."""
        del lang
        return self._fill(with_control_tokens_broken(source), with_control_tokens_broken(translation))

    def constraint(self) -> Constraint:
        """The folder's schema, or the product's where it holds none."""
        return self._schema

    def _read_prefix(self, lang: str) -> tuple[Message, ...]:
        path = self._text_file(f"prompts/{lang}/{self.setting.file_name}")
        if path is None:
            raise GntError(
                f"{self._folder} holds no judge prompt for {lang} in the setting {self.setting}: there is no "
                f"prompts/{lang}/{self.setting.file_name}. Add it, or choose other languages or another setting."
            )
        turns = [Message("system", read_text(path).text)]
        shots_path = self._folder / "shots" / lang / f"{self.setting.file_name}.tsv"
        if shots_path.is_file():
            shots, flaws = read_shots(shots_path, self.setting)
            self._notes.update(dict.fromkeys(flaws))
            for shot in shots:
                turns += [Message("user", self._fill(shot.source, shot.translation)), Message("assistant", shot.out)]
        else:
            self._notes[f"{shots_path}: there are no examples for {lang}"] = None
        return tuple(turns)

    def _fill(self, source: str, translation: str) -> str:
        texts = {"src": source, "tgt": translation}
        return _PLACEHOLDER.sub(lambda match: texts.get(match[1], match[0]), self._turn)

    def _user_template(self) -> str:
        cross = self.setting.sees_source
        path = self._text_file("prompts/user_cross" if cross else "prompts/user_mono")
        if path is None:
            return _DEFAULT_TURN[cross]
        text = read_text(path).text
        found = set(_PLACEHOLDER.findall(text))
        needed = {"src", "tgt"} if cross else {"tgt"}
        if found != needed:
            raise GntError(f"{path}: must hold the placeholders {_named(needed)}, and holds {_named(found)}")
        return text

    def _schema_text(self) -> str:
        path = self._folder / "schemas" / f"{self.setting.file_name}.json"
        if not path.is_file():
            return schema_text(self.setting)
        text = read_text(path).text
        try:
            schema = json.loads(text)
            labels = schema["properties"]["label"]["enum"]
        except (ValueError, KeyError, TypeError) as error:
            raise GntError(f"{path}: not a JSON schema with the property label ({error})") from None
        foreign = [str(label) for label in labels if label not in labels_of(self.setting)]
        if foreign:
            self._notes[f"{path}: labels outside the setting {self.setting}: {', '.join(foreign)}"] = None
        return text

    def _text_file(self, name: str) -> Path | None:
        candidates = [self._folder / f"{name}{ending}" for ending in ("", ".txt", ".md")]
        return next((path for path in candidates if path.is_file()), None)


def read_shots(path: Path, setting: Setting) -> tuple[tuple[PublishedShot, ...], tuple[str, ...]]:
    """The examples of a file, in order, and its flaws: one sentence each, with file and line.

    A flaw does not drop the example. Rows that do not fit the header are dropped, and are flaws too.

    Raises:
        GntError: the file is no table, or lacks a column.
    """
    table = read_table(path)
    names = {what: _column(table, path, spellings) for what, spellings in _COLUMNS.items()}
    flaws = [str(row) for row in table.refused]
    shots: list[PublishedShot] = []
    for row in table.rows:
        shot = PublishedShot(row.line, *(_cell(row, names[what]) for what in _COLUMNS))
        shots.append(shot)
        flaw = _flaw(shot, setting)
        if flaw:
            flaws.append(f"{path.name}:{row.line}: {flaw}")
    return tuple(shots), tuple(flaws)


def _flaw(shot: PublishedShot, setting: Setting) -> str:
    try:
        found = find_object(shot.out, "label")
        verdict = check_verdict(found.value, setting)
    except (ReplyFault, ValueError) as error:
        return str(error)
    if found.flags:
        return "not valid JSON"
    phrases = phrases_of(verdict)
    if phrases and (what := contradiction(verdict.label, phrases)):
        return what
    if ALL_ABSENT in phrase_flags(phrases, shot.translation):
        return "none of the phrases is in the translation"
    return ""


def _column(table: Table, path: Path, spellings: tuple[str, ...]) -> str:
    found = next((name for name in table.columns if name in spellings), None)
    if found is None:
        raise GntError(f"{path}: there is no column {' or '.join(spellings)} (there are {', '.join(table.columns)})")
    return found


def _cell(row: Row, column: str) -> str:
    return row.cells.get(column) or ""


def _named(placeholders: set[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(placeholders)) or "none"
