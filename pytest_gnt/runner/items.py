"""One test a case: a light pytest item made from a suite's function. It does no model work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_gnt.garbage import paused
from pytest_gnt.suite import Selection

if TYPE_CHECKING:
    from pytest_gnt.case import Case
    from pytest_gnt.pipeline.stages import Book
    from pytest_gnt.runner.session import GntSession


class CaseItem(pytest.Item):
    """A function of a suite applied to one case.

    After `runtest` the attribute ``result`` holds what the report carries to the controlling process: plain builtins.
    """

    def __init__(
        self,
        *,
        function: Callable[..., None],
        selection: Selection,
        case: Case,
        gnt: GntSession,
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
        self.function = function
        self.selection = selection
        self.case = case
        self.gnt = gnt
        self.result: dict[str, Any] | None = None

    @property
    def test_name(self) -> str:
        return self.function.__name__

    def runtest(self) -> None:
        # Imported here: collecting must not load what only a run needs; later it is a dictionary look-up.
        from pytest_gnt.verdicts.assertions import Unscored

        book = self.gnt.books()[0]
        try:
            self.decide(book)
        except Unscored as undecided:
            self.result = {"outcome": "unscored", "reason": str(undecided.reason), "message": undecided.detail}
            raise pytest.skip.Exception(str(undecided), _use_item_location=True) from None
        except AssertionError as failure:
            self.result = {"outcome": "failed", "reason": None, "message": str(failure)}
            raise
        self.result = {"outcome": "passed", "reason": None, "message": ""}

    def decide(self, book: Book) -> None:
        """Call the suite's function with the evidence of one run."""
        arguments: dict[str, Any] = {name: book.get(self.case, name) for name in self.selection.evidence}
        if self.selection.wants_case:
            arguments["case"] = self.case
        if self.selection.wants_pair:
            arguments["pair"] = self.gnt.pair(self.case, book)
        self.function(**arguments)

    def evidence(self, book: Book) -> dict[str, dict[str, Any]]:
        """What the test rested on, as plain builtins: its own evidence and the translation behind it."""
        from pytest_gnt.verdicts.results import evidence_fields

        wanted = {"translation", *self.selection.evidence}
        return {kind: evidence_fields(found) for kind, found in book.find(self.case).items() if kind in wanted}

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message alone for a failed assertion on evidence: source and phrases say more than a traceback."""
        from pytest_gnt.verdicts.assertions import EvidenceAssertionError

        if isinstance(excinfo.value, EvidenceAssertionError):
            return str(excinfo.value)
        # The suite's own frames tell something; showing those of pytest above them takes a quarter of a second.
        code = self.function.__code__
        excinfo.traceback = excinfo.traceback.cut(path=code.co_filename, firstlineno=code.co_firstlineno - 1)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.function.__code__.co_firstlineno - 1, self.name


def make_items(
    module: pytest.Module, name: str, function: Callable[..., None], selection: Selection, gnt: GntSession
) -> list[CaseItem]:
    """The items of one suite function, in the corpus' order."""
    marks = [*getattr(function, "pytestmark", []), _MARK]
    nodeid, items = module.nodeid, []
    with paused():
        for case in gnt.select(selection):
            test = f"{name}[{case.local_id}]"
            item: CaseItem = CaseItem.from_parent(
                module,
                name=test,
                # Given as text, pytest takes the brackets for parameters, as it does with ids from its cache (--lf).
                nodeid=f"{nodeid}::{test}",
                function=function,
                selection=selection,
                case=case,
                gnt=gnt,
            )
            item.extra_keyword_matches.update(_keywords(case))
            item.own_markers.extend(marks)
            items.append(item)
    gnt.made += len(items)
    return items


def _repeat(item: CaseItem, book: Book) -> dict[str, Any]:
    """Outcome and evidence of the same test in another run of the system."""
    from pytest_gnt.verdicts.assertions import Unscored

    outcome: dict[str, Any] = {"outcome": "passed", "reason": None, "message": ""}
    try:
        item.decide(book)
    except Unscored as undecided:
        outcome = {"outcome": "unscored", "reason": str(undecided.reason), "message": undecided.detail}
    except Exception as failure:  # the suite's own faults were reported with the first run
        outcome = {"outcome": "failed", "reason": None, "message": str(failure)}
    return {**outcome, "evidence": item.evidence(book)}


_MARK = pytest.mark.gnt.mark


def _keywords(case: Case) -> tuple[str, ...]:
    """What ``-k`` matches beside the name: corpus, subset, language, gender and identity."""
    more = (case.gender, case.identity and case.identity.replace(" ", "-"))
    return (case.corpus, str(case.subset), case.target_lang, *(str(word) for word in more if word))


def attach(item: CaseItem, report: pytest.TestReport) -> None:
    """Put the result of one test on its report: plain builtins, which travel between processes.

    An error in the suite's own code is a failure with its traceback as message.
    """
    from pytest_gnt.runner.recorder import result_of

    outcome = item.result or {"outcome": "failed", "reason": None, "message": report.longreprtext}
    book, *repeats = item.gnt.books()
    change = item.gnt.gating.change(item.case, item.test_name, outcome)
    outcomes = [{**outcome, "evidence": item.evidence(book)}, *(_repeat(item, again) for again in repeats)]
    report.gnt = result_of(item.case, item.test_name, outcomes, change and str(change))  # type: ignore[attr-defined]
    if report.failed and item.gnt.gating.accepts(change):
        # pytest's own way to say that a failure does not fail the run; gates decide.
        report.outcome = "skipped"
        report.wasxfail = str(change or "stored")
    # pytest's JUnit writer takes properties from the teardown's report, which is made from the item.
    item.user_properties.append(("gnt_case", item.case.id))
    if outcome["reason"]:
        item.user_properties.append(("gnt_unscored", outcome["reason"]))
    if change:
        item.user_properties.append(("gnt_change", str(change)))
