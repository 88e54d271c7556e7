"""What ``gnt convert`` writes, and what it compares."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence

from pytest_gnt.case import Identity
from pytest_gnt.corpora.blocks import match_blocks
from pytest_gnt.corpora.conversion import NotConvertible, convert_chinese, plan_lines
from pytest_gnt.corpora.conversion_check import Comparison, compare_chinese, compare_english
from pytest_gnt.corpora.conversion_chinese import chinese_sentence, names_person
from pytest_gnt.corpora.conversion_plan import Plan
from pytest_gnt.corpora.source import RefusedRow
from pytest_gnt.corpora.textfile import TextFile
from pytest_gnt.errors import GntError

Converted = list[tuple[str, ...] | None]
Row = dict[str, str]


def convert_lines(neutral: TextFile, lang: str, identities: Sequence[Identity]) -> tuple[Converted, list[RefusedRow]]:
    """The sentences of each line, None for a refused one, and the refused lines."""
    converted: Converted = []
    refused: list[RefusedRow] = []
    for number, result in enumerate(_results(neutral, lang, identities), start=1):
        if isinstance(result, NotConvertible):
            refused.append(RefusedRow(neutral.name, number, str(result)))
            converted.append(None)
        else:
            converted.append(result)
    return converted, refused


def _results(
    neutral: TextFile, lang: str, identities: Sequence[Identity]
) -> Iterable[tuple[str, ...] | NotConvertible]:
    if lang == "en":
        for plan in plan_lines(neutral.lines):
            if isinstance(plan, Plan):
                yield tuple(plan.sentence(identity) for identity in identities)
            else:
                yield plan
        return
    for line in neutral.lines:
        try:
            yield convert_chinese(line, identities)
        except NotConvertible as why:
            yield why


def unnamed(file: TextFile) -> list[int]:
    """Lines of a Chinese file that name no person: they name no identity either."""
    return [number for number, line in enumerate(file.lines, start=1) if line.strip() and not names_person(line)]


def blocks(converted: Converted, size: int) -> str:
    """A line an identity; a refused sentence keeps its place as blank lines."""
    return "".join(f"{line}\n" for sentences in converted for line in sentences or [""] * size)


def table_rows(
    neutral: TextFile, converted: Converted, identities: Sequence[Identity], references: TextFile | None, tabs: bool
) -> tuple[list[Row], list[RefusedRow]]:
    """Rows with id, source, identity and group, and with references lang and reference; and the lines refused here.

    Args:
        neutral: the file that was converted.
        converted: its sentences, see `convert_lines`.
        identities: the identities of each sentence.
        references: Chinese references, line by line.
        tabs: whether the format can hold a tab in a cell.
    """
    rows: list[Row] = []
    refused: list[RefusedRow] = []
    groups: dict[str, int] = {}
    for number, sentences in enumerate(converted, start=1):
        if sentences is None:
            continue
        reference = references.lines[number - 1] if references else None
        if references and reference is not None and not reference.strip():
            refused.append(RefusedRow(references.name, number, "blank line"))
            continue
        if not tabs and "\t" in f"{sentences[0]}{reference or ''}":
            refused.append(RefusedRow(neutral.name, number, "holds a tab, which no cell of a TSV can; use jsonl"))
            continue
        group = groups.setdefault(sentences[0].strip(), number)
        for identity, sentence in zip(identities, sentences, strict=True):
            row = {"id": f"{number}-{identity.value.replace(' ', '-')}", "source": sentence}
            row |= {"identity": identity.value, "group": str(group)}
            if reference is not None:
                row |= {"lang": "zh", "reference": chinese_sentence(reference, identity)}
            rows.append(row)
    return rows, refused


def tsv(rows: Sequence[Row]) -> str:
    """The rows as a TSV; cells with quotes are quoted by the CSV rules."""
    stream = io.StringIO()
    if rows:
        writer = csv.DictWriter(stream, list(rows[0]), dialect="excel-tab", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return stream.getvalue()


def jsonl(rows: Iterable[Row]) -> str:
    """The rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def against(neutral: TextFile, published: TextFile, lang: str) -> Comparison:
    """Convert a neutral file and compare it with its published all-identity file.

    English blocks are matched by content. Chinese ones are too, as long as their first lines are the neutral ones.

    Raises:
        GntError: the files do not pair up; names both and their counts.
    """
    found = match_blocks(published, neutral)
    if lang == "en":
        plans = [plan if isinstance(plan, Plan) else None for plan in plan_lines(neutral.lines)]
        comparison = compare_english(plans, found, published)
    else:
        sentences = [[chinese_sentence(line, identity) for identity in Identity] for line in neutral.lines]
        comparison = compare_chinese(sentences, found, published)
    if not comparison.lines:
        raise GntError(f"no line of {published.path} can be compared: none of its sentences can be converted")
    return comparison
