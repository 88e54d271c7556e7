"""Any program as a translator: JSON Lines requests on its standard input, JSON Lines replies on its standard output.

A request is ``{"id", "source", "source_lang", "target_lang", "case_id"}``, a reply ``{"id", "translation"}``, with
``"label"`` (NEUTRAL or GENDERED) where the system says one, or ``{"id", "error"}`` for one sentence that it cannot
translate. Replies come in any order; each is one line, flushed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pytest_gnt.case import Case, Form
from pytest_gnt.engines.protocol import Reply
from pytest_gnt.errors import EngineFailure, GntError
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.prompts.reply import read_text, reply_failure
from pytest_gnt.translators.line_process import LineProcess, deadline, remaining
from pytest_gnt.translators.stage import STAGE, VERSION, about, store_reply, stored_reply
from pytest_gnt.work import Answer, Context, JsonObject, Work, canonical_json

Mode = Literal["stream", "batch"]

_MAX_HASHED_FILE = 1_000_000
_SECRET_OPTION = re.compile(r"(?i)(key|token|secret|password|passwd|auth)")


class CommandTranslator:
    """A `Provider[Case, Translation]` that runs a program.

    Args:
        argv: the program and its arguments; run without a shell.
        version: a text to change when the program changes in a way that its command line does not show.
        env: variables to set for it. Their values are never stored or shown.
        cwd: its working folder.
        timeout: seconds that may pass without any reply. Then requests that were passed over (later ones have been
            answered) are errors of their own; where others are open as well the program is taken to hang.
        mode: ``stream`` keeps one process for the run; ``batch`` starts one for each batch and closes its input, for
            programs that read everything before they answer.
        batch_size: requests sent at once, and cases that one commit of the store covers.

    Raises:
        GntError: ``argv`` is empty or a time is not positive.
    """

    stage = STAGE
    movable = True

    def __init__(
        self,
        argv: Sequence[str],
        *,
        version: str = "",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 120.0,
        mode: Mode = "stream",
        batch_size: int = 64,
    ) -> None:
        if not argv or not argv[0]:
            raise GntError("a command model needs argv: the program and its arguments")
        if timeout <= 0:
            raise GntError("timeout of a command model must be more than 0 seconds")
        self.batch_size = batch_size
        self._argv = list(argv)
        self._env = dict(env or {})
        self._cwd = cwd
        self._timeout = timeout
        self._mode = mode
        self._process: LineProcess | None = None
        self._sent = 0
        self._notes: dict[str, int] = {}
        self._context = Context({"stage": STAGE, "version": VERSION, "engine": self._describe(version)})

    @property
    def notes(self) -> tuple[str, ...]:
        """Faults of the program that cost no case: lines that are no replies, doubled replies."""
        return tuple(f"{text} ({count} times)" if count > 1 else text for text, count in self._notes.items())

    def context(self) -> Mapping[str, object]:
        """What a signature has to say of this system."""
        engine: Mapping[str, object] = self._context.data["engine"]
        return engine

    def work(self, subject: Case) -> Work:
        """One request. The case id is part of it, since the program may look at it."""
        return Work(self._context, {**about(subject), "case_id": subject.id})

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Answer]]:
        """See `Provider`.

        Raises:
            EngineFailure: the program cannot start, ends while requests are open, or hangs; with the end of its
                standard error. What it has answered before has been yielded.
        """
        process = self._started()
        pending: dict[str, int] = {}
        lines = []
        for index, work in enumerate(works):
            self._sent += 1
            pending[str(self._sent)] = index
            lines.append(canonical_json({"id": str(self._sent), **work.input}).encode("ascii"))
        process.send(lines)
        if self._mode == "batch":
            process.end_input()
        try:
            yield from self._collect(process, pending)
        except BaseException:
            self.close()
            raise
        if self._mode == "batch":
            self.close()

    def read(self, subject: Case, answer: JsonObject) -> Translation:
        """The translation, or the reason why there is none."""
        reply = stored_reply(answer)
        parsed = reply_failure(reply, subject) or read_text(reply.text, subject)
        label = answer.get("label")
        if label is not None and parsed.text is not None:
            parsed = dataclasses.replace(parsed, label=Form(label))
        return parsed.translation(subject, reply)

    def close(self) -> None:
        """End the program and all that it has started."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _started(self) -> LineProcess:
        if self._process is None:
            self._process = LineProcess(self._argv, self._env, self._cwd)
        return self._process

    def _collect(self, process: LineProcess, pending: dict[str, int]) -> Iterator[tuple[int, Answer]]:
        until = deadline(self._timeout)
        latest = 0
        while pending:
            try:
                line = process.receive(remaining(until))
            except TimeoutError:
                yield from self._passed_over(pending, latest)
                if pending:
                    raise EngineFailure(self._hang(len(pending))) from None
                return
            if line is None:
                raise EngineFailure(
                    f"the program {self._argv[0]!r} {process.how_it_ended()}; {len(pending)} request(s) were open"
                )
            fields = _fields(line)
            request = str(fields.get("id"))
            if request in pending:
                latest = max(latest, int(request))
                until = deadline(self._timeout)
                yield pending.pop(request), _answer(fields)
            else:
                self._note_stray(fields)

    def _passed_over(self, pending: dict[str, int], latest: int) -> Iterator[tuple[int, Answer]]:
        """Errors for the requests that are open though later ones have been answered."""
        detail = f"no reply within {self._timeout:g} s"
        for request in [request for request in pending if int(request) < latest]:
            yield pending.pop(request), store_reply(Reply(text=None, reason=Reason.TRANSPORT, detail=detail))

    def _note_stray(self, fields: Mapping[str, object]) -> None:
        request = str(fields.get("id"))
        if "id" not in fields:
            text = "a line of output was no JSON object with an id"
        elif request.isdecimal() and 0 < int(request) <= self._sent:
            text = "a second or late reply to a request was ignored"
        else:
            text = "a reply to an unknown id was ignored"
        self._notes[text] = self._notes.get(text, 0) + 1

    def _hang(self, open_requests: int) -> str:
        hint = ""
        if self._mode == "stream":
            hint = "; if it reads all of its input before it answers, set mode = 'batch', else let it flush each line"
        return (
            f"the program {self._argv[0]!r} gave no reply for {self._timeout:g} s "
            f"while {open_requests} request(s) were open{hint}"
        )

    def _describe(self, version: str) -> dict[str, object]:
        """The program for keys and signatures: arguments without secrets, and hashes of the files among them."""
        return {
            "backend": "command",
            "argv": _without_secrets(self._argv),
            "files": _hashes(self._argv, self._cwd),
            "env": sorted(self._env),
            "revision": version,
        }


