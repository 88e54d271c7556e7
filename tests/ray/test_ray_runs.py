"""Runs on a cluster of two nodes: the same results as without one, whatever becomes of its nodes and actors."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from tests.ray.conftest import Project, TwoNodes, alive, finished, parent_of, repeated_cases, wait_until

AT_ONCE = 2  # batches that an actor has
BATCH = 3

PLUGIN = '''
"""A judge that loads something, once in each actor."""
import os
from pytest_gnt.errors import GntError
from pytest_gnt.evidence import JudgedLabel, Judgement
from pytest_gnt.work import Answer, Context, Work

class Judge:
    stage = "judge"
    batch_size = 64
    movable = True
    context = Context({"stage": "judge", "model": "plugin"})
    loaded = None

    def work(self, translation):
        return Work(self.context, {"text": translation.text})

    def run(self, works):
        if self.loaded is None:
            self.loaded = os.getpid()
            with open("loaded.txt", "a") as log:  # in the project's folder
                log.write(f"{self.loaded}\\n")
        for index, work in enumerate(works):
            if "unjudgeable" in work.input["text"]:
                raise GntError("the judge has lost its wig. Buy another.")
            yield index, Answer({"label": "NEUTRAL"})

    def read(self, translation, answer):
        return Judgement(case=translation.case, translation=translation, label=JudgedLabel(answer["label"]))

    def close(self):
        pass

def pytest_gnt_judge(config, name, settings):
    return Judge() if settings["kind"] == "wig" else None
'''


def test_two_nodes_give_what_one_process_gives(project: Project, cluster: TwoNodes) -> None:
    project.sentences(60, n7="Please refuse this one.", n9="Some chatter.")
    status, output = project.run()
    assert status == 1, output  # one case has no translation
    asked = project.asked()
    assert not repeated_cases(asked)
    assert len(asked) == 60
    assert len({parent for parent, _ in asked}) == 2  # both nodes worked
    assert project.stages()["translate"]["computed"] == 60
    assert "a line of output was no JSON object with an id" in output

    status, output = project.run("--gnt-executor=local", "--gnt-store=local.sqlite", "--gnt-report=local")
    assert status == 1, output
    assert project.cases() == project.cases("local")


def test_a_resumed_run_computes_nothing_and_needs_no_cluster(project: Project) -> None:
    assert project.run()[0] == 0
    first = project.cases()
    project.forget()
    project.configure(address="127.0.0.1:9")
    status, output = project.run()
    assert status == 0, output
    assert project.asked() == []
    assert project.cases() == first


def test_a_killed_node_costs_no_answer_and_only_its_own_work_is_done_again(project: Project, cluster: TwoNodes) -> None:
    project.sentences(100)
    run = project.start()
    raylet = cluster.raylet
    lost: set[int] = set()

    def works_on_both() -> bool:
        parents = {parent for parent, _ in project.asked()}
        lost.update(parent for parent in parents if parent_of(parent) == raylet)
        return bool(lost) and len(parents) > 1

    wait_until(works_on_both, "for both nodes to work", run)
    cluster.kill_node()
    status, output = finished(run)
    assert status == 0, output
    assert "a Ray actor on" in output
    assert "was lost" in output

    asked = project.asked()
    assert {case for _, case in asked} == {f"house/en-it/{number}" for number in range(100)}
    again = repeated_cases(asked)
    assert again <= {case for parent, case in asked if parent in lost}
    assert len(again) <= AT_ONCE * BATCH
    assert max(Counter(case for parent, case in asked if parent not in lost).values()) == 1
    assert project.stored() == 100
    assert project.stages()["translate"]["computed"] == 100

    status, output = project.run("--gnt-executor=local", "--gnt-store=local.sqlite", "--gnt-report=local")
    assert status == 0, output
    assert project.cases() == project.cases("local")


def test_a_program_that_ends_is_the_same_single_error_as_without_ray(project: Project) -> None:
    project.sentences(24, n20="A crash.")
    status, output = project.run()
    assert status == pytest.ExitCode.USAGE_ERROR, output
    errors = [line for line in output.splitlines() if "ended with exit status 3" in line]
    assert len(errors) == 1, output
    assert "Traceback" not in output
    kept = project.stored()
    assert kept >= BATCH

    project.sentences(24)
    project.forget()
    assert project.run()[0] == 0
    assert len(project.asked()) == 24 - kept


def test_a_request_that_kills_every_actor_is_one_error_that_says_so(project: Project) -> None:
    project.configure("batch_size = 3\nretries = 2")
    project.sentences(24, n20="A murder.")
    status, output = project.run()
    assert status == pytest.ExitCode.USAGE_ERROR, output
    assert "stage translate: 3 Ray actors were lost while they worked on the same 3 requests" in output
    assert "Traceback" not in output
    assert [case for _, case in project.asked()].count("house/en-it/20") == 3
    assert 3 <= project.stored() <= 21


def test_stages_follow_one_another_on_the_same_cpus_and_errors_of_plugins_arrive(project: Project) -> None:
    project.write("wig.py", PLUGIN)
    project.configure(models='[judges.wig]\nkind = "wig"')
    status, output = project.run("-p", "wig", "--gnt-judge=wig")
    assert status == 0, output
    assert project.stages()["judge"]["computed"] == 24
    loaded = (project.path / "loaded.txt").read_text().split()
    assert len(loaded) == len(set(loaded)) <= 2  # once an actor, not once a batch

    project.sentences(24, n5="An unjudgeable sentence.")
    status, output = project.run("-p", "wig", "--gnt-judge=wig")
    assert status == pytest.ExitCode.USAGE_ERROR, output
    assert output.count("the judge has lost its wig. Buy another.") == 1


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_work_and_keeps_what_was_committed(project: Project, sign: signal.Signals) -> None:
    project.sentences(200)
    run = project.start()
    wait_until(lambda: project.stored() >= 6, "for commits", run)
    os.kill(run.pid, sign)
    status, output = finished(run)
    assert status == pytest.ExitCode.INTERRUPTED, output
    kept = project.stored()
    assert 6 <= kept < 200
    actors = {parent for parent, _ in project.asked()}
    wait_until(lambda: not any(alive(actor) for actor in actors), "for the actors to end")

    project.sentences(kept + 10)
    project.forget()
    status, output = project.run()
    assert status == 0, output
    assert project.stages()["translate"]["computed"] + project.stages()["translate"]["stored"] == kept + 10
    assert len(project.asked()) == project.stages()["translate"]["computed"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:9", "no Ray cluster answers at 127.0.0.1:9"),
        ("127.0.0.1", "must be HOST:PORT, ray://HOST:PORT, auto or local"),
    ],
)
def test_a_cluster_that_is_not_there_is_one_error(project: Project, address: str, message: str) -> None:
    project.configure(address=address)
    status, output = project.run()
    assert status == pytest.ExitCode.USAGE_ERROR, output
    assert message in output
    assert project.asked() == []


def test_what_no_node_has_is_said_at_once_and_given_up_in_the_end(project: Project) -> None:
    project.configure("start_timeout = 2\nresources = {quantum = 1}")
    status, output = project.run()
    assert status == pytest.ExitCode.USAGE_ERROR, output
    assert "no node of the Ray cluster has 1 CPU, 1 quantum" in output
    assert "no Ray actor for the stage translate has started in 2 s" in output


def test_an_actor_has_the_gpus_that_its_stage_asks_for_and_no_others(project: Project) -> None:
    assert project.run()[0] == 0
    gpus = project.path / "gpus.txt"
    assert gpus.read_text().split() == []
    gpus.unlink()

    project.configure("batch_size = 3\n[ray.stages.translate]\nnum_gpus = 1")
    status, output = project.run("--gnt-store=other.sqlite")
    assert status == 0, output
    assert 1 <= len(gpus.read_text().split()) <= 2
    assert set(gpus.read_text().split()) == {"0"}  # each node has one


def test_each_stage_has_its_own_place(project: Project) -> None:
    project.configure("batch_size = 3\nresources = {quantum = 1}\n[ray.stages.translate]\nworkers = 1\nresources = {}")
    status, output = project.run()
    assert status == 0, output
    assert len({parent for parent, _ in project.asked()}) == 1
