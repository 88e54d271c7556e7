"""``gnt grid``: model × language × prompt configuration × shots × constraint, as one table."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gnt.case import id_part
from pytest_gnt.errors import GntError

if TYPE_CHECKING:
    from pytest_gnt.config import Config
    from pytest_gnt.reports.grid_table import GridTable

PROMPTS = ("none", "G", "S", "G+S")
SHOTS = (0, 2, 4)
CONSTRAINTS = ("none", "moral", "lexical", "moral+lexical")
INTERRUPTED = 130


def add_parser(subparsers: Any) -> None:
    """Declare the arguments of ``gnt grid``."""
    parser = subparsers.add_parser(
        "grid",
        help="model × language × prompt × shots × constraint as one table",
        description="Runs pytest for every model, prompt configuration, number of shots and, with --constraints, "
        "AmbGIMT prompt constraint, and writes grid.csv, grid.md and grid.json. Everything computed is in the store: "
        "an interrupted grid goes on where it stopped, and a finished one is written again without loading a model. "
        "Models are those of gnt.toml and the presets. "
        "Arguments after -- are passed on to pytest.",
    )
    parser.add_argument("--models", metavar="A,B", required=True, type=_split, help="systems under test")
    parser.add_argument("--prompts", metavar="none,G,S,G+S", type=_split, help="default: all four (see --constraints)")
    parser.add_argument("--shots", metavar="0,2,4", type=_split, help="default: all three (see --constraints)")
    parser.add_argument(
        "--constraints",
        metavar="none,moral,lexical,moral+lexical",
        type=_split,
        help="vary AmbGIMT's prompt constraint over its suite; prompt and shots are then those of the configuration "
        "unless given",
    )
    parser.add_argument("--attitude-model", metavar="NAME|none", help="scores emotional attitude")
    parser.add_argument("--comet", metavar="NAME,NAME|none", help="COMET models to score quality with")
    parser.add_argument("--langs", metavar="it,es", help="keep these target languages (default: all of the corpus)")
    parser.add_argument("--data", metavar="DIR", help="folder of the public corpora (default: the shipped sample)")
    parser.add_argument("--sample", metavar="N", type=int, help="about N cases of the corpus, the same for every row")
    parser.add_argument("--seed", metavar="N", type=int, help="seed of sampling and decoding")
    parser.add_argument("--judge", metavar="NAME|none", help="judge of neutrality (default: the configuration's)")
    parser.add_argument(
        "--suites",
        metavar="PATH",
        action="append",
        help="suites to run (default: mGeNTE's; AmbGIMT's with --constraints)",
    )
    parser.add_argument("--store", metavar="PATH", help="result store (default: the configuration's)")
    parser.add_argument("--out", metavar="DIR", default="gnt-grid", help="where the table and the runs are written")
    parser.add_argument("pytest", nargs="*", metavar="-- ARGUMENT", help="further arguments of pytest")


def run(arguments: argparse.Namespace) -> int:
    """Run the grid and write its table.

    Returns:
        0; 1 where a run gave no result (the table says which); 130 after an interrupt.

    Raises:
        GntError: an unknown model, prompt configuration or number of shots.
    """
    from pytest_gnt.config import load_config

    config = load_config(Path.cwd())
    _check(arguments, config)
    out = Path(arguments.out).absolute()
    runs = [run for model in arguments.models for run in _runs(model, arguments, config, out)]
    try:
        for model in arguments.models:
            _run_model([run for run in runs if run.model == model], arguments, config, out)
    except KeyboardInterrupt:
        print("gnt grid: interrupted; the same command goes on where it stopped", file=sys.stderr)
        return INTERRUPTED
    table = _table(runs, arguments, config)
    for name, text in (("csv", table.to_csv()), ("md", table.to_markdown()), ("json", table.to_json())):
        _write(out / f"grid.{name}", text)
    print(f"gnt grid: {len(table.lines)} rows in {out / 'grid.md'} (.csv, .json)")
    for name, why in table.missing:
        print(f"gnt grid: not run: {name}: {why}", file=sys.stderr)
    return 1 if table.missing else 0


@dataclass(frozen=True, slots=True)
class _Run:
    """One pytest session: a model with one prompt configuration, shots and constraint, in all languages."""

    model: str
    prompt: str | None
    shots: int | None
    constraint: str | None
    folder: Path

    @property
    def name(self) -> str:
        if self.prompt is None:
            return self.model
        constraint = "" if self.constraint is None else f", constraint {self.constraint}"
        return f"{self.model}, prompt {self.prompt}, {self.shots} shots{constraint}"

    @property
    def log(self) -> Path:
        return self.folder / "pytest.log"

    @property
    def status(self) -> Path:
        return self.folder / "status"


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _check(arguments: argparse.Namespace, config: Config) -> None:
    for model in arguments.models:
        config.model(model)
    if arguments.judge not in (None, "none"):
        config.judge(arguments.judge)
    for given, known, what in (
        (arguments.prompts, PROMPTS, "--prompts"),
        (arguments.shots, tuple(map(str, SHOTS)), "--shots"),
        (arguments.constraints, CONSTRAINTS, "--constraints"),
    ):
        if given is None:
            continue
        wrong = [value for value in given if value not in known]
        if wrong or not given:
            raise GntError(f"{what}: {', '.join(wrong) or 'nothing'} is not possible; choose from {', '.join(known)}")


def _prompted(config: Config, model: str) -> bool:
    """Whether prompts and shots make a difference: other systems have one row a language."""
    settings = config.model(model)
    return settings.backend in ("transformers", "vllm", "openai") and (
        getattr(settings, "architecture", "causal") == "causal"
    )


def _runs(model: str, arguments: argparse.Namespace, config: Config, out: Path) -> Iterator[_Run]:
    folder = out / "runs" / id_part(model)
    if not _prompted(config, model):
        yield _Run(model, None, None, None, folder)
        return
    prompts, shots = _points(model, arguments, config)
    for prompt, number, constraint in product(prompts, shots, arguments.constraints or (None,)):
        place = f"{prompt}.{number}" if constraint is None else f"{prompt}.{number}.{constraint}"
        yield _Run(model, prompt, int(number), constraint, folder / place)


def _points(model: str, arguments: argparse.Namespace, config: Config) -> tuple[Sequence[str], Sequence[str]]:
    """Prompt configurations and numbers of shots: as given, else all; one of each where constraints are varied."""
    if arguments.constraints is None:
        return arguments.prompts or PROMPTS, arguments.shots or tuple(map(str, SHOTS))
    from pytest_gnt.runner.translators import configured_prompt

    prompt, shots = configured_prompt(config.run, config.model(model))
    return arguments.prompts or (prompt,), arguments.shots or (str(shots),)


def _run_model(runs: Sequence[_Run], arguments: argparse.Namespace, config: Config, out: Path) -> None:
    """All runs of a model, in one process, so that its weights are loaded once."""
    for run in runs:
        run.folder.mkdir(parents=True, exist_ok=True)
        for left in (run.log, run.status, run.folder / "report.json", run.folder / "cases.jsonl"):
            left.unlink(missing_ok=True)
    judge = arguments.judge or config.run.judge
    passes = [runs]
    if arguments.constraints is not None or (judge != "none" and config.judge(judge).model is not None):
        passes = [runs, runs]  # first the translations alone, then the other models, the translator's being closed
    plan = [
        [_planned(run, arguments, last=number == len(passes) - 1) for run in part] for number, part in enumerate(passes)
    ]
    path = out / "runs" / id_part(runs[0].model) / "plan.json"
    path.write_text(json.dumps(plan, indent=1), encoding="utf-8")
    command = [sys.executable, "-m", "pytest_gnt.commands.grid_runs", str(path)]
    process = subprocess.Popen(command)  # noqa: S603 - our own interpreter and module
    try:
        status = process.wait()
    except KeyboardInterrupt:
        process.wait()  # it got the interrupt too, and commits what is finished
        raise
    if status == 2:
        raise KeyboardInterrupt


def _planned(run: _Run, arguments: argparse.Namespace, *, last: bool) -> dict[str, Any]:
    """A run of a pass. Only the last pass leaves a result; those before it fill the store."""
    folder = run.folder if last else run.folder / "translations"
    folder.mkdir(exist_ok=True)
    return {
        "name": run.name if last else f"{run.name}, translations",
        "args": _arguments(run, folder, arguments, judged=last),
        "log": str(run.log),
        "status": str(folder / run.status.name),
    }


def _arguments(run: _Run, folder: Path, arguments: argparse.Namespace, *, judged: bool) -> list[str]:
    others = {"judge": arguments.judge, "attitude-model": arguments.attitude_model, "comet": arguments.comet}
    given = {
        "model": run.model,
        "prompt": run.prompt,
        "shots": run.shots,
        "constraint": run.constraint,
        "langs": arguments.langs,
        "data": arguments.data,
        "sample": arguments.sample,
        "seed": arguments.seed,
        **(others if judged else dict.fromkeys(others, "none")),
        "store": arguments.store,
        "report": str(folder),
        "gate": "off",
        "baseline": "none",
    }
    options = [f"--gnt-{name}={value}" for name, value in given.items() if value is not None]
    quiet = [f"--rootdir={Path.cwd()}", "-p", "no:cacheprovider", "-q", "--tb=no", "-r", "N"]
    suites = arguments.suites or [str(_suite("test_mgente.py" if arguments.constraints is None else "test_ambgimt.py"))]
    return [*suites, *quiet, *options, *arguments.pytest]


def _suite(name: str) -> Path:
    """A shipped suite: inside of an installed package, beside it in a source tree."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_suites", package.parent / "suites"):
        if (folder / name).is_file():
            return folder / name
    raise GntError("the shipped suites are missing: reinstall pytest-gnt, or name suites with --suites")