def _fields(line: bytes) -> dict[str, object]:
    """The members of a line's JSON object; nothing where it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _answer(fields: Mapping[str, object]) -> Answer:
    error, text, label = fields.get("error"), fields.get("translation"), fields.get("label")
    if error:
        return store_reply(Reply(text=None, reason=Reason.TRANSPORT, detail=f"the program says: {str(error)[:300]}"))
    if not isinstance(text, str):
        return store_reply(Reply(text=None, reason=Reason.MISSING, detail="the reply has no text in translation"))
    if label not in (None, "", *(form.value for form in Form)):
        detail = f"the label {str(label)[:40]!r} is neither NEUTRAL nor GENDERED"
        return store_reply(Reply(text=text, reason=Reason.NO_FORM, detail=detail))
    answer = store_reply(Reply(text=text))
    return Answer({**answer.value, "label": label or None}, keep=answer.keep)


def _without_secrets(argv: Sequence[str]) -> list[str]:
    """The arguments, with the values of options that look like keys or passwords left out, and of addresses."""
    shown: list[str] = []
    for argument in argv:
        name, equals, _ = argument.partition("=")
        after_secret = bool(shown) and shown[-1].startswith("-") and "=" not in shown[-1]
        if equals and _SECRET_OPTION.search(name):
            shown.append(f"{name}=***")
        elif after_secret and _SECRET_OPTION.search(shown[-1]) and not argument.startswith("-"):
            shown.append("***")
        else:
            shown.append(re.sub(r"//[^/@\s]*@", "//***@", argument))
    return shown


def _hashes(argv: Sequence[str], cwd: Path | None) -> dict[str, str]:
    """SHA-256 of the small files that the command line names: scripts and settings that change what comes out."""
    found: dict[str, str] = {}
    for argument in argv:
        path = (cwd or Path()) / argument
        try:
            if path.is_file() and path.stat().st_size <= _MAX_HASHED_FILE:
                found[argument] = hashlib.sha256(path.read_bytes()).hexdigest()
        except (OSError, ValueError):
            continue
    return found
