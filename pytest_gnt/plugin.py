"""The pytest hooks, and nothing else: each hands over to `pytest_gnt.runner`.

Loaded in every pytest run of an environment that has pytest-gnt, so it imports the standard library and pytest alone,
and does nothing until a run has cases of ours or an option of ours.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_gnt.runner.options import add_options, given
from pytest_gnt.suite import selection_of

if TYPE_CHECKING:
    from pytest_gnt.runner.control import Control
    from pytest_gnt.runner.session import GntSession
    from pytest_gnt.runner.worker_progress import Watch

SESSION = pytest.StashKey["GntSession"]()
CONTROL = pytest.StashKey["Control"]()
PLACE = "gnt_place"  # key in an xdist worker's input


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_gnt import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        from pytest_gnt.engines.gpu_share import take_share

        take_share(os.environ, config.workerinput.get(PLACE))  # before anything touches a GPU
    config.addinivalue_line("markers", "gnt: a test on one case of a translation corpus (pytest-gnt)")
    if given(config):
        _session(config).check_settings()
    config.pluginmanager.register(_Record(config), "gnt-record")


def pytest_report_header(config: pytest.Config) -> list[str] | None:
    return _session(config).header() if given(config) else None


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> Any:
    selection = selection_of(obj)
    if selection is None:
        return None
    from pytest_gnt.runner.items import make_items

    return make_items(collector, name, obj, selection, _session(collector.config))  # type: ignore[arg-type]


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    if not _in_use(config):
        return None
    from pytest_gnt.runner.worker_count import workers_for_gpus

    return workers_for_gpus(_session(config))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Model work of an xdist worker, before tests are given to it: one that dies here takes no test with it."""
    config = session.config
    if SESSION in config.stash and hasattr(config, "workerinput") and not config.option.collectonly:
        from pytest_gnt.pipeline.interrupts import ended_like_ctrl_c

        with ended_like_ctrl_c():
            _control(config).prepare(session)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> object:
    """Model work before the first test; a true answer keeps the tests of an xdist worker from running."""
    config = session.config
    if SESSION not in config.stash or config.option.collectonly or _controls_workers(config):
        return None
    if hasattr(config, "workerinput"):
        return _control(config).failure is not None or None
    return _control(config).prepare(session) or None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call" and SESSION in item.config.stash:
        from pytest_gnt.runner.items import CaseItem, attach

        if isinstance(item, CaseItem):
            attach(item, report)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> Any:
    result = getattr(report, "gnt", None)
    if result is None or report.when != "call":
        return None
    if result["outcome"] == "unscored":
        return "unscored", "u", ("UNSCORED", {"yellow": True})
    if hasattr(report, "wasxfail"):
        return _ACCEPTED.get(result["change"], ("failing", "f", ("STILL FAILING", {"yellow": True})))
    if result["change"] == "fixed":
        return "fixed", ".", ("FIXED", {"cyan": True})
    return None


_ACCEPTED = {
    "regressed": ("regressed", "R", ("REGRESSED", {"purple": True})),
    "new": ("new failing", "n", ("NEW, FAILING", {"yellow": True})),
}
"""How a failure is shown that leaves the run's status to the gates, by what became of the case."""


class _Record:
    """The hooks that keep the record of a run. In an xdist worker they only pass on what the worker knows."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.places: dict[Any, int] = {}
        self.collected = 0
        self.watch: Watch | None = None

    def pytest_collection_finish(self) -> None:
        if SESSION in self.config.stash and self.config.option.collectonly:
            from pytest_gnt.garbage import settle

            settle()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and hasattr(report, "gnt") and not hasattr(self.config, "workerinput"):
            _control(self.config).record(report)
        elif (
            str(report.when) == "???" and CONTROL in self.config.stash
        ):  # xdist's report on a test that killed its worker
            self.config.stash[CONTROL].crashed += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A worker takes the first place that is free, so that it has the GPUs of the one that it replaces."""
        place = next(place for place in range(len(self.places) + 1) if place not in self.places.values())
        self.places[node] = node.workerinput[PLACE] = place
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if self.watch is None and terminal is not None and _in_use(self.config):
            from pytest_gnt.runner.worker_progress import Watch

            self.watch = Watch(terminal)
        if self.watch is not None:
            node.workerinput[self.watch.KEY] = self.watch.folder

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self) -> None:
        if self.watch is not None:
            self.watch.start()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        self.collected += 1
        if self.watch is not None and self.collected >= len(self.config.option.tx):
            self.watch.stop()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.places.pop(node, None)
        output = getattr(node, "workeroutput", None)
        if output and "gnt" in output:
            _control(self.config).receive(output)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        if SESSION in self.config.stash:
            from pytest_gnt.garbage import seldom
            from pytest_gnt.pipeline.interrupts import ended_like_ctrl_c

            _control(self.config)  # its clock starts here
            with ended_like_ctrl_c(), seldom():
                done = yield
        else:
            done = yield
        if CONTROL in self.config.stash and not hasattr(self.config, "workerinput"):
            self.config.stash[CONTROL].conclude(session)
        return done

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.watch is not None:
            self.watch.stop(interrupted=session.exitstatus == pytest.ExitCode.INTERRUPTED)
        if CONTROL not in self.config.stash:
            return
        if not self.config.option.collectonly:
            from pytest_gnt.garbage import begin

            begin()  # what others do from here on may ask the collector about objects
        if hasattr(self.config, "workerinput"):
            self.config.stash[CONTROL].send(self.config.workeroutput)  # type: ignore[attr-defined]
        else:
            self.config.stash[CONTROL].finish(session)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if CONTROL in self.config.stash:
            self.config.stash[CONTROL].print(terminalreporter)

    def pytest_unconfigure(self) -> None:
        if self.watch is not None:
            self.watch.close()
        if CONTROL in self.config.stash:
            self.config.stash[CONTROL].close()


def _controls_workers(config: pytest.Config) -> bool:
    """Whether xdist runs the tests in other processes."""
    return (
        bool(getattr(config.option, "tx", None)) and config.option.dist != "no" and not hasattr(config, "workerinput")
    )


def _in_use(config: pytest.Config) -> bool:
    """Whether the run is likely to have cases of ours; loads nothing."""
    return bool(given(config)) or (config.rootpath / "gnt.toml").is_file()


def _session(config: pytest.Config) -> GntSession:
    if SESSION not in config.stash:
        from pytest_gnt.runner.session import GntSession

        config.stash[SESSION] = GntSession(config)
    return config.stash[SESSION]


def _control(config: pytest.Config) -> Control:
    if CONTROL not in config.stash:
        from pytest_gnt.runner.control import Control

        config.stash[CONTROL] = Control(_session(config))
    return config.stash[CONTROL]
