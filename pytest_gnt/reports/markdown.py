"""`report.md`: the run in one screen of Markdown, for a CI job's summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_gnt.reports.html_baseline import Baseline, Before, before_of, changes_of
from pytest_gnt.reports.html_changed import changed_strata, totals
from pytest_gnt.reports.html_page import write_file
from pytest_gnt.reports.html_rates import identity_panels, set_panels
from pytest_gnt.reports.html_run import corrected_rows, judge_view, notes_of, usage_rows, when
from pytest_gnt.reports.html_text import number, percent, shown, spoken
from pytest_gnt.reports.html_verdict import gate_rows, time_text, verdict
from pytest_gnt.reports.table_formats import markdown_lines
from pytest_gnt.reports.table_sheets import sheets
from pytest_gnt.verdicts.changes import Change, ChangeKind
from pytest_gnt.verdicts.entry import Entry
from pytest_gnt.verdicts.results import CaseResult, read_results, read_summary

NAME = "report.md"
MOST_EXAMPLES = 20

_SPECIAL = re.compile(r"[&<>|`*_~\[\]#!\\$@]|:(?=//)")
_MARKS = {"pass": "✅", "fail": "❌", "unknown": "⚠️", "undecided": "⚠️"}


@dataclass(frozen=True, slots=True)
class Example:
    """A regressed test of one case, for the list that people read first."""

    id: str
    test: str
    source: str
    before: str
    after: str


@dataclass(slots=True)
class Reading:
    """What the summary needs of the cases themselves."""

    cases: int = 0
    before: Before | None = None
    examples: list[Example] = field(default_factory=list)

    def add(self, result: CaseResult, before: Entry | None, changes: Mapping[str, Change]) -> None:
        """Take the next case, with what the baseline has of it and what became of its tests."""
        self.cases += 1
        if self.before is None:
            return
        self.before.add(result, changes)
        for name, change in changes.items():
            if change.kind is ChangeKind.REGRESSED and before and len(self.examples) < MOST_EXAMPLES:
                text = (result.translation or {}).get("text") or ""
                self.examples.append(Example(result.id, name, result.source, before.text or "", text))


def write_markdown(folder: Path, baseline: Baseline | None = None) -> Path:
    """Write ``report.md`` into a report folder, from its ``cases.jsonl`` and ``report.json``.

    Args:
        folder: the report folder.
        baseline: as for `pytest_gnt.reports.html.write_html`.

    Raises:
        GntError: the folder is none of a run, a line cannot be read, or the file cannot be written.
        ValueError: a record of the baseline is of another layout.
    """
    summary = read_summary(folder)
    return write_summary(folder / NAME, summary, _read(read_results(folder), baseline))


def write_summary(path: Path, summary: Mapping[str, Any], reading: Reading) -> Path:
    """Write the summary of a finished reading.

    Raises:
        GntError: the file cannot be written.
    """
    return write_file(path, (line + "\n" for line in lines(summary, reading)))


def _read(results: Iterable[CaseResult], baseline: Baseline | None) -> Reading:
    reading = Reading(before=Before() if baseline is not None else None)
    for result in results:
        before = before_of(result, baseline)
        reading.add(result, before, changes_of(result, before) if reading.before is not None else {})
    return reading


def lines(summary: Mapping[str, Any], reading: Reading) -> Iterator[str]:
    """The lines of the file."""
    decided = verdict(summary, reading.cases)
    yield f"## {_MARKS[decided.tone]} {escaped(summary['model']['name'])}: {escaped(decided.answer)}"
    yield ""
    yield from (f"- {escaped(reason)}" for reason in decided.reasons)
    yield ""
    yield _counts_line(summary)
    yield from (f"\nNote: {escaped(note)}" for note in notes_of(summary))
    yield from _judge_lines(summary["judge"])
    yield from _gate_lines(summary["gates"])
    if reading.before is not None or summary["baseline"]:
        yield from _change_lines(summary, reading)
    yield from _rate_lines(summary["rates"], reading.before)
    yield from _corrected_lines(summary.get("corrected", ()))
    yield from _sheet_lines(summary.get("tables", ()))
    yield from _keyword_lines(summary.get("keywords", ()))
    yield from _run_lines(summary)


def _counts_line(summary: Mapping[str, Any]) -> str:
    counts = summary["counts"]
    parts = [f"{number(counts[name])} {name}" for name in ("passed", "failed", "unscored")]
    if counts.get("error"):
        parts.append(f"{number(counts['error'])} errors")
    return (
        f"**{number(counts['cases'])} cases, {number(counts['tests'])} tests** = {' + '.join(parts)}; "
        f"{time_text(summary)}, finished {escaped(when(summary['finished']))}"
    )


def _judge_lines(judge: Mapping[str, Any] | None) -> Iterator[str]:
    yield ""
    known = judge_view(judge)
    if known is None:
        yield "Judge: none, nothing was judged."
        return
    measured = "; ".join(
        f"{escaped(row['lang'])}: accuracy {row['accuracy']}, macro-F1 {row['macro_f1']} "
        f"on {row['n']} of {escaped(row['gold'])}"
        for row in known["quality"]
    )
    yield f"Judge: {escaped(known['name'])}; {measured or 'not calibrated: how often it is right is not known'}"
    yield from (f"\n{escaped(note)}" for note in known["notes"])


def _gate_lines(gates: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not gates:
        return
    every = gate_rows(gates)
    telling = [row for row in every if row["verdict"] not in ("pass", "not-applicable")]
    yield from ("", "### Gates", "")
    if telling:
        yield from _table(
            ("gate", "verdict", "now", "baseline", "change", "p", "n", "why"),
            (
                (
                    code(row["name"]),
                    "⚠️ warning" if row["warns"] else f"{_MARKS.get(row['verdict'], '')} {escaped(row['verdict'])}",
                    row["now"],
                    row["before"],
                    row["change"],
                    row["p"].replace("= ", ""),
                    "–" if row["n"] is None else number(row["n"]),
                    escaped(row["why"]),
                )
                for row in telling
            ),
            numbers=range(2, 7),
        )
    rest = {name: sum(row["verdict"] == name for row in every) for name in ("pass", "not-applicable")}
    yield from ("", f"{number(rest['pass'])} passed, {number(rest['not-applicable'])} do not apply.")


def _change_lines(summary: Mapping[str, Any], reading: Reading) -> Iterator[str]:
    yield from ("", "### What got worse, and for whom", "")
    about, before = summary["baseline"], reading.before
    if about is not None:
        yield f"Against {code(about['name'])}."
        yield from (f"**Not comparable:** {escaped(why)}." for why in about.get("differences", ()))
        yield ""
    yield ", ".join(f"{number(row['count'])} {row['kind']}" for row in totals(before, about))
    rows = changed_strata(summary["rates"], before) if before else []
    if rows:
        yield ""
        yield from _table(
            ("group", "test", "before", "now", "change", "regressed", "lost", "better", "n"),
            (
                (
                    escaped(row["label"]),
                    escaped(f"{row['corpus']}: {row['test']}"),
                    percent(row["before"]),
                    percent(row["rate"]),
                    "–" if row["delta"] is None else number(100 * row["delta"], 1, sign=True),
                    *(number(row[name]) for name in ("regressed", "lost", "better", "n")),
                )
                for row in rows
            ),
            numbers=range(2, 9),
        )
    if reading.examples:
        yield from ("", f"<details><summary>Regressed cases (the first {len(reading.examples)})</summary>", "")
        yield from _table(
            ("case", "test", "source", "before", "now"),
            (
                (
                    code(each.id),
                    escaped(spoken(each.test)),
                    escaped(each.source),
                    escaped(each.before),
                    escaped(each.after),
                )
                for each in reading.examples
            ),
        )
        yield from ("", "</details>")


def _rate_lines(rates: Sequence[Mapping[str, Any]], before: Before | None) -> Iterator[str]:
    kinds = {"language and set": set_panels(rates, before), "identity": identity_panels(rates, before)}
    for title, panels in kinds.items():
        if not panels:
            continue
        yield from ("", f"### Pass rates by {title}", "")
        header = ("test", title, "passed", "95% interval", "n", "unscored", *(["change"] if before else []))
        yield from _table(
            header,
            (_rate_row(panel, row, before is not None) for panel in panels for row in panel["rows"]),
            numbers=range(2, len(header)),
        )


def _rate_row(panel: Mapping[str, Any], row: Mapping[str, Any], compared: bool) -> tuple[str, ...]:
    place = row["label"] if panel["lang"] is None else f"{panel['lang']} · {row['label']}"
    interval = f"{percent(row['low'])} – {percent(row['high'])}" if row["n"] else "–"
    change = "–" if row["delta"] is None else number(100 * row["delta"], 1, sign=True)
    counted = (percent(row["rate"]), interval, number(row["n"]), number(row["unscored"]))
    cells = (escaped(panel["title"]), escaped(place), *counted)
    return (*cells, change) if compared else cells


def _keyword_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield from ("", "### Words that one identity gets and others do not", "")
    yield from _table(
        ("identity", "language", "words (its translations : those of the others)"),
        (
            (
                escaped(row["identity"]),
                escaped(row["lang"]),
                ", ".join(
                    f"{escaped(word['word'])} {number(word['count'])}:{number(word['others'])}" for word in row["words"]
                ),
            )
            for row in rows
        ),
        numbers=(),
    )


def _corrected_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield from ("", "### Accuracy corrected for the judge's mistakes (Rogan-Gladen)", "")
    yield from _table(
        ("language and set", "judged", "n", "corrected", "95% interval", "judge"),
        (
            (
                escaped(row["label"]),
                percent(row["observed"]),
                number(row["n"]),
                percent(row["rate"]),
                row["interval"],
                escaped(row["basis"]),
            )
            for row in corrected_rows(rows)
        ),
        numbers=range(1, 5),
    )


def _sheet_lines(tables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    found = sheets(tables)
    if found:
        yield from ("", "### Tables by identity", "", "<details><summary>Quality and attitude</summary>", "")
        for sheet in found:
            yield from markdown_lines(sheet, "####")
        yield "</details>"


def _run_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    if summary["unscored"]:
        yield from ("", "### Unscored tests", "")
        rows = ((escaped(reason), number(count)) for reason, count in summary["unscored"].items())
        yield from _table(("reason", "tests"), rows, numbers=(1,))
    yield from ("", "### The run", "")
    for corpus in summary["corpora"]:
        yield (
            f"- {escaped(corpus['name'])}: {number(corpus['rows_read'])} rows read = {number(corpus['cases'])} cases + "
            f"{number(corpus['refused'])} refused; {number(corpus['selected'])} cases selected"
        )
        yield from (f"  - refused {escaped(row)}" for row in corpus["refused_rows"])
    for row in usage_rows(summary.get("usage", ())):
        yield (
            f"- {escaped(row['model'])}: {row['requests']} requests, {row['prompt_tokens']} tokens sent, "
            f"{row['completion_tokens']} received, cost {row['cost']}"
        )
    yield from (f"- signature of {escaped(corpus)}: {code(text)}" for corpus, text in summary["signature"].items())
    yield f"- made by {escaped(summary['product'])}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> Iterator[str]:
    right = set(numbers)
    yield f"| {' | '.join(header)} |"
    yield f"| {' | '.join('---:' if place in right else '---' for place in range(len(header)))} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def escaped(text: object) -> str:
    """Text in which nothing is markup, a mention, a link or a line break; hidden characters are written out."""
    flat = shown(re.sub(r"[\r\n\t]+", " ", str(text)))
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", flat).replace("www.", "www&#46;")


def code(text: object) -> str:
    """A name in a code span, where it can stand in one."""
    plain = shown(str(text))
    return escaped(text) if not plain or re.search(r"[`\r\n\t]", plain) else f"`{plain.replace('|', chr(92) + '|')}`"
