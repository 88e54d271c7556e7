"""Fill the shipped table of attitude scores (``pytest_gnt/metrics/data/attitude_scores.tsv``).

Scored are the calibration words of every template, and the attitude words and renderings of the sample corpus. Run it
again whenever a template, a calibration list or the sample's tables change:

    python scripts/record_attitude_scores.py
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import transformers

from pytest_gnt.engines.transformers_scorer import CausalScorer
from pytest_gnt.metrics.attitude import AttitudeScorer, WordQuery, calibration_queries, languages, template
from pytest_gnt.metrics.attitude.recorded import COLUMNS
from pytest_gnt.work import digest

PACKAGE = Path(__file__).resolve().parent.parent / "pytest_gnt"
SAMPLE = PACKAGE / "corpora" / "sample" / "ambgimt"
DIGITS = 6


def main() -> None:
    """Score and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="pkg:gemma3-270m")
    parser.add_argument("--out", type=Path, default=PACKAGE / "metrics" / "data" / "attitude_scores.tsv")
    options = parser.parse_args()
    scorer = AttitudeScorer(CausalScorer(options.model, dtype="float32", device="cpu", progress=print))
    queries = wanted()
    works = [scorer.work(query) for query in queries]
    answers = {queries[index]: answer.value for index, answer in scorer.run(works)}
    lines = [provenance(options.model, scorer), "\t".join(COLUMNS)]
    for query in sorted(queries, key=lambda query: (languages().index(query.lang), query.word)):
        positive, negative = (float(answers[query][name]) for name in COLUMNS[2:])
        lines.append(f"{query.lang}\t{query.word}\t{positive:.{DIGITS}f}\t{negative:.{DIGITS}f}")
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(queries)} words written to {options.out}")


def wanted() -> list[WordQuery]:
    """Every word of the table, each once."""
    words = [query for lang in languages() for part in calibration_queries(lang) for query in part]
    for row in _table(SAMPLE / "attitude_words.tsv"):
        words += [WordQuery("en", row["attitude_word"]), WordQuery("zh", row["zh_word"])]
    for row in _table(SAMPLE / "renderings.tsv"):
        words += [WordQuery("en", row["attitude_word"]), WordQuery(row["lang"], row["rendering"])]
    return list(dict.fromkeys(word for word in words if word.word))


def provenance(model: str, scorer: AttitudeScorer) -> str:
    """Where the values come from, as one line."""
    engine = dict(scorer.context())["engine"]
    assert isinstance(engine, dict)
    return (
        f"# model={model} revision={engine['revision']} dtype={engine['dtype']} "
        f"transformers={transformers.__version__} templates={templates_digest()}: "
        "scores of words alone, no sentence; made by scripts/record_attitude_scores.py"
    )


def templates_digest() -> str:
    """Hash of all templates."""
    return digest([known.digest for lang in languages() if (known := template(lang)) is not None])[:12]


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


if __name__ == "__main__":
    main()
