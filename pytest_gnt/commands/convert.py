"""``gnt convert``: sentences about "the person" to the 14 identities, or measured against a published file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gnt.case import Identity
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.corpora.conversion_check import Comparison
    from pytest_gnt.corpora.textfile import TextFile

FORMATS = ("lines", "tsv", "jsonl")
_FORMAT_OF = {".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def add_parser(subparsers: Any) -> None:
    """Declare the arguments of ``gnt convert``."""
    parser = subparsers.add_parser(
        "convert",
        help="turn neutral sentences to the 14 identities",
        description='Reads sentences about "the person", one a line, or with marked places ([The person] … [They] …), '
        "and writes each for the 14 identities. A line that cannot be converted is named with its reason; the exit "
        "status is 1 then. In the format lines it becomes blank lines, so that parallel files stay parallel.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="neutral sentences, one a line, UTF-8")
    parser.add_argument("--out", default="-", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument("--lang", choices=("en", "zh"), default="en", help="language of FILE (default: en)")
    parser.add_argument(
        "--identities", metavar="NAMES", help="only these, e.g. woman,man,trans-woman (default: all 14, in their order)"
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="lines: a block of lines a sentence, as in the public files; tsv, jsonl: a table that can be a corpus of "
        "yours (default: what --out ends in, else lines)",
    )
    parser.add_argument(
        "--references", type=Path, metavar="FILE", help="Chinese references, line by line, for the table formats"
    )
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="compare with a published all-identity file instead of writing"
    )


def run(arguments: argparse.Namespace) -> int:
    """Convert or compare.

    Returns:
        0, or 1 where lines were refused or a difference is not explained.

    Raises:
        GntError: a file cannot be read or written, files do not pair up, an identity is unknown, or the parser is
            missing.
    """
    from pytest_gnt.corpora.textfile import read_text

    neutral = read_text(arguments.file)
    if arguments.against is not None:
        return _compare(neutral, read_text(arguments.against), arguments.lang)
    form = arguments.format or _FORMAT_OF.get(Path(arguments.out).suffix.lower(), "lines")
    references = read_text(arguments.references) if arguments.references is not None else None
    if arguments.lang == "zh" and form != "lines":
        raise GntError("--lang zh writes lines; for a table convert the English file, with --references FILE")
    if references is not None:
        _check_references(neutral, references, form)
    _check_out(arguments.out, [file for file in (neutral, references) if file is not None])
    return _convert(neutral, references, form, arguments)


def _convert(neutral: TextFile, references: TextFile | None, form: str, arguments: argparse.Namespace) -> int:
    from pytest_gnt.commands import convert_output

    identities = read_identities(arguments.identities)
    converted, refused = convert_output.convert_lines(neutral, arguments.lang, identities)
    if form == "lines":
        text = convert_output.blocks(converted, len(identities))
    else:
        rows, more = convert_output.table_rows(neutral, converted, identities, references, tabs=form == "jsonl")
        refused = sorted([*refused, *more], key=lambda row: row.line)
        text = convert_output.tsv(rows) if form == "tsv" else convert_output.jsonl(rows)
    _write(arguments.out, text)
    for row in refused:
        print(f"gnt convert: {row}", file=sys.stderr)
    for file in filter(None, (neutral if arguments.lang == "zh" else None, references)):
        for number in convert_output.unnamed(file):
            print(f"gnt convert: {file.name}:{number}: no term for the person, so no identity", file=sys.stderr)
    read, bad = len(neutral.lines), len({row.line for row in refused})
    print(
        f"gnt convert: {read} lines read, {read - bad} converted to {len(identities)} identities, {bad} refused",
        file=sys.stderr,
    )
    return 1 if refused else 0


def read_identities(names: str | None) -> tuple[Identity, ...]:
    """Identities by name, in their own order; all of them for None.

    Raises:
        GntError: an unknown name, or none at all.
    """
    if names is None:
        return tuple(Identity)
    from pytest_gnt.config.files import did_you_mean

    asked = {name.strip().lower().replace("-", " ").replace("_", " ") for name in names.split(",") if name.strip()}
    known = {identity.value for identity in Identity}
    for name in sorted(asked - known):
        raise GntError(f"unknown identity {name!r}.{did_you_mean(name, known)} Known: {', '.join(Identity)}.")
    if not asked:
        raise GntError(f"--identities names none. Known: {', '.join(Identity)}.")
    return tuple(identity for identity in Identity if identity.value in asked)


def _check_references(neutral: TextFile, references: TextFile, form: str) -> None:
    if form == "lines":
        raise GntError(
            "--references goes with --format tsv or jsonl; for lines convert each file by itself (--lang zh)"
        )
    if len(neutral.lines) != len(references.lines):
        raise GntError(
            f"{neutral.path} has {len(neutral.lines)} lines, but its references {references.path} have "
            f"{len(references.lines)}; use files of the same release"
        )


def _check_out(out: str, files: Sequence[TextFile]) -> None:
    if out != "-" and any(Path(out).exists() and Path(out).samefile(file.path) for file in files):
        raise GntError(f"--out {out} is a file that is read; choose another one")


def _write(out: str, text: str) -> None:
    if out == "-":
        sys.stdout.write(text)
        return
    try:
        Path(out).write_bytes(text.encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise GntError(f"{out} cannot be written: {error.strerror}") from error


def _compare(neutral: TextFile, published: TextFile, lang: str) -> int:
    from pytest_gnt.commands.convert_output import against
    from pytest_gnt.corpora.conversion_check import Side

    comparison = against(neutral, published, lang)
    print(*_comparison_lines(comparison, published), sep="\n")
    return 1 if comparison.lines_by_side()[Side.OURS] else 0


def _comparison_lines(found: Comparison, published: TextFile) -> list[str]:
    from pytest_gnt.corpora.conversion_check import Side

    differ = found.lines - found.equal
    share = f" ({found.equal / found.lines:.1%})" if found.lines else ""
    skipped = f"; {found.skipped} lines not compared" if found.skipped else ""
    lines = [f"{published.name}: {found.equal} of {found.lines} lines equal{share}, {differ} differ{skipped}"]
    for side in Side:
        lines.append(f"  {found.lines_by_side()[side]:5} lines: {side}")
    for side, cause, count, example in found.causes():
        shown = f"{example.ours.strip() or '·'} | {example.published.strip() or '·'}"
        lines.append(f"{count:5}  {side}: {cause}")
        lines.append(f"       e.g. line {example.line}, {example.identity}: ours {shown} published")
    return lines
