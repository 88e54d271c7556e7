"""The provider against a program that poses as the worker: what is asked, what is read, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from pytest_gnt.errors import EngineFailure
from pytest_gnt.evidence import Quality, Reason, Translation
from pytest_gnt.metrics.bleu import OverlapProvider
from pytest_gnt.metrics.comet import CometProvider
from pytest_gnt.pipeline.executor import Executor
from pytest_gnt.pipeline.stages import score
from pytest_gnt.pipeline.store import Store
from tests.comet.conftest import FakeWorker, translation


def compute(store: Path, provider: CometProvider, subjects: list[Translation]) -> list[Quality]:
    opened = Store(store, run=uuid4().hex)
    try:
        return Executor(opened).compute(provider, subjects)
    finally:
        opened.close()


def asked(folder: Path) -> list[dict[str, str]]:
    path = folder / "asked.jsonl"
    return [sample for line in path.read_text().splitlines() for sample in json.loads(line)] if path.exists() else []


def test_points_of_100_under_the_kinds_name(tmp_path: Path, fake_worker: FakeWorker) -> None:
    provider = CometProvider("mine", fake_worker(), "xcomet")
    [quality] = compute(tmp_path / "s", provider, [translation("a", "x" * 73, "r")])
    assert quality.scores == {"xcomet": 73.0}
    assert provider.label.startswith("mine@")
    assert provider.label.endswith(".comet2.2.7")


def test_best_and_mean_of_several_references(tmp_path: Path, fake_worker: FakeWorker) -> None:
    body = "def score(sample):\n    return {'r1': 0.2, 'r2': 0.9, 'r3': 0.4}[sample['ref']]"
    provider = CometProvider("m", fake_worker(body), "comet")
    many = translation("a", "b", "r1", "r2", " ", "r3")
    turned = translation("a", "b", "r3", "r1", "r2")
    one = translation("a", "b", "r1")
    found = compute(tmp_path / "s", provider, [many, turned, one])
    assert found[0].scores == found[1].scores == {"comet": 90.0, "comet_mean": 50.0}
    assert found[2].scores == {"comet": 20.0}
    assert len(asked(tmp_path)) == 3  # a sample is scored once, whatever it is part of


def test_a_repeated_reference_weighs_in_the_mean(tmp_path: Path, fake_worker: FakeWorker) -> None:
    body = "def score(sample):\n    return {'r1': 0.2, 'r2': 0.8}[sample['ref']]"
    provider = CometProvider("m", fake_worker(body), "comet")
    [quality] = compute(tmp_path / "s", provider, [translation("a", "b", "r1", "r1", "r2")])
    assert quality.scores == {"comet": 80.0, "comet_mean": 40.0}


def test_each_sample_once_over_variants_and_runs(tmp_path: Path, fake_worker: FakeWorker) -> None:
    subjects = [translation("same", f"t{number % 5}", "ref", name=f"n{number}") for number in range(40)]
    compute(tmp_path / "s", CometProvider("m", fake_worker(), "comet"), subjects)
    compute(tmp_path / "s", CometProvider("m", fake_worker(), "comet"), subjects)
    assert len(asked(tmp_path)) == 5


def test_kiwi_is_not_told_the_reference(tmp_path: Path, fake_worker: FakeWorker) -> None:
    provider = CometProvider("m", fake_worker(), "cometkiwi")
    found = compute(tmp_path / "s", provider, [translation("a", "bb", "r1", "r2"), translation("a", "bb")])
    assert [one.scores for one in found] == [{"cometkiwi": 2.0}] * 2
    assert asked(tmp_path) == [{"src": "a", "mt": "bb"}]


@pytest.mark.parametrize("text", ["", " ", "\x0c", "\u3000\n"])
def test_an_empty_translation_is_unscored_not_dropped(tmp_path: Path, fake_worker: FakeWorker, text: str) -> None:
    provider = CometProvider("m", fake_worker(), "comet")
    found = compute(tmp_path / "s", provider, [translation("a", text, "r"), translation("a", "bb", "r")])
    assert [one.reason for one in found] == [Reason.EMPTY, None]
    assert asked(tmp_path) == [{"src": "a", "mt": "bb", "ref": "r"}]


def test_a_case_without_reference_is_scored_by_what_needs_none(tmp_path: Path, fake_worker: FakeWorker) -> None:
    model = fake_worker()
    providers = [OverlapProvider(), CometProvider("c", model, "comet"), CometProvider("k", model, "cometkiwi")]
    failed = Translation(case=translation("a", "b", "r", name="failed").case, reason=Reason.TRUNCATED)
    subjects = [translation("a", "bb", "bb"), translation("a", "ccc", " "), failed]
    found = score(Executor(Store(tmp_path / "s")), providers, subjects)
    assert set(found[0].scores) == {"bleu", "chrf", "comet", "cometkiwi"}
    assert (found[1].scores, found[1].reason) == ({"cometkiwi": 3.0}, None)
    assert (found[2].scores, found[2].reason) == ({}, Reason.TRUNCATED)
    [alone] = score(Executor(Store(tmp_path / "s")), providers[:2], subjects[1:2])
    assert (alone.scores, alone.reason) == ({}, Reason.NO_REFERENCE)


def test_no_finite_number_is_unscored_and_tried_again(tmp_path: Path, fake_worker: FakeWorker) -> None:
    subjects = [translation("a", "bad", "r"), translation("a", "fine", "r")]
    broken = fake_worker("def score(sample):\n    return None if sample['mt'] == 'bad' else 0.5")
    found = compute(tmp_path / "s", CometProvider("m", broken, "comet"), subjects)
    assert [(one.scores, one.reason) for one in found] == [({}, Reason.NOT_FINITE), ({"comet": 50.0}, None)]
    again = compute(tmp_path / "s", CometProvider("m", fake_worker(), "comet"), subjects)
    assert [one.scores for one in again] == [{"comet": 3.0}, {"comet": 50.0}]


def test_what_was_cut_is_told(tmp_path: Path, fake_worker: FakeWorker) -> None:
    body = "def answer(samples):\n    say(gnt='score', place=0, score=0.5, cut=['mt', 'together'])"
    provider = CometProvider("m", fake_worker(body), "comet")
    [quality] = compute(tmp_path / "s", provider, [translation("a", "b", "r")])
    assert quality.scores == {"comet": 50.0}
    assert quality.detail == "comet: cut to the encoder's 512 tokens: the parts together, translation"


def test_a_sample_that_cannot_be_scored_stays_one(tmp_path: Path, fake_worker: FakeWorker) -> None:
    body = """
