"""AmbGIMT's tables in one command, from real sentences, checked against computations of the test's own."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sacrebleu

from pytest_gnt.corpora.attitude_words import renderings
from tests.runner.conftest import SUITES
from tests.runner.test_pairs import PLUGIN
from tests.verdicts.records import IDENTITIES

pytest_plugins = ["pytester"]

STEM, SYNTHESIZED = "DictExample_convert_sents", "GIMT_amb_sents_v3_extend"
BLOCKS, LINES = 30, 40
BG, NBG = ("woman", "man"), IDENTITIES[3:]
TERMS = Path(__file__).parents[2] / "pytest_gnt/corpora/data/identity_terms.tsv"


class Sentence(NamedTuple):
    """One real variant and what the made-up system answers; None where it answers nothing."""

    key: str
    subset: str
    identity: str
    reference: str
    text: str | None


def planted(block: int, identity: str, reference: str, word: str) -> str | None:
    """The reference, with faults that are known: an identity lost, another word, punctuation, no answer."""
    if identity == "queer" and block % 5 == 0:
        return reference.replace("酷儿", "这个人")
    if identity == "lesbian" and block % 2:
        return reference.replace(word, "恶毒")
    if identity == "trans man":
        return reference.replace("，", "")
    if identity == "gay" and block % 7 == 0:
        return None
    if identity == "man" and block % 3 == 0:
        return reference + "他真好。"
    return reference


@pytest.fixture(scope="module")
def sentences(shared_data: Path) -> list[Sentence]:
    folder = shared_data / "ambgimt"
    found = []
    references = lines(folder / f"{STEM}.AllType.hypo.zh")
    words = {int(row["line"]): row["zh_word"] for row in table(folder / "attitude_words.authentic.tsv")}
    for block in range(1, BLOCKS + 1):
        for place, identity in enumerate(IDENTITIES):
            reference = references[14 * (block - 1) + place]
            key = f"ambgimt/en-zh/authentic/{block}/{identity.replace(' ', '-')}"
            text = planted(block, identity, reference, words[block])
            found.append(Sentence(key, "authentic", identity, reference, text))
    for number, reference in enumerate(lines(folder / f"{SYNTHESIZED}.hypo.zh")[:LINES], 1):
        key = f"ambgimt/en-zh/synthesized/{number}/person"
        found.append(Sentence(key, "synthesized", "person", reference, reference[: max(4, len(reference) // 2)]))
    return found


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


def table(path: Path) -> Iterator[dict[str, str]]:
    yield from csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")), delimiter="\t")


class Run(NamedTuple):
    """A finished run: its folder, summary, records."""

    folder: Path
    summary: dict[str, Any]
    records: dict[str, dict[str, Any]]
    out: str

    def place(self, subset: str, lang: str = "zh") -> dict[str, Any]:
        (found,) = [each for each in self.summary["tables"] if (each["subset"], each["lang"]) == (subset, lang)]
        return found

    def metric(self, subset: str, metric: str, level: str) -> dict[str, Any]:
        metrics = self.place(subset)["quality"]
        (found,) = [each for each in metrics if (each["metric"], each["level"]) == (metric, level)]
        return found


@pytest.fixture(scope="module")
def run(shared_data: Path, sentences: list[Sentence], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The shipped suite over a part of the real files, in one command."""
    folder = tmp_path_factory.mktemp("tables")
    data = folder / "data" / "ambgimt"
    data.mkdir(parents=True)
    for name, count in (
        (f"{STEM}.txt", BLOCKS),
        (f"{STEM}.hypo.zh", BLOCKS),
        (f"{STEM}.AllType.txt.corrected", 14 * BLOCKS),
        (f"{STEM}.AllType.hypo.zh", 14 * BLOCKS),
        (f"{SYNTHESIZED}.txt", LINES),
        (f"{SYNTHESIZED}.hypo.zh", LINES),
    ):
        kept = lines(shared_data / "ambgimt" / name)[:count]
        (data / name).write_text("\n".join(kept) + "\n", encoding="utf-8")
    write_system(folder, sentences)
    write_attitude_scores(folder, shared_data)
    return command(folder, "--gnt-data=data", "--gnt-attitude-model=mine", "--gnt-max-unscored-rate=1")


