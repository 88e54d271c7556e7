#!/usr/bin/env python3
"""Apertium, a rule-based translator, as a `command` model of pytest-gnt.

Install Apertium and its English-Spanish data (Debian, Ubuntu: ``apt install apertium-eng-spa``), then in ``gnt.toml``:

    [models.apertium]
    backend = "command"
    argv = ["python3", "examples/apertium_adapter.py"]

and run ``pytest --gnt-model=apertium --gnt-langs=es suites/``. The file is also a pattern for an adapter of your own:
read one JSON request a line, write one JSON reply a line, flush each, and keep the engine running in between.

What is special about Apertium: its text format gives a meaning to many signs (``[`` starts formatting, ``^ $ /`` separate
words, ``@ * #`` mark unknown ones …), and whole lines flow together. So such signs travel as private-use characters,
every sentence ends in a mark of its own, and a NUL byte makes Apertium answer at once without ending the process.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import IO

MODES = {("en", "es"): "eng-spa", ("es", "en"): "spa-eng"}
SIGNS = "\\[]{}^$/@<>~#*+"
FIRST_STAND_IN = 0xF700
STAND_INS = {ord(sign): chr(FIRST_STAND_IN + number) for number, sign in enumerate(SIGNS)}
SIGNS_AGAIN = {ord(stand_in): chr(sign) for sign, stand_in in STAND_INS.items()}
CONTROL = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]+")


class Apertium:
    """One running Apertium pipeline for one translation direction."""

    def __init__(self, mode: str) -> None:
        # -z: answer at each NUL byte; -u: no marks on unknown words; -f none: the text is not looked at as a document.
        self._process = subprocess.Popen(
            ["apertium", "-z", "-u", "-f", "none", mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._count = 0

    def translate(self, text: str) -> str:
        """Translate one sentence."""
        prepared = CONTROL.sub(" ", text).strip()
        if not prepared:
            return ""
        self._count += 1
        mark = f"[][{self._count}]"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{prepared.translate(STAND_INS)}{mark}\0".encode())
        self._process.stdin.flush()
        answer = read_until_nul(self._process.stdout)
        if not answer.endswith(mark):
            raise RuntimeError(f"Apertium answered out of step: {answer[-60:]!r} does not end in {mark}")
        return re.sub(r"\\(.)", r"\1", answer[: -len(mark)]).translate(SIGNS_AGAIN).strip()


def read_until_nul(stream: IO[bytes]) -> str:
    """What comes before the next NUL byte."""
    parts = bytearray()
    while (byte := stream.read(1)) != b"\0":
        if not byte:
            raise RuntimeError("Apertium has ended")
        parts += byte
    return parts.decode("utf-8")


def reply(request: dict[str, str], engines: dict[str, Apertium]) -> dict[str, str]:
    """The reply to one request."""
    mode = MODES.get((request["source_lang"], request["target_lang"]))
    if mode is None:
        return {"error": f"no Apertium data for {request['source_lang']} to {request['target_lang']}"}
    source = request["source"]
    if any(ord(character) in SIGNS_AGAIN for character in source):
        return {"error": "the sentence holds private-use characters that this adapter needs itself"}
    if mode not in engines:
        engines[mode] = Apertium(mode)
    return {"translation": engines[mode].translate(source)}


def main() -> int:
    if shutil.which("apertium") is None:
        print("apertium is not installed (Debian, Ubuntu: apt install apertium-eng-spa)", file=sys.stderr)
        return 3
    engines: dict[str, Apertium] = {}
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **reply(request, engines)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
