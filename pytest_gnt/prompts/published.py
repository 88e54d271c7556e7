"""Prompts in the layout that the mGeNTE authors published: one YAML file a language pair, ``prompt_en-it.yaml`` …

Each of ``system_prompt``, ``preamble``, ``user_prompt`` and ``gender_neutral_guidelines`` has ``role`` and ``content``;
``demonstrations`` is a list of ``user``, ``assistant``, ``type`` (gendered or neutral). ``user_prompt`` holds the
placeholder ``{input}``. Parts of one role are joined without anything between them, as the published code does, so the
prompts of the paper come out character for character. The published code draws demonstrations at random; here they keep
the file's order.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from pytest_gnt.engines.protocol import Message, Role
from pytest_gnt.errors import GntError
from pytest_gnt.prompts.config import PromptConfig
from pytest_gnt.prompts.languages import base_code
from pytest_gnt.prompts.parts import PromptParts, Shot, ShotType
from pytest_gnt.prompts.shipped import ShippedWording

PLACEHOLDER = "{input}"
"""Where the sentence goes; ``{source}`` is accepted as well."""

_FILE_NAME = re.compile(r"(?:^|[-_.])([a-z]{2,3})\.ya?ml$")
_PLACEHOLDERS = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_KNOWN = ("input", "source")
_PARTS = ("system_prompt", "preamble", "user_prompt", "gender_neutral_guidelines")
_DEMONSTRATION = ("user", "assistant", "type")


@dataclass(frozen=True, slots=True)
class PublishedPrompts:
    """One file's content."""

    parts: PromptParts
    before: str
    after: str

    def user_turn(self, source: str) -> str:
        return self.before + source + self.after


class PublishedWording:
    """A folder of published prompt files. The plain form, which they do not have, is worded by the product.

    Raises:
        GntError: the folder holds no such file, or a file is broken; names file, line and what is wrong.
    """

    def __init__(self, folder: Path) -> None:
        self.name = f"prompt files of {folder.name}"
        self._plain = ShippedWording()
        self._by_lang = _load_folder(folder)
        self._folder = folder

    @property
    def langs(self) -> tuple[str, ...]:
        """Languages that there is a file for."""
        return tuple(sorted(self._by_lang))

    def parts(self, lang: str, config: PromptConfig, *, labelled: bool) -> PromptParts:
        """See `Wording`."""
        if not labelled:
            return self._plain.parts(lang, config, labelled=False)
        parts = self._file(lang).parts
        return PromptParts(
            system=parts.system if config.system else None,
            preamble=parts.preamble,
            guidelines=parts.guidelines if config.guidelines else None,
            shots=parts.shots,
            joint=parts.joint,
        )

    def user_turn(self, source: str, lang: str, *, labelled: bool) -> str:
        """See `Wording`."""
        if not labelled:
            return self._plain.user_turn(source, lang, labelled=False)
        return self._file(lang).user_turn(source)

    def _file(self, lang: str) -> PublishedPrompts:
        try:
            return self._by_lang[base_code(lang)]
        except KeyError:
            raise GntError(
                f"{self._folder} holds no prompt file for {lang} (there are {', '.join(self.langs)}); "
                f"add prompt_en-{lang}.yaml or choose other languages"
            ) from None


def _load_folder(folder: Path) -> dict[str, PublishedPrompts]:
    if not folder.is_dir():
        raise GntError(f"prompt folder {folder} does not exist; check --gnt-prompt-dir")
    found: dict[str, PublishedPrompts] = {}
    for path in sorted((*folder.glob("*.yaml"), *folder.glob("*.yml"))):
        match = _FILE_NAME.search(path.name)
        if match is None:
            continue
        if match[1] in found:
            raise GntError(f"{folder} holds two prompt files for {match[1]}; keep one ({path.name} is the second)")
        found[match[1]] = load_prompt_file(path)
    if not found:
        raise GntError(f"{folder} holds no prompt files; they are named like prompt_en-it.yaml")
    return found