def answer(samples):
    for place, sample in enumerate(samples):
        if sample["mt"] == "bad":
            say(gnt="score", place=place, error="TypeError: no")
        else:
            say(gnt="score", place=place, score=0.5, cut=[])
"""
    provider = CometProvider("m", fake_worker(body), "comet")
    subjects = [translation("a", text, "r") for text in ("x", "bad", "y")]
    found = compute(tmp_path / "s", provider, subjects)
    assert [one.reason for one in found] == [None, Reason.UNDECIDED, None]
    assert found[1].detail == "comet: not scored: TypeError: no"


def test_a_banner_before_the_protocol_is_put_up_with(tmp_path: Path, fake_worker: FakeWorker) -> None:
    body = 'print("Activating environment\\n[]\\n{}\\n12\\n{\\"gnt\\": 3}", flush=True)'
    [quality] = compute(tmp_path / "s", CometProvider("m", fake_worker(body), "comet"), [translation("a", "b", "r")])
    assert quality.scores == {"comet": 1.0}


REPLIES = {
    "unknown place": "say(gnt='score', place=7, score=0.1, cut=[])",
    "twice": "[say(gnt='score', place=0, score=0.1, cut=[]) for _ in range(2)]",
    "no place": "say(gnt='score', score=0.1)",
    "true as place": "say(gnt='score', place='0', score=0.1)",
    "text for a score": "say(gnt='score', place=0, score='0.1', cut=[])",
    "bare NaN": "say(gnt='score', place=0, score=float('nan'), cut=[])",
    "bare infinity": "say(gnt='score', place=0, score=float('-inf'), cut=[])",
    "cut is text": "say(gnt='score', place=0, score=0.1, cut='mt')",
    "another message": "say(gnt='ready', window=512)",
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_a_broken_protocol_ends_the_run(tmp_path: Path, fake_worker: FakeWorker, reply: str) -> None:
    provider = CometProvider("m", fake_worker(f"def answer(samples):\n    {reply}"), "comet", timeout=20)
    with pytest.raises(EngineFailure, match="broke its protocol"):
        compute(tmp_path / "s", provider, [translation("a", "b", "r"), translation("a", "c", "r")])


def test_a_program_that_only_chatters_is_not_waited_for(tmp_path: Path, fake_worker: FakeWorker) -> None:
    provider = CometProvider("m", fake_worker("while True:\n    print('usage: python', flush=True)"), "comet")
    with pytest.raises(EngineFailure, match="prints what is not its protocol, last b'usage: python'"):
        compute(tmp_path / "s", provider, [translation("a", "b", "r")])


def test_a_worker_that_hangs_is_given_up(tmp_path: Path, fake_worker: FakeWorker) -> None:
    provider = CometProvider("m", fake_worker("def answer(samples):\n    time.sleep(600)"), "comet", timeout=1)
    with pytest.raises(EngineFailure, match=r"has not answered for 1 s \(1 of 1 open\)"):
        compute(tmp_path / "s", provider, [translation("a", "b", "r")])


@pytest.mark.parametrize("when", ["def ready():", "def answer(samples):"])
def test_a_worker_that_dies_says_why(tmp_path: Path, fake_worker: FakeWorker, when: str) -> None:
    body = f"{when}\n    print('CUDA is out of memory', file=sys.stderr); sys.exit(3)"
    with pytest.raises(EngineFailure, match=r"exit status 3; standard error: CUDA is out of memory"):
        compute(tmp_path / "s", CometProvider("m", fake_worker(body), "comet"), [translation("a", "b", "r")])


def test_what_was_scored_before_it_died_is_kept(tmp_path: Path, fake_worker: FakeWorker) -> None:
    subjects = [translation("a", f"t{number}", "r") for number in range(10)]
    body = """
def answer(samples):
    for place in range(6):
        say(gnt="score", place=place, score=0.5, cut=[])
    os.kill(os.getpid(), 9)
"""
    with pytest.raises(EngineFailure, match=r"ended by signal 9.*4 of 10 open"):
        compute(tmp_path / "s", CometProvider("m", fake_worker(body), "comet"), subjects)
    (tmp_path / "asked.jsonl").unlink()
    compute(tmp_path / "s", CometProvider("m", fake_worker(), "comet"), subjects)
    assert len(asked(tmp_path)) == 4


def test_much_text_both_ways_does_not_lock_up(tmp_path: Path, fake_worker: FakeWorker) -> None:
    """More than a pipe holds is on its way in both directions, and on standard error."""
    body = """
def answer(samples):
    for place, sample in enumerate(samples):
        sys.stderr.write("x" * 5000 + "\\n")
        say(gnt="score", place=place, score=score(sample), cut=["mt"] * 20)
"""
    subjects = [translation("s" * 3000, f"{number}", "r" * 3000) for number in range(500)]
    found = compute(tmp_path / "s", CometProvider("m", fake_worker(body), "comet", timeout=60), subjects)
    assert [one.scores["comet"] for one in found] == [float(len(one.translation.text or "")) for one in found]