def _table(runs: Sequence[_Run], arguments: argparse.Namespace, config: Config) -> GridTable:
    from pytest_gnt import __version__
    from pytest_gnt.reports.grid_table import Cell, GridTable, languages, line_of
    from pytest_gnt.verdicts.entry import Entry
    from pytest_gnt.verdicts.results import read_results, read_summary

    judge = arguments.judge or config.run.judge
    table = GridTable({"product": f"pytest-gnt {__version__}", "judge": judge})
    for run in runs:
        why = _missing(run)
        if why is not None:
            table.missing.append((run.name, why))
            continue
        entries = [Entry.from_result(result) for result in read_results(run.folder)]
        summary = read_summary(run.folder)
        signatures = summary["signature"]
        signature = " ".join(signatures[name] for name in sorted(signatures))
        table.lines += [
            line_of(Cell(run.model, lang, run.prompt, run.shots, run.constraint), entries, signature, summary["tables"])
            for lang in languages(entries)
        ]
    return table


def _missing(run: _Run) -> str | None:
    """Why a run has no result that can be counted on; None where it has."""
    status = run.status.read_text(encoding="ascii").strip() if run.status.is_file() else "no status"
    if status not in ("0", "1"):
        return f"{_last_error(run.log)} (pytest: {status})"
    if not (run.folder / "report.json").is_file():
        return "no case was selected"
    report = json.loads((run.folder / "report.json").read_text(encoding="utf-8"))
    return None if report["complete"] else str(report["incomplete_why"])


def _last_error(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")]
    return (errors or [line for line in lines if line.strip()] or ["the run ended early"])[-1].strip()[:300]


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    temporary.replace(path)
