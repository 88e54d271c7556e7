"""Programs as translators: real child processes, well-behaved and not."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.case import Case, Form
from pytest_gnt.errors import EngineFailure, GntError
from pytest_gnt.evidence import Reason, Translation
from pytest_gnt.translators.command import CommandTranslator

MakeCase = Callable[..., Case]
Translate = Callable[..., list[Translation]]
Program = Callable[..., CommandTranslator]

HEADER = """
import json, os, sys, time
def say(id, **fields): print(json.dumps({"id": id, **fields}), flush=True)
def requests():
    for line in sys.stdin:
        yield json.loads(line)
def upper(text): return "Ecco: " + text.replace("Door", "La porta").replace("stays open", "resta aperta")
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """A translator that runs a Python script."""
    started: list[CommandTranslator] = []

    def make(body: str, **options: Any) -> CommandTranslator:
        script = tmp_path / f"program_{len(started)}.py"
        script.write_text(HEADER + textwrap.dedent(body), encoding="utf-8")
        translator = CommandTranslator([sys.executable, str(script)], **options)
        started.append(translator)
        return translator

    yield make
    for translator in started:
        translator.close()


@pytest.fixture
def doors(make_case: MakeCase) -> list[Case]:
    return [make_case(f"Door {number} stays open.", "it", str(number)) for number in range(6)]


ECHO = 'for r in requests(): say(r["id"], translation=upper(r["source"]))'


def test_replies_come_back_to_their_cases(program: Program, doors: list[Case], translate: Translate) -> None:
    translator = program(ECHO)
    assert [one.text for one in translate(translator, doors)] == [
        f"Ecco: La porta {number} resta aperta." for number in range(6)
    ]
    assert translator.notes == ()


def test_the_order_of_replies_does_not_matter(program: Program, doors: list[Case], translate: Translate) -> None:
    translator = program(
        """
        waiting = []
        for r in requests():
            waiting.append(r)
            if len(waiting) == 6:
                for r in reversed(waiting): say(r["id"], translation=upper(r["source"]))
                waiting = []
        """
    )
    for _ in range(2):
        assert translate(translator, doors)[3].text == "Ecco: La porta 3 resta aperta."


def test_the_program_is_told_languages_and_case(program: Program, make_case: MakeCase, translate: Translate) -> None:
    translator = program(
        'for r in requests(): say(r["id"], translation=" ".join(sorted(r)) + r["case_id"] + r["target_lang"])'
    )
    (found,) = translate(translator, [make_case("Doors.", "es", "9")])
    assert found.raw == "case_id id source source_lang target_langmgente/en-es/9es"


def test_one_process_serves_the_whole_run(program: Program, doors: list[Case], translate: Translate) -> None:
    translator = program('for r in requests(): say(r["id"], translation=f"Processo numero {os.getpid()} qui")')
    pids = {one.text for batch in (doors[:3], doors[3:]) for one in translate(translator, batch)}
    assert len(pids) == 1


def test_a_program_that_reads_everything_first(program: Program, doors: list[Case], translate: Translate) -> None:
    body = """
    for r in list(requests()): say(r["id"], translation=upper(r["source"]))
    """
    translator = program(body, mode="batch")
    for _ in range(2):
        assert translate(translator, doors)[5].text == "Ecco: La porta 5 resta aperta."
    with pytest.raises(EngineFailure, match=r"no reply for 0\.5 s while 6 .*mode = 'batch'"):
        translate(program(body, timeout=0.5), doors)


def test_labels_and_errors(program: Program, doors: list[Case], translate: Translate) -> None:
    translator = program(
        """
        extras = [{"label": "NEUTRAL"}, {"label": "GENDERED"}, {"label": "neutral"}, {"label": None}]
        for n, r in enumerate(requests()):
            if n < 4: say(r["id"], translation=upper(r["source"]), **extras[n])
            elif n == 4: say(r["id"], error="no model for this language")
            else: say(r["id"], translation=None)
        """
    )
    found = translate(translator, doors)
    assert [one.label for one in found[:2]] == [Form.NEUTRAL, Form.GENDERED]
    assert [one.reason for one in found] == [None, None, Reason.NO_FORM, None, Reason.TRANSPORT, Reason.MISSING]
    assert "no model for this language" in found[4].detail


