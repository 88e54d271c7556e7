"""The COMET stage against plain scoring, file by file, on data of AmbGIMT's shape: 14 identities of each sentence.

    python benchmarks/comet.py [--data DIR] [--groups 12] [--hidden 512 --layers 6] [--json FILE]

DIR holds ``ambgimt/`` (the public files); without it the shipped sample is used. Needs the COMET environment (``gnt
setup comet``, or the variable GNT_COMET_PYTHON). No released weights are needed: the checkpoints have random ones, so
their scores mean nothing, but cost what an encoder of that size costs. Times are CPU seconds of the scoring processes,
one thread, which a busy machine disturbs little.

Rows: what is scored (see `scenarios`). Columns: samples asked for, distinct samples and distinct texts among them; then
CPU seconds for scoring alone (start and loading taken off) of ``CometModel.predict`` file by file in one process and of
the product with an empty store, and their ratio; ``total`` is the ratio with start and loading. ``--command-line`` also
times ``comet-score``, one process a file, as it is mostly used.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)
os.environ["OMP_NUM_THREADS"] = "1"

from pytest_gnt.case import Case  # noqa: E402
from pytest_gnt.corpora import ambgimt, sample  # noqa: E402
from pytest_gnt.corpora.source import CorpusSource  # noqa: E402
from pytest_gnt.evidence import Translation  # noqa: E402
from pytest_gnt.metrics.comet import CometProvider  # noqa: E402
from pytest_gnt.metrics.comet_runtime import Kind, find_python, identify  # noqa: E402
from pytest_gnt.pipeline.executor import Executor  # noqa: E402
from pytest_gnt.pipeline.store import Store  # noqa: E402

Sample = dict[str, str]
PLAIN = Path(__file__).with_name("comet_plain.py")
TOLERANCE = 1e-3
"""Points of 100 that the two sides may differ by."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is scored. ``runs`` are the product's, one after the other over one store."""

    title: str
    checkpoint: str
    kind: Kind
    runs: list[list[Translation]]

    def samples(self, one: Translation) -> list[Sample]:
        """What has to be scored for a translation: a sample a reference, or one without."""
        texts = {"src": one.case.source, "mt": one.text or ""}
        return [texts] if self.kind == "cometkiwi" else [{**texts, "ref": each} for each in one.case.references]

    def files(self) -> list[list[Sample]]:
        """The same for a tool that takes files: one a run, identity and place of the reference."""
        found: dict[tuple[Any, ...], list[Sample]] = {}
        for number, run in enumerate(self.runs):
            for one in run:
                for column, each in enumerate(self.samples(one)):
                    found.setdefault((number, one.case.identity, column), []).append(each)
        return list(found.values())


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; seconds are CPU seconds."""

    title: str
    samples: int
    distinct: int
    texts: int
    plain_start: float
    plain: float
    own_start: float
    own: float

    @property
    def ratio(self) -> float:
        return self.plain / self.own

    @property
    def total(self) -> float:
        return (self.plain + self.plain_start) / (self.own + self.own_start)


def load_cases(data: Path | None, groups: int) -> list[Case]:
    """The first sentences of AmbGIMT with all their identities, with one reference each."""
    if data is None:
        cases = sample.load_ambgimt(CorpusSource(name="ambgimt", root=Path())).cases
    else:
        cases = ambgimt.load(CorpusSource(name="ambgimt", root=data / "ambgimt")).cases
    wanted = list(dict.fromkeys(case.group for case in cases if case.identity is not None))[:groups]
    return [case for case in cases if case.group in set(wanted)]


def stand_in(text: str, times: int = 1) -> str:
    """A translation for timing: as long as the reference and of its characters, parts exchanged."""
    for _ in range(times):
        middle = len(text) // (times + 1)
        text = text[middle:] + text[:middle]
    return text


def scenarios(cases: Sequence[Case]) -> list[Scenario]:
    """What the table has a row for.

    Beside one system's translations: two versions of it, of which the second says a fifth of the sentences otherwise;
    two more references; and a system that, like the reference, drops the identity, so that 14 translations are one.
    """
    first = [Translation(case=case, text=stand_in(case.references[0])) for case in cases]
    second = [one if number % 5 else replace(one, text=f"{one.text}！") for number, one in enumerate(first)]
    three = [_with_references(one, one.case.references[0], *_others(one.case.references[0])) for one in first]
    heads = {case.group: case.references[0] for case in reversed(cases)}
    dropped = [
        _with_references(replace(one, text=stand_in(heads[one.case.group])), heads[one.case.group]) for one in first
    ]
    return [
        Scenario("one system", "regression", "comet", [first]),
        Scenario("two versions, a fifth changed", "regression", "comet", [first, second]),
        Scenario("three references", "regression", "comet", [three]),
        Scenario("identity dropped", "regression", "comet", [dropped]),
        Scenario("one system, xCOMET", "xcomet", "xcomet", [first]),
        Scenario("one system, CometKiwi", "kiwi", "cometkiwi", [first]),
        Scenario("two versions, CometKiwi", "kiwi", "cometkiwi", [first, second]),
    ]


def _with_references(one: Translation, *references: str) -> Translation:
    return replace(one, case=replace(one.case, references=references))


def _others(text: str) -> tuple[str, str]:
    return stand_in(text, 2), stand_in(text, 3)


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of the child processes that end within ``work``, and its result."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def plain(python: str, folder: Path, scenario: Scenario, files: list[list[Sample]]) -> list[list[float]]:
    """COMET's own prediction of each file in turn, in one process."""
    path = folder / "files.json"
    path.write_text(json.dumps(files))
    argv = [python, str(PLAIN), "predict", str(checkpoint(folder, scenario.checkpoint)), str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    answer: list[list[float]] = json.loads(done.stdout.splitlines()[-1])
    return answer


def own(python: str, folder: Path, scenario: Scenario, runs: list[list[Translation]]) -> list[float]:
    """The product's stage over an empty store; all scores, in the order of the runs."""
    model = identify(python, str(folder / scenario.checkpoint), scenario.kind, offline=True)
    scores: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(Path(scratch) / "store.sqlite")
        for run in runs:
            provider = CometProvider("bench", model, scenario.kind, offline=True)
            scores += [one.scores[scenario.kind] for one in Executor(store).compute(provider, run)]
        store.close()
    return scores


def measure(python: str, folder: Path, scenario: Scenario) -> Row:
    """Both sides, with what starting and loading costs, and a check that they agree."""
    files = scenario.files()
    plain_start, _ = cpu(lambda: plain(python, folder, scenario, [files[0][:1]]))
    plain_all, answer = cpu(lambda: plain(python, folder, scenario, files))
    # Another text a run, so that each run loads the model, as in the whole.
    single = [[replace(run[0], text=f"{run[0].text}{number}")] for number, run in enumerate(scenario.runs)]
    own_start, _ = cpu(lambda: own(python, folder, scenario, single))
    own_all, scores = cpu(lambda: own(python, folder, scenario, scenario.runs))
    samples = [_key(one) for file in files for one in file]
    known = dict(zip(samples, [score for file in answer for score in file], strict=True))
    for one, score in zip([one for run in scenario.runs for one in run], scores, strict=True):
        best = 100 * max(known[_key(each)] for each in scenario.samples(one))
        if abs(best - score) > TOLERANCE:
            raise SystemExit(f"{scenario.title}: {one.case.id} scored {score}, by COMET itself {best}")
    return Row(
        title=scenario.title,
        samples=len(samples),
        distinct=len(set(samples)),
        texts=len({text for one in samples for text in one}),
        plain_start=plain_start,
        plain=plain_all - plain_start,
        own_start=own_start,
        own=own_all - own_start,
    )


def command_line(python: str, folder: Path, scenario: Scenario) -> float:
    """CPU seconds of ``comet-score``, one process a file (it computes in half precision)."""
    program = str(Path(python).with_name("comet-score"))
    argv = [program, "--gpus", "0", "--quiet", "--only_system", "--model", str(checkpoint(folder, scenario.checkpoint))]

    def score_files() -> None:
        for file in scenario.files():
            for part in file[0]:
                (folder / part).write_text("\n".join(one[part] for one in file) + "\n")
            texts = ["-s", str(folder / "src"), "-t", str(folder / "mt")]
            texts += ["-r", str(folder / "ref")] if "ref" in file[0] else []
            subprocess.run([*argv, *texts], capture_output=True, check=True)

    return cpu(score_files)[0]


def checkpoint(folder: Path, name: str) -> Path:
    """Where COMET keeps a model's weights."""
    return folder / name / "checkpoints" / "model.ckpt"


def _key(one: Sample) -> tuple[str, ...]:
    return tuple(one.values())


HEAD = """| scored | samples | distinct | texts | plain s | product s | ratio | total |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def line(row: Row) -> str:
    """A row in Markdown."""
    counts = f"{row.samples} | {row.distinct} | {row.texts}"
    return f"| {row.title} | {counts} | {row.plain:.1f} | {row.own:.1f} | {row.ratio:.2f} | {row.total:.2f} |"


def main() -> None:
    """Run the scenarios and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--groups", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--only", default="", help="run the scenarios whose title contains this")
    parser.add_argument("--command-line", action="store_true", help="also time comet-score, a process a file")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    python = find_python()
    every = scenarios(load_cases(options.data, options.groups))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        texts = sorted({text for one in every for file in one.files() for each in file for text in each.values()})
        (folder / "texts.json").write_text(json.dumps(texts))
        size = [str(options.hidden), str(options.layers)]
        argv = [python, str(PLAIN), "make", str(folder), str(folder / "texts.json"), *size]
        subprocess.run(argv, capture_output=True, check=True)
        rows = []
        print(HEAD)
        for one in every:
            if options.only in one.title:
                rows.append(measure(python, folder, one))
                print(line(rows[-1]), flush=True)
        if options.command_line and rows and rows[0].title == every[0].title:
            seconds = command_line(python, folder, every[0])
            print(f"\ncomet-score, a process a file: {seconds:.1f} s; product: {rows[0].own + rows[0].own_start:.1f} s")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) | {"ratio": row.ratio, "total": row.total} for row in rows]))


if __name__ == "__main__":
    main()
