"""What the terminal says of the judge: how good it is known to be, and rates corrected for its mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

INDENT = " " * 11


def judge_lines(judge: Mapping[str, Any] | None) -> list[str]:
    """The judge and its measured quality: a rate means no more than its judge."""
    if judge is None:
        return ["judge      none"]
    lines = [f"judge      {judge['name']}{' (' + judge['title'] + ')' if judge['title'] else ''}"]
    lines += [INDENT + _quality(row) for row in judge["quality"] if row["n"]]
    if len(lines) == 1:
        lines.append(f"{INDENT}not calibrated: how often this judge is right is not known here (gnt judge-eval)")
    notes = [judge.get("note", ""), *judge.get("notes", ())]
    lines += [f"{INDENT}note: {note}" for note in notes if note]
    agreement = judge.get("agreement")
    return lines + ([INDENT + agreement_text(agreement)] if agreement else [])


def _quality(row: Mapping[str, Any]) -> str:
    parts = [f"accuracy {row['accuracy']:.2f}{_interval(row, 'accuracy')}"]
    if row["macro_f1"] is not None:  # a gold set of one class has none
        parts.append(f"macro-F1 {row['macro_f1']:.2f}{_interval(row, 'macro_f1')}")
    return f"{row['lang']}: {', '.join(parts)} on {row['n']} of {row['gold']}"


def _interval(row: Mapping[str, Any], name: str) -> str:
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"


def agreement_text(agreement: Mapping[str, Any]) -> str:
    """How far the votes of a judge agree."""
    if not agreement["cases"]:
        return "votes: no case has two readable ones"
    text = f"votes: {100 * agreement['unanimous']:.1f}% of {agreement['cases']} cases unanimous"
    if agreement["alpha"] is not None:
        text += f", Krippendorff's alpha {agreement['alpha']:.2f}"
    return text + (f" ({agreement['note']})" if agreement["note"] else "")


def corrected_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Accuracies that allow for the judge's mistakes, beside what it said."""
    if not rows:
        return []
    lines = ["", "accuracy corrected for the judge's mistakes (Rogan-Gladen), with 95% interval"]
    for row in rows:
        place = f"{row['lang']:<3} {row['subset']:<6} judged {100 * row['observed']:5.1f}% of {row['n']}"
        if row["rate"] is None:
            lines.append(f"  {place}   not corrected: {row['why']}")
            continue
        lines.append(
            f"  {place}   corrected {100 * row['rate']:5.1f}% [{100 * row['low']:.1f}, {100 * row['high']:.1f}]   "
            f"judge: sensitivity {row['sensitivity']:.2f}, specificity {row['specificity']:.2f} "
            f"on {row['gold']} gold labels ({row['basis']})"
        )
    return lines


def flag_line(flags: Mapping[str, int]) -> list[str]:
    """Marks on verdicts, with how many cases have each."""
    return [f"verdicts marked: {', '.join(f'{name} {count}' for name, count in flags.items())}"] if flags else []