def test_lines_that_answer_nothing_are_noted(program: Program, doors: list[Case], translate: Translate) -> None:
    translator = program(
        """
        print("loading ...", flush=True)
        print("[1, 2]", flush=True)
        print("[" * 100000, flush=True)
        sys.stdout.buffer.write(b"\\xff\\xfe\\n"); sys.stdout.flush()
        say("nobody", translation="x")
        say([1], translation="x")
        for r in requests():
            say(r["id"], translation=upper(r["source"]))
            say(r["id"], translation="Un'altra risposta")
        """
    )
    assert translate(translator, doors)[2].text == "Ecco: La porta 2 resta aperta."
    assert translate(translator, doors)[2].text == "Ecco: La porta 2 resta aperta."
    assert sorted(note.split(" (")[0] for note in translator.notes) == [
        "a line of output was no JSON object with an id",
        "a reply to an unknown id was ignored",
        "a second or late reply to a request was ignored",
    ]


def test_numeric_ids_are_understood(program: Program, doors: list[Case], translate: Translate) -> None:
    translator = program('for r in requests(): say(int(r["id"]), translation=upper(r["source"]))')
    assert translate(translator, doors)[1].reason is None


def test_a_crash_is_one_error_with_the_end_of_standard_error(program: Program, doors: list[Case]) -> None:
    translator = program(
        """
        for n, r in enumerate(requests()):
            if n == 2:
                for i in range(100): print("line", i, file=sys.stderr)
                raise SystemExit("out of memory on device 0")
            say(r["id"], translation=upper(r["source"]))
        """
    )
    answers = []
    with pytest.raises(
        EngineFailure, match=r"exit status 1; .*line 99 \| out of memory on device 0; 4 request"
    ) as raised:
        answers += translator.run([translator.work(case) for case in doors])
    assert "line 50" not in str(raised.value)


def test_what_was_answered_before_a_crash_is_kept(program: Program, doors: list[Case]) -> None:
    translator = program(
        """
        for n, r in enumerate(requests()):
            if n == 2: os.kill(os.getpid(), 9)
            say(r["id"], translation=upper(r["source"]))
        """
    )
    kept = []
    with pytest.raises(EngineFailure, match="signal 9"):
        for pair in translator.run([translator.work(case) for case in doors]):
            kept.append(pair)
    assert [index for index, _ in kept] == [0, 1]


def test_an_end_without_error_is_an_error_while_requests_are_open(program: Program, doors: list[Case]) -> None:
    translator = program("pass")
    with pytest.raises(EngineFailure, match="exit status 0 and said nothing on standard error; 6 request"):
        list(translator.run([translator.work(case) for case in doors]))


def test_a_program_that_closes_its_output_and_stays(program: Program, doors: list[Case]) -> None:
    translator = program("os.close(1); time.sleep(60)")
    started = time.monotonic()
    with pytest.raises(EngineFailure, match="closed its output and runs on"):
        list(translator.run([translator.work(case) for case in doors]))
    translator.close()
    assert time.monotonic() - started < 15


def test_a_request_that_is_passed_over_is_one_error(program: Program, doors: list[Case], translate: Translate) -> None:
    translator = program(
        """
        for n, r in enumerate(requests()):
            if n != 2: say(r["id"], translation=upper(r["source"]))
        """,
        timeout=0.5,
    )
    found = translate(translator, doors)
    assert [one.reason for one in found] == [None, None, Reason.TRANSPORT, None, None, None]
    assert "0.5 s" in found[2].detail
    # A late reply to it changes nothing later on.
    assert translate(translator, doors)[2].reason is None


