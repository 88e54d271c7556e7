"""The command line on the public data: real mGeNTE rows, the real AmbGIMT files, two commercial systems on WinoMT."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.runner.conftest import SUITES


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "--tb=no", "-q", *arguments, timeout=300)


def summary(pytester: pytest.Pytester) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((pytester.path / "gnt-report/report.json").read_text(encoding="utf-8"))
    return data


def records(pytester: pytest.Pytester) -> list[dict[str, Any]]:
    lines = (pytester.path / "gnt-report/cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write_table(path: Path, columns: list[str], rows: list[dict[str, str]]) -> None:
    lines = ["\t".join(columns), *("\t".join(row[column] for column in columns) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_plain_tsv(path: Path) -> list[dict[str, str]]:
    """The file's rows by the simplest rule there is: tabs and line feeds, nothing quoted."""
    header, *lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def test_mgente_rows_with_a_recorded_system(pytester: pytest.Pytester, shared_data: Path) -> None:
    rows = read_plain_tsv(shared_data / "mgente/en-it.set-n.part.tsv")
    assert len(rows) == 400
    # The recorded system gives the gendered reference, so nearly every case should be found to be gendered.
    recorded = [
        {"case_id": f"mgente/en-it/{row['ID']}", "translation": row["REF-G"], "label": "GENDERED"} for row in rows
    ]
    write_table(pytester.path / "refs.tsv", ["case_id", "translation", "label"], recorded)
    pytester.path.joinpath("gnt.toml").write_text('[models.refs]\nbackend="recorded"\npath="refs.tsv"\n')
    result = run(
        pytester, "--gnt-model=refs", f"--gnt-data={shared_data}", "--rootdir=.", str(SUITES / "test_mgente.py")
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = summary(pytester)
    corpus = found["corpora"][0]
    assert (corpus["rows_read"], corpus["cases"], corpus["refused"], corpus["selected"]) == (400, 400, 0, 400)
    counts = found["counts"]
    assert counts["cases"] == counts["tests"] == 400
    assert counts["passed"] + counts["failed"] + counts["unscored"] == 400
    assert counts["unscored"] == 0
    assert counts["failed"] >= 300, "Ref-G is the gendered reference"
    by_id = {record["id"]: record for record in records(pytester)}
    first = by_id["mgente/en-it/751"]
    assert first["source"].startswith("They have shown that European issues")
    assert first["translation"]["text"] == rows[0]["REF-G"]


def test_ambgimt_files_with_the_references_as_system(pytester: pytest.Pytester, shared_data: Path) -> None:
    folder = shared_data / "ambgimt"
    pytester.path.joinpath("refs").mkdir()
    pytester.path.joinpath("gnt.toml").write_text('[models.refs]\nbackend="recorded"\npath="refs.tsv"\n')
    result = run(
        pytester, "--gnt-data", str(shared_data), "--collect-only", "--rootdir=.", str(SUITES / "test_ambgimt.py")
    )
    ids = [line.partition("[")[2].rstrip("]") for line in result.outlines if "test_identity_is_kept[" in line]
    authentic = [identifier for identifier in ids if "/authentic/" in identifier]
    assert len(authentic) == 4200
    hypotheses = (folder / "DictExample_convert_sents.AllType.hypo.zh").read_text(encoding="utf-8").split("\n")
    rows = [
        {"case_id": f"ambgimt/{identifier}", "translation": text}
        for identifier, text in zip(authentic, hypotheses, strict=False)
    ]
    write_table(pytester.path / "refs.tsv", ["case_id", "translation"], rows)
    result = run(
        pytester,
        "--gnt-model=refs",
        f"--gnt-data={shared_data}",
        "--gnt-attitude-model=none",
        "--gnt-max-unscored-rate=1",
        "--rootdir=.",
        "-k",
        "authentic",
        str(SUITES / "test_ambgimt.py"),
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = summary(pytester)
    corpus = found["corpora"][0]
    assert corpus["rows_read"] == 4200 + 2578
    assert corpus["refused"] == 0
    assert corpus["selected"] == 4200
    notes = " ".join(corpus["notes"])
    assert "298 sentences" in notes
    assert "300 blocks" in notes
    assert "repeat" in notes
    identity = [row for row in found["rates"] if row["test"] == "test_identity_is_kept" and "identity" in row["by"]]
    assert sum(row["passed"] + row["failed"] + row["unscored"] for row in identity) == 4200
    by_name = {row["by"]["identity"]: row for row in identity}
    assert len(by_name) == 14
    # Seven blocks have references that name no identity; all other references name theirs.
    assert by_name["trans woman"]["failed"] == by_name["queer"]["failed"] == 7
    bleu = [row for row in found["means"] if row["metric"] == "bleu" and "identity" in row["by"]]
    assert all(row["mean"] == pytest.approx(100.0) for row in bleu), "the references against themselves"
    every, authentic = found["tables"]
    assert (every["subset"], authentic["subset"], every["cases"]) == ("all", "authentic", 4200)
    for metric in authentic["quality"]:
        assert [(row["n"], row["unscored"]) for row in metric["rows"]] == [(300, 0)] * 14
        assert (metric["mean"], metric["sd"], metric["gap_mean"]) == pytest.approx((100, 0, 0), abs=1e-6)


def test_two_commercial_systems_on_winomt(pytester: pytest.Pytester, shared_data: Path) -> None:
    with (shared_data / "winomt/winomt.en-es.aws_google.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    gender = {"female": "F", "male": "M"}
    gold = [row for row in rows if row["system"] == "aws"]
    table = [
        {"id": row["idx"], "source": row["src"], "set": "Set-G", "gender": gender.get(row["gender"], row["gender"])}
        for row in gold
    ]
    write_table(pytester.path / "winomt.tsv", ["id", "source", "set", "gender"], table)
    recorded = [
        {"system": row["system"], "case_id": f"winomt/en-es/{row['idx']}", "translation": row["tgt"]} for row in rows
    ]
    write_table(pytester.path / "systems.tsv", ["system", "case_id", "translation"], recorded)
    pytester.path.joinpath("gnt.toml").write_text(
        '[corpora.winomt]\npath="winomt.tsv"\nlang="es"\n'
        '[models.aws]\nbackend="recorded"\npath="systems.tsv"\nsystem="aws"\n'
        '[models.google]\nbackend="recorded"\npath="systems.tsv"\nsystem="google"\n'
    )
    pytester.makepyfile(
        test_winomt="from pytest_gnt import assert_correctly_gendered, cases\n\n"
        '@cases("winomt", sets=["Set-G"])\ndef test_gender_is_kept(judgement):\n'
        "    assert_correctly_gendered(judgement)\n"
    )
    rates = {}
    for system in ("aws", "google"):
        result = run(pytester, f"--gnt-model={system}", "test_winomt.py")
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        found = summary(pytester)
        corpus = found["corpora"][0]
        assert corpus["rows_read"] == 3888
        assert corpus["cases"] + corpus["refused"] == 3888
        assert corpus["refused"] == sum(row["gender"] not in gender for row in gold)
        counts = found["counts"]
        assert counts["passed"] + counts["failed"] + counts["unscored"] == corpus["cases"]
        rates[system] = counts["passed"] / (counts["passed"] + counts["failed"])
        by_gender = {row["by"]["gender"]: row["rate"] for row in found["rates"] if "gender" in row["by"]}
        assert by_gender["M"] > by_gender["F"], "both systems are known to favour masculine forms"
    assert 0.3 < min(rates.values()) < max(rates.values()) < 0.95
