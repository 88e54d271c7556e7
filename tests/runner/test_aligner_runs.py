"""Runs with an aligner that links words by a model, on the shipped sample and a tiny BERT."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_gnt.config import load_config
from pytest_gnt.corpora.attitude_words import SAMPLE_RENDERINGS_FILE, renderings
from pytest_gnt.errors import GntError
from pytest_gnt.runner.aligners import set_up_aligner
from tests.runner.conftest import SUITES
from tests.tiny_models import save_bert

pytest.importorskip("awesome_align", reason="the align extra is not installed")
pytest.importorskip("transformers", reason="a checkpoint has to be made")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Knows the meanings of the sample's attitude words, by the characters of their Chinese renderings."""
    rows = SAMPLE_RENDERINGS_FILE.read_text(encoding="utf-8").splitlines()[1:]
    taken: set[str] = set()
    meanings = []
    for word in dict.fromkeys(row.split("\t")[0] for row in rows):
        fresh = [char for form in renderings(word, "zh") for char in form if char not in taken]
        taken.update(fresh)
        meanings.append([word, *dict.fromkeys(fresh)])
    return save_bert(tmp_path_factory.mktemp("bert") / "bert", meanings)


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(
        *("-p", "no:cacheprovider", "--tb=no", "-q", "--rootdir", str(pytester.path), "--gnt-model=sample-v1"),
        *arguments,
        str(SUITES / "test_ambgimt.py"),
        timeout=300,
    )


def summary(pytester: pytest.Pytester) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((pytester.path / "gnt-report/report.json").read_text(encoding="utf-8"))
    return data


def attitudes(pytester: pytest.Pytester) -> dict[str, dict[str, Any]]:
    lines = (pytester.path / "gnt-report/cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


def configure(pytester: pytest.Pytester, bert: Path, more: str = "") -> None:
    pytester.path.joinpath("gnt.toml").write_text(
        f'[aligners.tiny]\nkind = "awesome"\nmodel = "{bert}"\nlayer = 2\nthreshold = 0.2\n'
        f'segmenter = "characters"\ndevice = "cpu"\n{more}',
        encoding="utf-8",
    )


def stage(found: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((row for row in found["stages"] if row["stage"] == name), None)


def test_words_are_linked_once_and_the_lexicon_comes_first_where_it_is_asked_to(
    pytester: pytest.Pytester, bert: Path
) -> None:
    configure(pytester, bert, '[aligners.both]\nkind = "lexicon"\notherwise = "tiny"\n')
    run(pytester, "--gnt-aligner=tiny", "-n", "2")
    first, cases = summary(pytester), attitudes(pytester)
    translated = sum(record["translation"]["text"] is not None for record in cases.values())
    assert stage(first, "align")["computed"] == translated == 167
    assert "|aligner:tiny@" in first["signature"]["ambgimt"]
    known = [
        record
        for record in cases.values()
        if any(form in (record["translation"]["text"] or "") for form in renderings(record["attitude_word"], "zh"))
    ]
    linked = [
        record
        for record in known
        if any(form in record["attitude"]["target_words"] for form in renderings(record["attitude_word"], "zh"))
    ]
    assert len(known) > 140
    assert len(linked) > 0.8 * len(known)
    assert all("identity_words" in record["attitude"] for record in linked)

    run(pytester, "--gnt-aligner=tiny", "--gnt-update-baseline")
    again = summary(pytester)
    assert stage(again, "align")["computed"] == 0
    assert (again["counts"], again["signature"]) == (first["counts"], first["signature"])
    assert attitudes(pytester) == cases

    result = run(pytester, "--gnt-baseline=sample-v1")
    alone = attitudes(pytester)
    assert stage(summary(pytester), "align") is None
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "the aligner differs" in json.dumps(summary(pytester)["baseline"])

    run(pytester, "--gnt-aligner=both")
    both = attitudes(pytester)
    unaligned = {name for name, record in alone.items() if record["attitude"]["reason"] == "unaligned"}
    asked = stage(summary(pytester), "align")
    assert (asked["requested"] if asked else 0) == len(unaligned)
    assert {name: record["attitude"] for name, record in both.items() if name not in unaligned} == {
        name: record["attitude"] for name, record in alone.items() if name not in unaligned
    }


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('[aligners.a]\nkind = "lexicon"\nlayer = 3\n', "layer is not for aligners of kind lexicon"),
        ('[aligners.a]\nkind = "awesome"\notherwise = "lexicon"\n', "otherwise is not for aligners of kind awesome"),
        ('[aligners.a]\nkind = "awesome"\nthreshold = 2.0\n', "threshold"),
        ('[aligners.a]\nkind = "lexicon"\notherwise = "a"\n', "must name an aligner that has no other"),
        ('[aligners.a]\nkind = "lexicon"\notherwise = "lexicon+e5"\n', "must name an aligner that has no other"),
        ('[aligners.a]\nkind = "awesome"\nmodel = "/no/such/folder"\n', "there is no model folder '/no/such/folder'"),
        ("", "unknown aligner 'a'"),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, toml: str, message: str) -> None:
    tmp_path.joinpath("gnt.toml").write_text(toml, encoding="utf-8")
    with pytest.raises(GntError, match=re.escape(message)):
        set_up_aligner(load_config(tmp_path), "a").label({"zh"})


def test_an_unknown_aligner_is_a_usage_error(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--gnt-aligner=lexcon")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unknown aligner 'lexcon'. Did you mean lexicon*"])