def test_a_silent_program_is_one_error(program: Program, doors: list[Case]) -> None:
    translator = program("time.sleep(60)", timeout=0.4)
    started = time.monotonic()
    with pytest.raises(EngineFailure, match="gave no reply"):
        list(translator.run([translator.work(case) for case in doors]))
    assert time.monotonic() - started < 10


def test_big_batches_do_not_block(program: Program, make_case: MakeCase, translate: Translate) -> None:
    # Requests, replies and standard error each exceed what a pipe holds, and nobody reads in turns.
    translator = program(
        """
        for r in requests():
            print("x" * 5000, file=sys.stderr, flush=True)
            say(r["id"], translation=upper(r["source"]) + " " + "Segue altro testo qui. " * 50)
        """,
        timeout=30,
    )
    cases = [make_case("Door stays open. " + "More text follows here. " * 100, "it", str(n)) for n in range(300)]
    assert all(len(one.raw) > 1000 for one in translate(translator, cases))


def test_a_program_that_never_reads_does_not_block_the_end(program: Program, make_case: MakeCase) -> None:
    translator = program("time.sleep(60)", timeout=0.3)
    cases = [make_case("x" * 20_000, "it", str(n)) for n in range(50)]
    with pytest.raises(EngineFailure):
        list(translator.run([translator.work(case) for case in cases]))
    started = time.monotonic()
    translator.close()
    assert time.monotonic() - started < 10


def test_closing_ends_the_programs_children_too(program: Program, doors: list[Case], translate: Translate) -> None:
    translator = program(
        """
        import subprocess
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
        for r in requests(): say(r["id"], translation=f"Figlio numero {child.pid} della porta")
        """
    )
    pid = int(translate(translator, doors[:1])[0].raw.split()[2])
    os.kill(pid, 0)
    translator.close()
    for _ in range(50):
        if not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    raise AssertionError("the child of the program is still running")


def test_variables_reach_the_program_and_are_not_stored(
    program: Program, doors: list[Case], translate: Translate
) -> None:
    body = 'for r in requests(): say(r["id"], translation=os.environ["MT_TOKEN"] + " porta")'
    translator = program(body, env={"MT_TOKEN": "tok-not-real"})
    assert translate(translator, doors[:1])[0].raw == "tok-not-real porta"
    work = translator.work(doors[0])
    assert "tok-not-real" not in str(work.context.data) + str(work.input) + repr(translator)


def test_secrets_on_the_command_line_are_not_stored() -> None:
    translator = CommandTranslator(
        ["mt", "--api-key=k1", "--token", "k2", "--url=http://u:k3@host/x", "--lang", "it", "--verbose"]
    )
    assert translator.context()["argv"] == [
        "mt", "--api-key=***", "--token", "***", "--url=http://***@host/x", "--lang", "it", "--verbose",
    ]  # fmt: skip


def test_keys_follow_script_version_and_case(tmp_path: Path, make_case: MakeCase) -> None:
    script = tmp_path / "mt.py"
    script.write_text("one")
    case = make_case("Doors.", "it")
    keys = [CommandTranslator([sys.executable, "mt.py"], cwd=tmp_path).work(case).key]
    keys.append(CommandTranslator([sys.executable, "mt.py"], cwd=tmp_path, version="2").work(case).key)
    keys.append(CommandTranslator([sys.executable, "mt.py"], cwd=tmp_path).work(make_case("Doors.", "it", "2")).key)
    script.write_text("two")
    keys.append(CommandTranslator([sys.executable, "mt.py"], cwd=tmp_path).work(case).key)
    assert len(set(keys)) == 4


def test_nothing_goes_through_a_shell(tmp_path: Path, doors: list[Case]) -> None:
    translator = CommandTranslator([f"touch {tmp_path}/made; true"])
    with pytest.raises(EngineFailure, match="cannot start"):
        list(translator.run([translator.work(doors[0])]))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(("argv", "timeout"), [([], 1.0), ([""], 1.0), (["x"], 0.0)])
def test_wrong_settings(argv: list[str], timeout: float) -> None:
    with pytest.raises(GntError):
        CommandTranslator(argv, timeout=timeout)
