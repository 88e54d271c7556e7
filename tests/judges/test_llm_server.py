"""The judge and ``gnt judge-eval`` through an OpenAI-compatible server that replays the published annotations."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from llm_scripts import NEUTRAL, verdict
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from pytest_gnt.cli import main
from pytest_gnt.verdicts.calibration import read_calibration
from tests.stub_server import StubReply, StubRequest, StubServer, chat, error, serve

LANGS = ("it", "es", "de", "el")

CONFIG = """
[models.scripted]
backend = "openai"
model = "judge-model"
base_url = "{url}"
retries = 0
timeout = 5.0

[judges.scripted]
kind = "llm"
model = "scripted"

[judges.published]
kind = "llm"
model = "scripted"
prompt_dir = "prompts"
"""

Rows = list[tuple[str, str, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[StubServer], Path]:
    def write(server: StubServer) -> Path:
        (tmp_path / "gnt.toml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0000-not-real")
        return tmp_path

    return write


def read_rows(folder: Path) -> Rows:
    """Source, translation and annotation of every published row, by splitting at tabs and nothing else."""
    rows: Rows = []
    for lang in LANGS:
        lines = (folder / "neutreval" / f"shots_{lang}_cross-p_l.tsv").read_text(encoding="utf-8").splitlines()[1:]
        rows += [tuple(line.split("\t")) for line in lines]  # type: ignore[misc]
    return rows


def label_in(annotation: str) -> str:
    return re.findall(r'"label":\s*"([A-Z ]+)"', annotation)[0]


def gold_arguments(folder: Path) -> list[str]:
    return [f"{lang}={folder / 'neutreval' / f'shots_{lang}_cross-p_l.tsv'}" for lang in LANGS]


def replay(rows: Rows, shift: Callable[[int], int]) -> Callable[[StubRequest], StubReply]:
    """Answer a request with the annotation of its own row, or of one a few rows on."""
    places = {(source, text): place for place, (source, text, _) in enumerate(rows)}

    def script(request: StubRequest) -> StubReply:
        asked = json.loads(request.user)
        place = places[asked["source"], asked["translation"]]
        return chat(rows[(place + shift(place)) % len(rows)][2])

    return script


@pytest.mark.parametrize(
    ("name", "shift"),
    [("exact", lambda place: 0), ("every third wrong", lambda place: 2 if place % 3 == 0 else 0)],
)
def test_replayed_annotations_give_the_figures_that_they_imply(
    shared_data: Path, project: Callable[[StubServer], Path], name: str, shift: Callable[[int], int]
) -> None:
    rows = read_rows(shared_data)
    gold = [label_in(annotation) for _, _, annotation in rows]
    judged = [label_in(rows[(place + shift(place)) % len(rows)][2]) for place in range(len(rows))]
    with serve(replay(rows, shift)) as server:
        folder = project(server)
        arguments = ["judge-eval", "--gold", *gold_arguments(shared_data), "--judge", "scripted", "--out", "c.json"]
        assert main(arguments) == 0
        asked = len(server.requests)
        assert asked == 32
        assert main(arguments) == 0
        assert len(server.requests) == asked, "a second measurement asks nothing"
    made = read_calibration(folder / "c.json")
    cells = list(made.by_lang().values())
    whole = sum(cells[1:], start=cells[0])
    from pytest_gnt.verdicts.agreement import quality

    found = quality(whole)
    assert (found["n"], found["unscored"]) == (32, 0)
    assert found["accuracy"] == accuracy_score(gold, judged)
    assert found["macro_f1"] == pytest.approx(f1_score(gold, judged, average="macro"), abs=1e-15)
    assert found["kappa"] == pytest.approx(cohen_kappa_score(gold, judged), abs=1e-15)
    assert (found["accuracy"] == 1.0) is (name == "exact")
    for place, lang in enumerate(LANGS):
        part = slice(8 * place, 8 * place + 8)
        row = next(row for row in made.rows() if row["lang"] == lang)
        assert row["accuracy"] == accuracy_score(gold[part], judged[part])
        assert row["macro_f1"] == pytest.approx(f1_score(gold[part], judged[part], average="macro"), abs=1e-15)


def test_gold_files_can_be_given_one_by_one(shared_data: Path, project: Callable[[StubServer], Path]) -> None:
    rows = read_rows(shared_data)
    one_by_one = [text for named in gold_arguments(shared_data) for text in ("--gold", named)]
    with serve(replay(rows, lambda _: 0)) as server:
        folder = project(server)
        assert main(["judge-eval", *one_by_one, "--judge", "scripted", "--out", "c.json"]) == 0
    assert [row["lang"] for row in read_calibration(folder / "c.json").rows()] == sorted(LANGS)


@pytest.mark.parametrize("name", ["lexicon", "scripted"])
def test_the_printed_table_makes_a_judge_calibrated(
    project: Callable[[StubServer], Path], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    with serve(by_text(lambda number: NEUTRAL if number < 6 else WRONG)) as server:
        folder = project(server)
        assert main(["judge-eval", "--gold", str(write_gold(folder, GOLD)), "--judge", name, "--out", "c.json"]) == 0
        table = tomllib.loads(capsys.readouterr().out.partition("gnt.toml:\n")[2])["judges"][name]
        own = tomllib.loads(CONFIG.format(url=server.url))["judges"].get(name, {"kind": "lexicon"})
    assert table == {**own, "calibration": "c.json"}


def write_gold(
    folder: Path, rows: list[tuple[str, ...]], header: str = "source\ttranslation\tlabel\tlang\tset"
) -> Path:
    path = folder / "gold.tsv"
    path.write_text("\n".join([header, *("\t".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return path


GOLD: list[tuple[str, ...]] = [
    (f"Sentence {number} about them.", f"Frase numero {number}.", label, "it", "Set-N")
    for number, label in enumerate(["NEUTRAL"] * 6 + ["WRONGLY GENDERED"] * 4)
]


def by_text(answer: Callable[[int], str]) -> Callable[[StubRequest], StubReply]:
    """Answer by the number in the sentence, wherever in the conversation it stands."""
    return lambda request: chat(answer(number_in(request)))


def number_in(request: StubRequest) -> int:
    return int(re.findall(r"Frase numero (\d+)", json.dumps(request.body["messages"]))[-1])


WRONG = verdict("WRONGLY GENDERED", ("Frase", "M", "wrong"))


def test_request_carries_schema_prompt_and_temperature(project: Callable[[StubServer], Path]) -> None:
    with serve(by_text(lambda _: NEUTRAL)) as server:
        path = write_gold(project(server), GOLD[:1])
        assert main(["judge-eval", "--gold", str(path), "--judge", "scripted"]) == 0
        (request,) = server.requests
    body = request.body
    assert body["temperature"] == 0
    assert [turn["role"] for turn in body["messages"]] == ["system", *(["user", "assistant"] * 8), "user"]
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["label"]["enum"] == ["CORRECTLY GENDERED", "WRONGLY GENDERED", "NEUTRAL"]


def test_report_says_sets_refused_rows_and_unscored(
    project: Callable[[StubServer], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(by_text(lambda number: "no verdict" if number == 9 else NEUTRAL if number < 7 else WRONG)) as server:
        rows = [*GOLD, ("Bad label.", "Frase numero 90.", "MAYBE", "it", "Set-N"), ("Empty.", "", "NEUTRAL", "it", "")]
        path = write_gold(project(server), rows)
        assert main(["judge-eval", "--gold", str(path), "--judge", "scripted"]) == 0
    text = capsys.readouterr().out
    assert "12 rows read = 10 used + 2 refused" in text
    assert "gold.tsv:12: the label 'MAYBE' is none of" in text
    assert "gold.tsv:13: translation is empty" in text
    assert "it Set-N: 9 judged, 1 unscored" in text
    assert "accuracy 0.889" in text
    assert "unscored: invalid-verdict 1" in text


def test_two_judges_are_compared_on_the_same_translations(
    project: Callable[[StubServer], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    def script(request: StubRequest) -> StubReply:
        number = number_in(request)
        old = request.body["messages"][0]["content"] == "Old prompt"
        right = NEUTRAL if number < 6 else WRONG
        return chat({NEUTRAL: WRONG, WRONG: NEUTRAL}[right] if old and number < 3 else right)

    with serve(script) as server:
        folder = project(server)
        (folder / "prompts" / "prompts" / "it").mkdir(parents=True)
        (folder / "prompts" / "prompts" / "it" / "cross-p_l").write_text("Old prompt", encoding="utf-8")
        path = write_gold(folder, GOLD)
        assert main(["judge-eval", "--gold", str(path), "--judge", "published", "--against", "scripted"]) == 0
    text = capsys.readouterr().out
    assert "published against scripted on the same 10 translations" in text
    assert "same label 0.700" in text
    assert "where they differ published is right 0 times, scripted 3 times (McNemar p = 0.25)" in text
    assert "gold.tsv:2: WRONGLY GENDERED / NEUTRAL" in text
    assert "note: " in text
    assert "no examples for it" in text


def test_translations_without_labels_can_be_compared(
    project: Callable[[StubServer], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(by_text(lambda number: NEUTRAL if number % 2 else WRONG)) as server:
        path = write_gold(project(server), [row[:2] for row in GOLD], "source\ttranslation")
        assert main(["judge-eval", "--gold", f"it={path}", "--judge", "scripted", "--against", "lexicon"]) == 0
        assert main(["judge-eval", "--gold", f"it={path}", "--judge", "scripted"]) == 2
    captured = capsys.readouterr()
    assert "scripted against lexicon on the same 10 translations" in captured.out
    assert "no column label or gold or out" in captured.err


def test_two_gold_labels_are_compared_in_two_classes(project: Callable[[StubServer], Path]) -> None:
    rows = [(*row[:2], "GENDERED" if row[2] != "NEUTRAL" else row[2], *row[3:]) for row in GOLD]
    with serve(by_text(lambda number: NEUTRAL if number < 6 else WRONG)) as server:
        folder = project(server)
        path = write_gold(folder, rows)
        assert main(["judge-eval", "--gold", str(path), "--judge", "scripted", "--out", "c.json"]) == 0
    made = read_calibration(folder / "c.json")
    assert made.labels == ("GENDERED", "NEUTRAL")
    assert made.rows()[0]["accuracy"] == 1.0


def test_judges_that_do_not_see_the_source_are_measured_in_two_classes(project: Callable[[StubServer], Path]) -> None:
    with serve(by_text(lambda number: json.dumps({"label": "NEUTRAL" if number < 5 else "GENDERED"}))) as server:
        folder = project(server)
        with (folder / "gnt.toml").open("a", encoding="utf-8") as stream:
            stream.write('\n[judges.blind]\nkind = "llm"\nmodel = "scripted"\nsetting = "mono-l"\n')
        rows = [*GOLD, ("Mrs Rossi reads.", "Frase numero 10.", "CORRECTLY GENDERED", "it", "Set-G")]
        path = write_gold(folder, rows)
        assert main(["judge-eval", "--gold", str(path), "--judge", "blind", "--out", "c.json"]) == 0
        assert "Sentence" not in server.requests[0].user
    made = read_calibration(folder / "c.json")
    assert made.labels == ("GENDERED", "NEUTRAL")
    assert made.rows()[0]["accuracy"] == 10 / 11


def test_a_judge_that_is_down_is_one_message(
    project: Callable[[StubServer], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(lambda _: error(500, "the engine is on fire")) as server:
        path = write_gold(project(server), GOLD)
        assert main(["judge-eval", "--gold", str(path), "--judge", "scripted"]) == 2
        assert len(server.requests) <= 40
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "sk-test" not in captured.err + captured.out


def test_a_wrong_key_is_one_message_without_the_key(
    project: Callable[[StubServer], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(lambda _: error(401, "bad key sk-test-0000-not-real")) as server:
        path = write_gold(project(server), GOLD)
        assert main(["judge-eval", "--gold", str(path), "--judge", "scripted"]) == 2
    captured = capsys.readouterr()
    assert "sk-test" not in captured.err + captured.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gold", "nowhere.tsv"], "nowhere.tsv"),
        (["--gold", "gold.tsv", "--judge", "scriptd"], "Did you mean"),
        (["--gold", "gold.tsv", "--judge-prompt-dir", "."], "is for judges of kind llm"),
        (["--gold", "gold.tsv", "--judge", "scripted", "--judge-prompt-dir", "nowhere"], "does not exist"),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    project: Callable[[StubServer], Path], capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with serve(by_text(lambda _: NEUTRAL)) as server:
        write_gold(project(server), GOLD)
        assert main(["judge-eval", *arguments]) == 2
        assert not server.requests
    assert message in capsys.readouterr().err