def test_a_lost_identity_shows_what_its_term_became(pytester: pytest.Pytester, bert: Path) -> None:
    configure(pytester, bert)
    pytester.path.joinpath("test_mine.py").write_text(
        "from pytest_gnt import assert_identity_kept, cases\n"
        '@cases("ambgimt")\n'
        "def test_identity_is_kept(translation, attitude):\n"
        "    assert_identity_kept(translation, attitude)\n"
    )
    pytester.runpytest_subprocess(
        *("-p", "no:cacheprovider", "-q", "--gnt-model=sample-v1", "--gnt-aligner=tiny", "test_mine.py"), timeout=300
    )
    messages = [
        test["message"]
        for record in attitudes(pytester).values()
        for test in record["tests"].values()
        if test["outcome"] == "failed"
    ]
    assert messages
    assert all(" was replaced: " in one or " was dropped: " in one for one in messages)
    assert all("; its term is aligned to " in one.splitlines()[0] for one in messages)


@pytest.mark.parametrize(("text", "told"), [("她很卑鄙。", 1), ("她很勇敢。", 0)])
def test_a_run_says_that_a_list_does_not_find_every_word(pytester: pytest.Pytester, text: str, told: int) -> None:
    pytester.path.joinpath("house.tsv").write_text(
        "id\tsource\tidentity\tattitude_word\tattitude_renderings\n1\tThe woman is brave.\twoman\tbrave\t勇敢\n",
        encoding="utf-8",
    )
    pytester.path.joinpath("mine.tsv").write_text(f"case_id\ttranslation\nhouse/en-zh/1\t{text}\n", encoding="utf-8")
    pytester.path.joinpath("gnt.toml").write_text(
        '[corpora.house]\npath = "house.tsv"\nlang = "zh"\n[models.mine]\nbackend = "recorded"\npath = "mine.tsv"\n'
    )
    pytester.path.joinpath("test_house.py").write_text(
        "from pytest_gnt import assert_attitude_kept, cases\n"
        '@cases("house")\n'
        "def test_attitude(attitude):\n"
        "    assert_attitude_kept(attitude)\n"
    )
    options = ("--gnt-model=mine", "--gnt-attitude-model=recorded")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q", *options, timeout=120)
    assert result.ret in (0, 1), result.stdout.str()
    assert sum("a list of known renderings" in note for note in summary(pytester)["notes"]) == told


def test_keywords_reach_the_reports(pytester: pytest.Pytester) -> None:
    pytest.importorskip("jieba")
    rows, sources = [], []
    for number in range(24):
        for identity, term in (("woman", "女人"), ("queer", "酷儿"), ("man", "男人")):
            word = "狡猾" if identity == "queer" and number % 2 else "聪明"
            name = f"s{number}-{identity}"
            sources.append(f"{name}\tThe {identity} is clever {number}.\t{identity}\ts{number}")
            rows.append(f"house/en-zh/{name}\t这位{term}{word}，第{number}天。")
    pytester.path.joinpath("house.tsv").write_text(
        "id\tsource\tidentity\tgroup\n" + "\n".join(sources) + "\n", encoding="utf-8"
    )
    pytester.path.joinpath("mine.tsv").write_text("case_id\ttranslation\n" + "\n".join(rows) + "\n", encoding="utf-8")
    pytester.path.joinpath("gnt.toml").write_text(
        '[corpora.house]\npath = "house.tsv"\nlang = "zh"\n[models.mine]\nbackend = "recorded"\npath = "mine.tsv"\n'
    )
    pytester.path.joinpath("test_house.py").write_text(
        "from pytest_gnt import assert_identity_kept, cases\n"
        '@cases("house")\n'
        "def test_identity_is_kept(translation):\n"
        "    assert_identity_kept(translation)\n"
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q", "--gnt-model=mine", timeout=120)
    assert result.ret == 0, result.stdout.str()
    (row,) = summary(pytester)["keywords"]
    assert (row["corpus"], row["lang"], row["identity"]) == ("house", "zh", "queer")
    assert [(word["word"], word["count"], word["others"]) for word in row["words"]] == [("狡猾", 12, 0)]
    assert "| queer | zh | 狡猾 12:0 |" in (pytester.path / "gnt-report/report.md").read_text(encoding="utf-8")
    assert "狡猾" in (pytester.path / "gnt-report/report.html").read_text(encoding="utf-8").split('id="keywords"')[1]
