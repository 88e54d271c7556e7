"""Prompts for cases: the shared prefix, the last user turn, and the form that the reply is bound to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_gnt.case import Case, Form
from pytest_gnt.engines.protocol import Constraint, Message
from pytest_gnt.prompts.config import PromptConfig
from pytest_gnt.prompts.languages import base_code, language_name
from pytest_gnt.prompts.parts import PromptParts, Shot, Wording, choose_shots, comparable
from pytest_gnt.prompts.reply import ReplyForm
from pytest_gnt.prompts.shipped import ShippedWording
from pytest_gnt.work import digest

FINGERPRINT_DIGITS = 12


@dataclass(frozen=True, slots=True)
class _Opening:
    """How the conversations of one language and form begin.

    Attributes:
        prefix: whole turns, the same object for every case; never ends in a user turn.
        lead: text that belongs to the same user turn as the sentence, where no example stands in between.
    """

    prefix: tuple[Message, ...]
    lead: str


class PromptBuilder:
    """Builds the prompts of one configuration.

    Args:
        config: which parts there are.
        wording: where the texts come from; by default the product's own.
        exclude_sources: sentences that are evaluated and so must not be shown as examples.
    """

    def __init__(
        self, config: PromptConfig, wording: Wording | None = None, exclude_sources: Iterable[str] = ()
    ) -> None:
        self.config = config
        self.wording = wording or ShippedWording()
        self._exclude = frozenset(map(comparable, exclude_sources))
        self._openings: dict[tuple[str, bool], _Opening] = {}
        self._notes: dict[str, None] = {}

    def build_prefix(self, lang: str, *, labelled: bool) -> tuple[Message, ...]:
        """All turns before the last user turn; the same object for the same arguments.

        Raises:
            GntError: the wording lacks something that the configuration asks for.
        """
        return self._opening(lang, labelled).prefix

    def user_turn(self, case: Case) -> str:
        """The last user turn: the sentence, byte for byte, in its place."""
        labelled = self.form(case) == "labelled"
        turn = self.wording.user_turn(case.source, case.target_lang, labelled=labelled)
        return self._opening(case.target_lang, labelled).lead + turn

    def form(self, case: Case) -> ReplyForm:
        """``labelled`` for cases that expect a form (mGeNTE), else ``plain``."""
        return "plain" if case.expected is None else "labelled"

    def constraint(self, case: Case) -> Constraint:
        """The form of the reply as a regular expression that engines can bind generation to."""
        return Constraint("regex", reply_regex(case.target_lang, labelled=self.form(case) == "labelled"))

    def shots_for(self, lang: str, *, labelled: bool) -> tuple[Shot, ...]:
        """The examples that the prompts show."""
        return self._shots(self.wording.parts(lang, self.config, labelled=labelled), lang)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the prompts built so far (examples left out, languages without any)."""
        return tuple(self._notes)

    def fingerprint(self, langs: Iterable[str], *, labelled: bool) -> str:
        """Hash of everything in the prompts beside the sentences, for signatures; 12 hex digits."""
        parts = []
        for lang in sorted(set(langs)):
            opening = self._opening(lang, labelled)
            turn = self.wording.user_turn("", lang, labelled=labelled)
            messages = [[message.role, message.content] for message in opening.prefix]
            parts.append([lang, messages, opening.lead, turn, reply_regex(lang, labelled=labelled)])
        return digest(parts)[:FINGERPRINT_DIGITS]

    def _opening(self, lang: str, labelled: bool) -> _Opening:
        key = (lang, labelled)
        if key not in self._openings:
            self._openings[key] = self._open(lang, labelled)
        return self._openings[key]

    def _open(self, lang: str, labelled: bool) -> _Opening:
        parts = self.wording.parts(lang, self.config, labelled=labelled)
        messages = [part for part in (parts.system, parts.preamble, parts.guidelines) if part is not None]
        for shot in self._shots(parts, lang):
            messages += [Message("user", shot.user), Message("assistant", shot.assistant)]
        merged = _merged(messages, parts.joint)
        if merged[-1].role != "user":
            return _Opening(tuple(merged), "")
        return _Opening(tuple(merged[:-1]), merged[-1].content + parts.joint)

    def _shots(self, parts: PromptParts, lang: str) -> tuple[Shot, ...]:
        wanted = self.config.shots
        chosen = choose_shots(parts.shots, wanted, self._exclude)
        excluded = sum(comparable(shot.source) in self._exclude for shot in parts.shots)
        if wanted and excluded:
            self._notes[f"{excluded} example(s) for {language_name(lang)} left out: they are among the cases"] = None
        if len(chosen) < wanted:
            self._notes[f"{len(chosen)} of {wanted} examples in prompts for {language_name(lang)}: no more exist"] = (
                None
            )
        return chosen


def reply_regex(lang: str, *, labelled: bool) -> str:
    r"""The form of a reply as a regular expression without anchors, in the syntax that all engines share.

    Labelled: the tag, one of the two labels, and a text of one line in brackets, which may hold brackets of its own
    (one level). Plain: one line that does not begin with a blank, and the line end where a base model wants to stop.
    """
    if not labelled:
        return r"[^\s][^\n]*\n?\n?"
    inner = r"(?:[^\[\]\n]|\[[^\[\]\n]*\])"
    labels = "|".join(Form)
    return rf"<{re.escape(base_code(lang))}> \*\*(?:{labels})\*\* \[{inner}+\]"


def _merged(messages: Iterable[Message], joint: str) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = Message(message.role, merged[-1].content + joint + message.content)
        else:
            merged.append(message)
    return merged
