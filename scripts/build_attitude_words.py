"""Make ``pytest_gnt/corpora/data/attitude_words.tsv`` from annotations of the public AmbGIMT files.

    python scripts/build_attitude_words.py FOLDER

FOLDER holds, for each subset, ``attitude_words.<subset>.tsv`` (line, attitude_word, zh_word, confidence) and the
neutral English file that the line numbers refer to. Sentences go into the table as hashes only. An annotated line that
the English file does not have gets an empty hash.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pytest_gnt.case import Subset
from pytest_gnt.corpora.ambgimt_files import PUBLIC_STEMS
from pytest_gnt.corpora.attitude_words import WORDS_FILE, read_line_words, sentence_hash, stands_in
from pytest_gnt.corpora.tables import read_table
from pytest_gnt.corpora.textfile import read_text
from pytest_gnt.errors import GntError

COLUMNS = ("subset", "line", "sentence", "attitude_word", "zh_word", "confidence")


def rows(folder: Path, subset: Subset) -> list[tuple[str, ...]]:
    """The table's rows of one subset, in the order of the lines.

    Raises:
        GntError: a file is missing or damaged, or a word does not stand in its sentence.
    """
    sentences = read_text(folder / f"{PUBLIC_STEMS[subset]}.txt").lines
    found: list[tuple[str, ...]] = []
    for line, word in sorted(read_line_words(read_table(folder / f"attitude_words.{subset}.tsv")).items()):
        key = ""
        if line <= len(sentences):
            if not stands_in(word.word, sentences[line - 1]):
                raise GntError(f"{subset}, line {line}: {word.word!r} does not stand in the sentence")
            key = sentence_hash(sentences[line - 1])
        found.append((subset.value, str(line), key, word.word, word.zh_word, word.confidence))
    return found


def main(arguments: list[str]) -> int:
    """Write the table; the exit status is 0, or 2 with a message."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        table = [COLUMNS, *(row for subset in PUBLIC_STEMS for row in rows(Path(arguments[0]), subset))]
    except GntError as error:
        print(error, file=sys.stderr)
        return 2
    WORDS_FILE.write_text("".join("\t".join(row) + "\n" for row in table), encoding="utf-8")
    print(f"{WORDS_FILE.name}: {len(table) - 1} sentences, {sum(not row[2] for row in table)} without hash")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
