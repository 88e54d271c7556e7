#!/usr/bin/env python3
"""Apertium, a rule-based translator, as a `command` model of pytest-gnt.

Install Apertium and its English-Spanish data (Debian, Ubuntu: ``apt install apertium-eng-spa``), then in ``gnt.toml``:

    [models.apertium]
    backend = "command"
    argv = ["python3", "examples/apertium_adapter.py"]

and run ``pytest --gnt-model=apertium --gnt-langs=es suites/``. The file is also a pattern for an adapter of your own:
read JSON requests, one a line, write JSON replies, one a line, in any order, and flush.

What is special about Apertium:

- A process takes half a second to start and answers only when its input ends. So all requests that are waiting go
  through one process together; pytest-gnt sends a whole batch at once.
- Its text format gives a meaning to many signs (``[`` starts formatting, ``^ $ /`` separate words, ``@ * #`` mark
  unknown ones …), and lines flow together. So such signs travel as private-use characters, sentences are separated by
  NUL bytes, and each one carries its number to the other side.
"""

from __future__ import annotations

import json
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict

MODES = {("en", "es"): "eng-spa", ("es", "en"): "spa-eng"}
SIGNS = "\\[]{}^$/@<>~#*+"
FIRST_STAND_IN = 0xF700
STAND_INS = {ord(sign): chr(FIRST_STAND_IN + number) for number, sign in enumerate(SIGNS)}
SIGNS_AGAIN = {ord(stand_in): chr(sign) for sign, stand_in in STAND_INS.items()}
CONTROL = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]+")
NUMBER = re.compile(r"\[\]\[(\d+)\]\Z")
SETTLE_SECONDS = 0.05

Request = dict[str, str]


def translate(sentences: list[str], mode: str) -> dict[int, str]:
    """Translate sentences in one Apertium process. The result holds what came back, by position."""
    text = "".join(
        f"{CONTROL.sub(' ', sentence).strip().translate(STAND_INS)}[][{number}]\0"
        for number, sentence in enumerate(sentences)
    )
    # -z: NUL bytes end sentences; -u: no marks on unknown words; -f none: the text is not looked at as a document.
    command = ["apertium", "-z", "-u", "-f", "none", mode]
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)  # noqa: S603
    found: dict[int, str] = {}
    for part in done.stdout.decode("utf-8", "replace").split("\0"):
        number = NUMBER.search(part)
        if number:
            plain = re.sub(r"\\(.)", r"\1", part[: number.start()])
            found[int(number[1])] = plain.translate(SIGNS_AGAIN).strip()
    return found


def fault(request: Request) -> str | None:
    """Why a request cannot be translated, if so."""
    if (request["source_lang"], request["target_lang"]) not in MODES:
        return f"no Apertium data for {request['source_lang']} to {request['target_lang']}"
    if any(ord(character) in SIGNS_AGAIN for character in request["source"]):
        return "the sentence holds private-use characters that this adapter needs itself"
    return None


def answer(requests: list[Request]) -> None:
    """Write a reply to each request."""
    by_mode: dict[str, list[Request]] = defaultdict(list)
    for request in requests:
        why = fault(request)
        if why:
            reply(request, error=why)
        else:
            by_mode[MODES[request["source_lang"], request["target_lang"]]].append(request)
    for mode, members in by_mode.items():
        texts = translate([request["source"] for request in members], mode)
        for number, request in enumerate(members):
            if number in texts:
                reply(request, translation=texts[number])
            else:
                reply(request, error="Apertium gave nothing back for this sentence")


def reply(request: Request, **fields: str) -> None:
    print(json.dumps({"id": request["id"], **fields}), flush=True)


def read_requests(waiting: queue.SimpleQueue[Request | None]) -> None:
    for line in sys.stdin:
        waiting.put(json.loads(line))
    waiting.put(None)


def main() -> int:
    if shutil.which("apertium") is None:
        print("apertium is not installed (Debian, Ubuntu: apt install apertium-eng-spa)", file=sys.stderr)
        return 3
    waiting: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
    threading.Thread(target=read_requests, args=(waiting,), daemon=True).start()
    while (first := waiting.get()) is not None:
        time.sleep(SETTLE_SECONDS)
        group: list[Request] = [first]
        while not waiting.empty() and (request := waiting.get()) is not None:
            group.append(request)
        answer(group)
    return 0


if __name__ == "__main__":
    sys.exit(main())