def load_prompt_file(path: Path) -> PublishedPrompts:
    """Read and check one file.

    Raises:
        GntError: names file, line and what is wrong; an unknown placeholder is named.
    """
    tree = _Tree(path)
    root = tree.mapping(tree.root, (*_PARTS, "demonstrations"), "the file")
    system = tree.message(root["system_prompt"], "system_prompt")
    preamble = tree.message(root["preamble"], "preamble")
    guidelines = tree.message(root["gender_neutral_guidelines"], "gender_neutral_guidelines")
    user = tree.message(root["user_prompt"], "user_prompt", may_hold_input=True)
    if user.role != "user":
        raise tree.error(root["user_prompt"], "user_prompt must have the role user")
    before, *rest = _PLACEHOLDERS.split(user.content)[::2]
    if len(rest) != 1:
        raise tree.error(root["user_prompt"], f"user_prompt must hold {PLACEHOLDER} once: the place of the sentence")
    after = rest[0]
    shots = tuple(_shot(tree, node, before, after) for node in tree.sequence(root["demonstrations"]))
    parts = PromptParts(system=system, preamble=preamble, guidelines=guidelines, shots=shots, joint="")
    return PublishedPrompts(parts, before, after)


def _shot(tree: _Tree, node: Any, before: str, after: str) -> Shot:
    fields = tree.mapping(node, _DEMONSTRATION, "a demonstration")
    texts = {name: tree.text(fields[name], f"demonstration, {name}") for name in _DEMONSTRATION}
    kind = texts["type"].strip().lower()
    if kind not in ("gendered", "neutral"):
        raise tree.error(fields["type"], f"type must be gendered or neutral, not {kind!r}")
    user = texts["user"]
    return Shot(cast("ShotType", kind), user.removeprefix(before).removesuffix(after), user, texts["assistant"])


class _Tree:
    """A YAML file as nodes with their line numbers. Nothing in it is executed or turned into objects."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._yaml = _import_yaml()
        try:
            text = path.read_text(encoding="utf-8-sig")
            self.root = self._yaml.compose(text, Loader=self._yaml.SafeLoader)
        except UnicodeDecodeError as error:
            raise GntError(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8") from None
        except OSError as error:
            raise GntError(f"{path} cannot be read: {error.strerror}") from None
        except self._yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f":{mark.line + 1}" if mark else ""
            raise GntError(f"{path}{line}: not valid YAML: {getattr(error, 'problem', None) or error}") from None

    def error(self, node: Any, message: str) -> GntError:
        line = f":{node.start_mark.line + 1}" if node is not None else ""
        return GntError(f"{self._path}{line}: {message}")

    def mapping(self, node: Any, keys: tuple[str, ...], what: str) -> Mapping[str, Any]:
        """The values of exactly these keys."""
        if not isinstance(node, self._yaml.MappingNode):
            raise self.error(node, f"{what} must have the keys {', '.join(keys)}")
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            if name not in keys:
                raise self.error(key, f"unknown key {name!r} in {what}; known are {', '.join(keys)}")
            if name in found:
                raise self.error(key, f"the key {name!r} occurs twice in {what}")
            found[name] = value
        missing = [key for key in keys if key not in found]
        if missing:
            raise self.error(node, f"{what} lacks {', '.join(missing)}")
        return found

    def sequence(self, node: Any) -> list[Any]:
        if not isinstance(node, self._yaml.SequenceNode):
            raise self.error(node, "demonstrations must be a list")
        return list(node.value)

    def text(self, node: Any, what: str) -> str:
        if not isinstance(node, self._yaml.ScalarNode) or not str(node.value).strip():
            raise self.error(node, f"{what} must be a text")
        return str(node.value)

    def message(self, node: Any, name: str, *, may_hold_input: bool = False) -> Message:
        """A part; unknown placeholders in it are refused. Braces that are no placeholder (JSON …) are text."""
        fields = self.mapping(node, ("role", "content"), name)
        role = self.text(fields["role"], f"{name}, role").strip()
        if role not in get_args(Role):
            raise self.error(fields["role"], f"role must be one of {', '.join(get_args(Role))}, not {role!r}")
        content = self.text(fields["content"], f"{name}, content")
        for placeholder in _PLACEHOLDERS.findall(content):
            if not (may_hold_input and placeholder in _KNOWN):
                hint = f"only {PLACEHOLDER} in user_prompt is filled in"
                raise self.error(fields["content"], f"unknown placeholder {{{placeholder}}} in {name}; {hint}")
        return Message(cast("Role", role), content)


def _import_yaml() -> Any:
    try:
        return importlib.import_module("yaml")
    except ImportError:
        raise GntError("--gnt-prompt-dir needs PyYAML: pip install pyyaml") from None
