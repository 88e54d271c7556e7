"""A diff of two runs in Markdown, for job summaries and comments, and as annotations of GitHub Actions.

Texts of models are hostile input: every character that Markdown, HTML or GitHub (mentions, references, bare addresses,
formulas) could take for markup is written as a character reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_gnt.verdicts.changes import ChangeKind
from pytest_gnt.verdicts.diff import Diff, DiffRow, Flip
from pytest_gnt.verdicts.wording import (
    delta_text,
    marked,
    p_text,
    phrases_text,
    scores_text,
    value_text,
    verdict_text,
    visible,
)
from pytest_gnt.verdicts.words import Segment

LIMIT = 20
ANNOTATIONS = 10
_MARKUP = re.compile(r"[&<>|`*_\[\]~@\\$#{}!]|://|(?<=www)\.")
_TRENDS = {"worse": "▼ ", "better": "▲ ", "same": ""}


def diff_markdown(diff: Diff, *, limit: int = LIMIT) -> str:
    """The diff as a Markdown document. ``limit``: cases shown of each kind; how many more there are is said."""
    parts = [f"## {escape(diff.before)} → {escape(diff.after)}", *_head(diff)]
    for fields in dict.fromkeys(tuple(row.stratum) for row in diff.rows):
        rows = [row for row in diff.rows if tuple(row.stratum) == fields]
        parts.append("\n".join(_table(rows, fields)))
    parts += _cases("Changed outcomes, worst first", diff.flips, limit)
    parts += _cases("Same outcome, other scores", diff.moves, limit)
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _MARKUP.sub(lambda found: "".join(f"&#{ord(char)};" for char in found[0]), visible(text))


def github_annotations(diff: Diff, *, limit: int = ANNOTATIONS) -> list[str]:
    """Workflow commands that mark regressed cases in a GitHub Actions run, worst first; ten a step are shown there."""
    bad = [flip for flip in diff.flips if flip.kind in (ChangeKind.REGRESSED, ChangeKind.LOST)]
    return [_annotation(flip) for flip in bad[:limit]]


def _annotation(flip: Flip) -> str:
    title = visible(f"{flip.kind}: {flip.id} {flip.test}".rstrip())
    for char, code in (("%", "%25"), (":", "%3A"), (",", "%2C")):
        title = title.replace(char, code)
    lines = [f"source: {visible(flip.source)}"] if flip.source else []
    lines += [f"translation: {marked(flip.words)}", f"verdict: {verdict_text(flip)}"]
    return f"::error title={title}::" + "%0A".join(line.replace("%", "%25") for line in lines)


def _head(diff: Diff) -> Iterator[str]:
    for reason in diff.reasons:
        yield f"**Not comparable:** {escape(reason)}"
    for note in diff.notes:
        yield f"Note: {escape(note)}"
    yield ", ".join(f"{count} {kind}" for kind, count in diff.counts.items() if count) or "No test in common."
    for name, ids in (("gone", diff.gone), ("new", diff.new), ("with another source sentence", diff.other_source)):
        if ids:
            more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
            yield f"{len(ids)} cases {name}: {', '.join(map(escape, ids[:3]))}{more}"


def _table(rows: Sequence[DiffRow], fields: tuple[str, ...]) -> Iterator[str]:
    yield f"### {'By ' + ' and '.join(fields) if fields else 'Overall'}\n"
    names = ("measure", *fields, "before", "after", "change", "95% interval", "p (Holm)", "n", "lost")
    yield f"| {' | '.join(names)} |"
    yield f"|{' --- |' * (1 + len(fields))}{' ---: |' * 7}"
    several = len({row.corpus for row in rows}) > 1
    for row in rows:
        name = f"{row.corpus}: {row.measure}" if several else row.measure
        interval = "–" if row.low is None else f"{delta_text(row.low, row.unit)} … {delta_text(row.high, row.unit)}"
        cells = [
            escape(name),
            *map(escape, row.stratum.values()),
            value_text(row.before, row.unit),
            value_text(row.after, row.unit),
            _TRENDS[row.trend] + delta_text(row.delta, row.unit),
            interval,
            escape(p_text(row.p_holm).removeprefix("= ")),
            str(row.compared),
            str(row.lost or ""),
        ]
        yield f"| {' | '.join(cells)} |"


def _cases(title: str, flips: Sequence[Flip], limit: int) -> Iterator[str]:
    if not flips:
        return
    yield f"### {title}: {len(flips)}"
    shown: dict[str, int] = {}
    for flip in flips:
        shown[flip.kind] = shown.get(flip.kind, 0) + 1
        if shown[flip.kind] <= limit:
            yield "\n".join(_case(flip))
    for kind, count in shown.items():
        if count > limit:
            yield f"… and {count - limit} more {kind}"


def _case(flip: Flip) -> Iterator[str]:
    yield f"**{flip.kind}** {escape(flip.id)} {escape(flip.test)}".rstrip() + "\n"
    if flip.source is not None:
        yield f"- source: {escape(flip.source)}"
    yield f"- text: {_words(flip.words)}"
    if flip.judged_before or flip.judged_after or flip.reason:
        yield f"- verdict: {escape(verdict_text(flip))}"
    if flip.phrases_before or flip.phrases_after:
        before, after = (phrases_text(phrases) or "–" for phrases in (flip.phrases_before, flip.phrases_after))
        yield f"- phrases: {escape(before)} → {escape(after)}"
    if flip.scores:
        yield f"- scores: {escape(scores_text(flip.scores))}"


def _words(segments: Sequence[Segment]) -> str:
    tags = {"same": "{}", "removed": "<del>{}</del>", "added": "<ins>{}</ins>"}
    return "".join(tags[segment.op].format(escape(segment.text)) for segment in segments)