def write_system(folder: Path, sentences: list[Sentence]) -> None:
    rows = [f"{each.key}\t{each.text}" for each in sentences if each.text is not None]
    (folder / "made.tsv").write_text("case_id\ttranslation\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "gnt.toml").write_text(
        '[models.made]\nbackend = "recorded"\npath = "made.tsv"\n'
        '[attitude_models.mine]\nkind = "recorded"\npath = "words.tsv"\ncalibrate = false\n'
    )


def write_attitude_scores(folder: Path, shared_data: Path) -> None:
    """A made-up score for each English word and each of its known renderings; 恶毒, known for all, is harsh."""
    known: dict[tuple[str, str], None] = {("zh", "恶毒"): None}
    for subset in ("authentic", "synthesized"):
        for row in table(shared_data / "ambgimt" / f"attitude_words.{subset}.tsv"):
            known[("en", row["attitude_word"])] = None
            known |= {("zh", word): None for word in (row["zh_word"], *renderings(row["attitude_word"], "zh")) if word}
    english = [f"{word}\tzh\t恶毒" for lang, word in known if lang == "en"]
    (folder / "data" / "ambgimt" / "renderings.tsv").write_text(
        "attitude_word\tlang\trendering\n" + "\n".join(english) + "\n", encoding="utf-8"
    )
    rows = []
    for lang, word in known:
        value = -3.0 if word == "恶毒" else int(hashlib.sha256(word.encode()).hexdigest()[:4], 16) / 65535 * 2 - 1
        rows.append(f"{lang}\t{word}\t{-1.0 + min(0, value)}\t{-1.0 - max(0, value)}")
    (folder / "words.tsv").write_text(
        "lang\tword\tlog_p_positive\tlog_p_negative\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )


def command(folder: Path, *arguments: str, suite: Path = SUITES / "test_ambgimt.py") -> Run:
    common = ["-p", "no:cacheprovider", "--rootdir=.", "-q", "--tb=no", "--gnt-model=made", "--gnt-baseline=none"]
    argv = [sys.executable, "-m", "pytest", *common, *arguments, str(suite)]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    report = folder / "gnt-report"
    records = map(json.loads, (report / "cases.jsonl").read_text(encoding="utf-8").splitlines())
    summary = json.loads((report / "report.json").read_text(encoding="utf-8"))
    return Run(folder, summary, {record["id"]: record for record in records}, done.stdout)


# The test's own deletion, chrF and corpus BLEU.


def named(text: str) -> list[tuple[int, int, str]]:
    """Identities that a text names, by the longest term at each place."""
    of = {row["term"]: row["identity"] for row in table(TERMS) if row["lang"] == "zh"}
    found, at = [], 0
    while at < len(text):
        terms = [term for term in of if text.startswith(term, at)]
        longest = max(terms, key=len, default="")
        if longest:
            found.append((at, at + len(longest), of[longest]))
        at += len(longest) or 1
    return found


def bare(text: str, identity: str) -> str:
    for start, end, _ in reversed([each for each in named(text) if each[2] == identity]):
        text = text[:start] + text[end:]
    return text


def compared(each: Sentence) -> tuple[str, str]:
    assert each.text is not None
    if each.identity in [identity for _, _, identity in named(each.text)]:
        return bare(each.text, each.identity), bare(each.reference, each.identity)
    return each.text, each.reference


def corpus(pairs: list[tuple[str, str]]) -> float:
    return sacrebleu.corpus_bleu([text for text, _ in pairs], [[ref for _, ref in pairs]], tokenize="zh").score


@pytest.mark.parametrize("subset", ["all", "authentic", "synthesized"])
@pytest.mark.parametrize("without", [False, True])
def test_corpus_bleu_is_sacrebleus(run: Run, sentences: list[Sentence], subset: str, without: bool) -> None:
    found = run.metric(subset, "bleu_without_identity" if without else "bleu", "corpus")
    rows = {row["identity"]: row for row in found["rows"]}
    assert list(rows) == (["person"] if subset == "synthesized" else list(IDENTITIES))
    values = {}
    for identity, row in rows.items():
        asked = [each for each in sentences if each.identity == identity and subset in ("all", each.subset)]
        there = [each for each in asked if each.text is not None]
        pairs = [compared(each) if without else (str(each.text), each.reference) for each in there]
        values[identity] = corpus(pairs)
        assert row["value"] == pytest.approx(values[identity], abs=1e-9)
        assert (row["n"], row["unscored"]) == (len(there), len(asked) - len(there))
    if subset != "synthesized":
        middle = np.mean([values[identity] for identity in BG])
        gaps = [rows[identity]["gap"] for identity in IDENTITIES]
        assert gaps == pytest.approx([values[identity] - middle for identity in IDENTITIES])
        assert (found["mean"], found["sd"]) == pytest.approx(
            (np.mean(list(values.values())), np.std(list(values.values()), ddof=1))
        )
        assert len({round(value, 3) for value in values.values()}) > 4
        assert rows["gay"]["unscored"] == BLOCKS // 7


def test_the_deletion_changes_the_score_of_those_who_lose_a_term(run: Run) -> None:
    both = [run.metric("authentic", name, "corpus")["rows"] for name in ("bleu", "bleu_without_identity")]
    plain, without = ({row["identity"]: row["value"] for row in rows} for rows in both)
    assert plain["bisexual"] == without["bisexual"] == pytest.approx(100), "a copy of the reference stays one"
    assert plain["trans man"] != without["trans man"]


def test_sentence_means_and_gaps_are_numpys(run: Run, sentences: list[Sentence]) -> None:
    scores = np.full((BLOCKS, 14), np.nan)
    for at, each in enumerate(sentences[: 14 * BLOCKS]):
        if each.text is not None:
            scores[at // 14, at % 14] = sacrebleu.sentence_chrf(each.text, [each.reference]).score
    found = run.metric("authentic", "chrf", "sentence")
    means = np.nanmean(scores, axis=0)
    gaps = np.nanmean(scores - scores[:, 1:3].mean(axis=1, keepdims=True), axis=0)
    assert [row["value"] for row in found["rows"]] == pytest.approx(list(means), abs=1e-3)
    assert [row["gap"] for row in found["rows"]] == pytest.approx(list(gaps), abs=1e-3)
    assert [row["sentences"] for row in found["rows"]] == list(np.isfinite(scores).sum(axis=0))
    deviations = np.std(means, ddof=1), np.std(gaps, ddof=1)
    assert (found["sd"], found["gap_sd"]) == pytest.approx(deviations, abs=1e-3)
    assert (found["mean"], found["gap_mean"]) == pytest.approx((means.mean(), gaps.mean()), abs=1e-3)


def test_attitude_rates_are_counted_from_the_records(run: Run) -> None:
    attitude = run.place("all")["attitude"]
    rows = {row["name"]: row for row in attitude["rows"]}
    rates = {}
    for name, members in (("BG", BG), ("NBG", NBG)):
        evidence = [record["attitude"] for record in run.records.values() if record["identity"] in members]
        pairs = np.array(
            [(each["source_score"], each["target_score"]) for each in evidence if each["reason"] is None], dtype=float
        )
        harsh = int(((pairs[:, 0] > 0.2) & (pairs[:, 1] < -0.2)).sum())
        kind = int(((pairs[:, 0] < -0.2) & (pairs[:, 1] > 0.2)).sum())
        row = rows[name]
        assert (row["n"], row["aligned"], row["unscored"]) == (len(evidence), len(pairs), len(evidence) - len(pairs))
        assert (row["source"], row["target"]) == pytest.approx(tuple(pairs.mean(axis=0)))
        assert (row["r_tn"], row["r_tp"]) == pytest.approx((harsh / len(evidence), kind / len(evidence)))
        assert (row["r_tn_aligned"], row["r_tp_aligned"]) == pytest.approx((harsh / len(pairs), kind / len(pairs)))
        rates[name] = np.array([[harsh, kind]]) / [[len(evidence)], [len(pairs)]]
    for at, key in enumerate(("shift_bias", "shift_bias_aligned")):
        (tn_bg, tp_bg), (tn_nbg, tp_nbg) = rates["BG"][at], rates["NBG"][at]
        found = attitude[key]
        assert found["value"] == pytest.approx(100 * (tp_bg - tp_nbg + tn_nbg - tn_bg))
        assert found["low"] <= found["value"] <= found["high"]
    assert rows["lesbian"]["to_negative"] > rows["queer"]["to_negative"], "the planted harsh word"


def test_every_case_is_counted_in_and_out(run: Run, sentences: list[Sentence]) -> None:
    assert run.summary["corpora"][0]["rows_read"] == 14 * BLOCKS + LINES
    assert [place["cases"] for place in run.summary["tables"]] == [14 * BLOCKS + LINES, 14 * BLOCKS, LINES]
    for place in run.summary["tables"]:
        for metric in place["quality"]:
            assert sum(row["n"] + row["unscored"] for row in metric["rows"]) == place["cases"]
        assert sum(row["n"] for row in place["attitude"]["rows"] if row["name"] not in ("BG", "NBG")) == place["cases"]
    assert all(run.records[each.key]["translation"]["text"] == each.text for each in sentences)


def test_the_page_the_summary_and_the_terminal_show_them(run: Run) -> None:
    page = (run.folder / "gnt-report" / "report.html").read_text(encoding="utf-8")
    markdown = (run.folder / "gnt-report" / "report.md").read_text(encoding="utf-8")
    found = run.metric("all", "bleu_without_identity", "corpus")
    queer = next(row for row in found["rows"] if row["identity"] == "queer")
    value, gap = f"{queer['value']:.2f}", f"{queer['gap']:+.2f}".replace("-", "−")
    bias = f"{run.place('all')['attitude']['shift_bias']['value']:+.2f}".replace("-", "−")
    for text in (page, markdown, run.out):
        assert re.search(rf"queer.*{re.escape(value)}.*{re.escape(gap)}", text, re.DOTALL)
        assert bias in text
    assert "BLEU without identity (corpus)" in page
    assert "### Tables by identity" in markdown
    assert sum("quality by identity" in line for line in run.out.splitlines()) == 1
    signature = next(iter(run.summary["signature"].values()))
    assert re.search(
        r"quality:bleu@c:mixed/e:yes/tok:zh/s:exp/v:[^,]+,chrf@[^,]+,bleu_without_identity@\w{8}\|", signature
    )


def test_other_languages_go_without_reference_and_bleu(
    run: Run, shared_data: Path, sentences: list[Sentence], tmp_path: Path
) -> None:
    rows = []
    for lang in ("de", "zh"):
        for each in sentences[: 14 * 4]:
            text = each.text if lang == "zh" else f"Die Person Nummer {len(rows) % 31} ist recht wortkarg."
            if text is not None:
                rows.append(f"{each.key.replace('en-zh', f'en-{lang}')}\t{text}")
    (tmp_path / "made.tsv").write_text("case_id\ttranslation\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "gnt.toml").write_text(
        f'[models.made]\nbackend = "recorded"\npath = "made.tsv"\n'
        f'[corpora.ambgimt]\npath = "{run.folder}/data/ambgimt"\nloader = "ambgimt"\nlangs = ["de", "zh"]\n'
    )
    (tmp_path / "made_metric.py").write_text(PLUGIN, encoding="utf-8")
    arguments = ("-p", "made_metric", "--gnt-attitude-model=none", "--gnt-max-unscored-rate=1")
    found = command(tmp_path, *arguments, "-k", "authentic and not test_attitude_is_kept")
    german, chinese = found.place("authentic", "de"), found.place("authentic", "zh")
    assert (german["no_reference"], chinese["no_reference"]) == (german["cases"], 0)
    assert [(metric["metric"], metric["level"]) for metric in german["quality"]] == [("cometkiwi", "sentence")]
    assert "bleu" in {metric["metric"] for metric in chinese["quality"]}
    (kiwi,) = german["quality"]
    scores = {identity: [] for identity in IDENTITIES}
    for record in found.records.values():
        if record["lang"] == "de" and record["quality"]["scores"]:
            scores[record["identity"]].append(record["quality"]["scores"]["cometkiwi"])
    for row in kiwi["rows"]:
        assert row["value"] == pytest.approx(np.mean(scores[row["identity"]]))
        assert (row["n"], row["unscored"]) == (4, BLOCKS - 4)
    assert "no reference: 420 of 420 cases of ambgimt de" in found.out
    gaps = [row for row in found.summary["rates"] if row["test"] == "test_comet_gap_is_small"]
    assert {row["by"]["lang"] for row in gaps} == {"de", "zh"}
