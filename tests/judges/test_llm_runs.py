"""Whole runs of the public command line with an LLM judge: behind a server, by several votes, on a tiny real model."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llm_scripts import verdict

from pytest_gnt.config.files import load_config
from pytest_gnt.errors import GntError
from pytest_gnt.runner.judges import set_up_judge
from tests.stub_server import StubReply, StubRequest, StubServer, chat, error, serve

SUITE = """
from pytest_gnt import assert_correctly_gendered, assert_form, assert_neutral, cases

@cases("house", sets=["Set-N"])
def test_neutral(judgement):
    assert_neutral(judgement)

@cases("house", sets=["Set-G"])
def test_gendered(judgement):
    assert_correctly_gendered(judgement)

@cases("house", sets=["Set-G"])
def test_form(judgement):
    assert_form(judgement)
"""

CONFIG = """
[corpora.house]
path = "house.tsv"
lang = "it"

[models.mine]
backend = "recorded"
path = "mine.tsv"

[models.served]
backend = "openai"
model = "judge-model"
base_url = "{url}"
retries = 0
concurrency = 4

[judges.scripted]
kind = "llm"
model = "served"
title = "a scripted judge"
"""

# Set-N cases 0-19 are translated by a neutral word and by a masculine one in turn; Set-G cases 20-29 by a feminine one.
NEUTRAL_WORD, MASCULINE, FEMININE = "Chi insegna", "Il maestro", "La maestra"


def word(number: int) -> str:
    return FEMININE if number >= 20 else (NEUTRAL_WORD, MASCULINE)[number % 2]


def honest(request: StubRequest) -> StubReply:
    """A judge that is always right about these words."""
    sent = json.dumps(request.body["messages"][17:], ensure_ascii=False)
    if MASCULINE in sent:
        return chat(verdict("WRONGLY GENDERED", (MASCULINE, "M", "wrong")))
    if FEMININE in sent:
        return chat(verdict("CORRECTLY GENDERED", (FEMININE, "F", "correct")))
    return chat(verdict("NEUTRAL", (NEUTRAL_WORD, "N", "correct")))


class Project:
    """A corpus of 30 sentences, a recorded system, a suite, and a judge behind a stub server."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        rows = ["id\tsource\tset\tgender"]
        hyps = ["case_id\ttranslation"]
        for number in range(30):
            gender = ("Set-G", "F") if number >= 20 else ("Set-N", "")
            person = "Mrs Rossi, the teacher," if number >= 20 else "The teacher"
            rows.append(f"{number}\t{person} reads page {number}.\t{gender[0]}\t{gender[1]}")
            hyps.append(f"house/en-it/{number}\t{word(number)} legge la pagina {number}.")
        self.write("house.tsv", "\n".join(rows) + "\n")
        self.write("mine.tsv", "\n".join(hyps) + "\n")
        self.write("test_house.py", SUITE)

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        return path

    def configure(self, url: str, more: str = "") -> None:
        self.write("gnt.toml", CONFIG.format(url=url) + more)

    def run(self, *arguments: str) -> pytest.RunResult:
        arguments = ("-p", "no:cacheprovider", "--gnt-model=mine", "--gnt-judge=scripted", *arguments)
        return self.pytester.runpytest_subprocess(*arguments, timeout=150)

    def summary(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((self.path / "gnt-report" / "report.json").read_text(encoding="utf-8"))
        return data

    def counted(self) -> tuple[int, int]:
        """Tests on cases that passed and that failed; gates are not among them."""
        counts = self.summary()["counts"]
        assert counts["unscored"] == 0
        return counts["passed"], counts["failed"]

    def cases(self) -> dict[str, dict[str, Any]]:
        lines = (self.path / "gnt-report" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
        return {record["id"]: record for record in map(json.loads, lines)}


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000-not-real")
    monkeypatch.chdir(pytester.path)
    return Project(pytester)


def test_run_with_a_served_judge(project: Project) -> None:
    with serve(honest) as server:
        project.configure(server.url)
        result = project.run()
        assert project.counted() == (30, 10)
        assert len(server.requests) == 30, "one request a case, whatever the number of tests"
        project.run("--gnt-max-unscored-rate=0.5")
        assert project.counted() == (30, 10)
        assert len(server.requests) == 30, "a changed gate asks no judge"
    text = result.stdout.str()
    assert "judge      scripted (a scripted judge)" in text
    assert "not calibrated" in text
    assert f"phrase       M  {MASCULINE}, against the source" in text
    assert "sk-test" not in text + result.stderr.str()
    assert re.search(r"judge:scripted@[0-9a-f]{8}", text)
    record = project.cases()["house/en-it/1"]
    assert record["judgement"]["label"] == "WRONGLY GENDERED"
    assert record["judgement"]["phrases"][0] == {"text": MASCULINE, "gender": "M", "correct": False, "note": ""}


def test_neutral_phrases_are_shown_where_gender_was_expected(project: Project) -> None:
    with serve(lambda _: chat(verdict("NEUTRAL", (FEMININE, "N", "correct")))) as server:
        project.configure(server.url)
        result = project.run("-k", "test_gendered and en-it/20")
    result.stdout.fnmatch_lines([f"*phrase       N  {FEMININE}, agrees with the source*"])


def test_workers_share_the_judge(project: Project) -> None:
    pytest.importorskip("xdist")
    with serve(honest) as server:
        project.configure(server.url)
        project.run("-n", "2")
        assert project.counted() == (30, 10)
        asked = Counter(json.dumps(request.body) for request in server.requests)
    assert len(asked) == 30
    assert set(asked.values()) == {1}, "no request is made twice"


def test_a_judge_that_is_down_is_one_usage_error(project: Project) -> None:
    with serve(lambda _: error(500, "no GPU left")) as server:
        project.configure(server.url)
        result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stdout.str() + result.stderr.str()
    assert text.count("no GPU left") == 1
    assert "sk-test" not in text


def test_unscored_verdicts_are_no_passes_and_gate_the_run(project: Project) -> None:
    def script(request: StubRequest) -> StubReply:
        reply = honest(request)
        return chat('{"phrases": [], "label": "NEUTRAL"}') if NEUTRAL_WORD in json.dumps(reply.body) else reply

    with serve(script) as server:
        project.configure(server.url)
        result = project.run("-k", "not test_form and (en-it/0] or en-it/2])")
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        result.stdout.fnmatch_lines(["unscored: invalid-verdict 2", "RED: 100.0% of the tests could not be decided*"])
        assert [request.body["temperature"] for request in server.requests].count(0.2) == 2
    record = project.cases()["house/en-it/0"]["judgement"]
    assert (record["label"], record["reason"]) == (None, "invalid-verdict")


def test_error_kinds_of_the_translator_are_not_judged(project: Project) -> None:
    text = (project.path / "mine.tsv").read_text(encoding="utf-8").splitlines()
    text[1] = "house/en-it/0\tThe teacher reads page 0."  # a copy of the source
    text[3] = "house/en-it/2\tMi dispiace, non posso aiutare con questa richiesta."
    project.write("mine.tsv", "\n".join(text) + "\n")
    with serve(honest) as server:
        project.configure(server.url)
        project.run("-k", "test_neutral")
        sent = [request.user for request in server.requests]
    assert len(sent) == 18
    reasons = {name: project.cases()[name]["judgement"]["reason"] for name in ("house/en-it/0", "house/en-it/2")}
    assert reasons == {"house/en-it/0": "source-copy", "house/en-it/2": "refusal"}


def test_votes_and_their_agreement(project: Project) -> None:
    def script(request: StubRequest) -> StubReply:
        if request.body["seed"] == 2 and "pagina 0." in request.user:
            return chat(verdict("WRONGLY GENDERED", (NEUTRAL_WORD, "M", "wrong")))
        return honest(request)

    with serve(script) as server:
        project.configure(server.url, "votes = 3\ntemperature = 0.7\n")
        project.run("-k", "test_neutral")
        assert project.counted() == (10, 10)
        assert len(server.requests) == 60
    assert project.cases()["house/en-it/0"]["judgement"]["votes"] == ["NEUTRAL", "NEUTRAL", "WRONGLY GENDERED"]
    agreement = project.summary()["judge"]["agreement"]
    assert (agreement["cases"], agreement["unanimous"]) == (20, 0.95)
    assert project.summary()["judge_flags"] == {"divided-vote": 1}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("votes = 3\n", "set temperature"),
        ("votes = 4\nvotes_needed = 2\ntemperature = 0.7\n", "more than half"),
        ('setting = "cross"\n', "setting"),
        ('[judges.words]\nkind = "lexicon"\nvotes = 3\n', "votes is for judges of kind llm"),
        ('prompt_dir = "nowhere"\n', "does not exist"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_loaded(project: Project, more: str, message: str) -> None:
    project.configure("http://127.0.0.1:9/v1", more)
    with pytest.raises(GntError, match=message):
        set_up_judge(load_config(project.path), "words" if "words" in more else "scripted")


def test_wrong_settings_are_usage_errors(project: Project) -> None:
    with serve(honest) as server:
        project.configure(server.url, 'calibration = "none.json"\n')
        result = project.run()
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert not server.requests
    assert "gnt judge-eval" in result.stdout.str() + result.stderr.str()


def test_models_that_cannot_be_prompted_are_no_judges(project: Project) -> None:
    project.configure("http://127.0.0.1:9/v1", '[judges.odd]\nkind = "llm"\nmodel = "mine"\n')
    with pytest.raises(GntError, match="cannot be prompted"):
        set_up_judge(load_config(project.path), "odd")


def test_published_prompts_by_option(project: Project) -> None:
    folder = project.path / "published" / "prompts" / "it"
    folder.mkdir(parents=True)
    (folder / "cross-p_l").write_text("The published text.", encoding="utf-8")
    with serve(lambda _: chat(verdict("NEUTRAL", (NEUTRAL_WORD, "N", "correct")))) as server:
        project.configure(server.url)
        result = project.run("--gnt-judge-prompt-dir=published", "-k", "en-it/0]")
        (request,) = server.requests
    assert request.body["messages"] == [
        {"role": "system", "content": "The published text."},
        {"role": "user", "content": "Source: The teacher reads page 0.\nTarget: Chi insegna legge la pagina 0."},
    ]
    result.stdout.fnmatch_lines(["*note: *there are no examples for it*"])


def careless(request: StubRequest) -> StubReply:
    """A judge that takes the masculine for neutral on every fifth page."""
    page = int(re.findall(r"pagina (\d+)", json.dumps(request.body["messages"]))[-1])
    if page % 5 == 1 and MASCULINE in json.dumps(request.body["messages"][17:], ensure_ascii=False):
        return chat(verdict("NEUTRAL", (MASCULINE, "N", "correct")))
    return honest(request)


def write_gold(project: Project) -> Path:
    """Forty labelled sentences of each kind, on pages that the run does not have."""
    rows = ["source\ttranslation\tlabel\tlang\tset"]
    for page in range(100, 180):
        label, chosen = ("NEUTRAL", NEUTRAL_WORD) if page % 2 else ("WRONGLY GENDERED", MASCULINE)
        rows.append(f"The teacher reads page {page}.\t{chosen} legge la pagina {page}.\t{label}\tit\tSet-N")
    return project.write("gold.tsv", "\n".join(rows) + "\n")


@pytest.fixture
def calibrated(project: Project) -> Callable[[StubServer], None]:
    def make(server: StubServer) -> None:
        project.configure(server.url)
        arguments = [
            "judge-eval",
            "--gold",
            str(write_gold(project)),
            "--judge",
            "scripted",
            "--out",
            "calibration.json",
        ]
        # In a process of its own: modules with compiled parts cannot be loaded anew in this one.
        assert project.pytester.run(sys.executable, "-m", "pytest_gnt.cli", *arguments, timeout=100).ret == 0
        project.configure(server.url, 'calibration = "calibration.json"\n')

    return make


def test_calibrated_run_shows_quality_and_corrected_rates(
    project: Project, calibrated: Callable[[StubServer], None]
) -> None:
    with serve(careless) as server:
        calibrated(server)
        result = project.run("-k", "test_neutral")
    # Of the run's ten masculine translations two (pages 1 and 11) pass for neutral: 12 of 20 instead of 10.
    assert project.counted() == (12, 8)
    text = result.stdout.str()
    assert "it: accuracy 0.90 [" in text
    assert "on 80 of gold.tsv" in text
    (row,) = project.summary()["corrected"]
    assert row["sensitivity"] == 1.0
    assert row["specificity"] == 0.8
    assert row["rate"] == pytest.approx((0.6 + 0.8 - 1) / 0.8)
    assert row["low"] < 0.5 < row["high"]
    result.stdout.fnmatch_lines(["*it  Set-N  judged  60.0% of 20   corrected  50.0% *(it, Set-N)*"])


def test_calibration_of_other_settings_is_not_used(project: Project, calibrated: Callable[[StubServer], None]) -> None:
    with serve(careless) as server:
        calibrated(server)
        project.configure(server.url, 'calibration = "calibration.json"\nmax_tokens = 512\n')
        result = project.run("-k", "test_neutral")
    text = result.stdout.str()
    assert "not calibrated" in text
    assert "measured with other settings of this judge for it" in text
    assert project.summary()["corrected"] == []


@pytest.fixture(scope="module")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    from tests.tiny_models import save_llama

    return save_llama(tmp_path_factory.mktemp("judge") / "llama", window=16384)


def test_tiny_real_model_gives_valid_verdicts_or_reasons(
    tiny_llama: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # several threads hinder each other on a busy machine
    project.configure("http://127.0.0.1:9/v1")
    project.write(
        "gnt.toml",
        (project.path / "gnt.toml").read_text(encoding="utf-8")
        + f"max_tokens = 120\n\n[models.tiny]\nbackend = 'transformers'\nmodel = '{tiny_llama}'\ndtype = 'float32'\n"
        "device = 'cpu'\nbatch_size = 16\n\n[judges.tiny]\nkind = 'llm'\nmodel = 'tiny'\nmax_tokens = 120\n",
    )
    result = project.run("--gnt-judge=tiny", "-k", "test_neutral and en-it/1", "--gnt-max-unscored-rate=1")
    assert result.ret in (0, 1), result.stdout.str() + result.stderr.str()
    judgements = [record["judgement"] for record in project.cases().values()]
    assert len(judgements) == 11
    reasons = Counter(one["reason"] for one in judgements)
    for one in judgements:
        assert (one["label"] is None) == (one["reason"] is not None)
        if one["label"] is not None:
            assert one["phrases"]
    assert set(reasons) <= {None, "truncated", "contradiction", "invalid-verdict"}, reasons
