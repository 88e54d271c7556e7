"""What cannot work is one message that says what to do, exit status 4, before any model is loaded."""

from __future__ import annotations

import pytest

from tests.runner.conftest import House


@pytest.mark.parametrize(
    ("arguments", "model", "message"),
    [
        ([], "mien", "unknown model 'mien'. Did you mean mine"),
        ([], None, "no system under test: give --gnt-model=NAME"),
        (["--gnt-shots=3"], "mine", "--gnt-shots: Input should be 0, 2 or 4 (got 3)"),
        (["--gnt-prompt=X"], "mine", "--gnt-prompt: Input should be 'none', 'G', 'S' or 'G+S'"),
        (["--gnt-judge=lexikon"], "mine", "unknown judge 'lexikon'. Did you mean lexicon"),
        (["--gnt-attitude-model=gemma270"], "mine", "Did you mean gemma270m"),
        (["--gnt-identities=transman"], "mine", "unknown identity 'transman'. Did you mean trans man"),
        (["--gnt-max-unscored-rate=2"], "mine", "less than or equal to 1"),
        (["--gnt-baseline="], "mine", "--gnt-baseline: String should have at least 1 character (got '')"),
        (["--gnt-sample=0"], "mine", "--gnt-sample: Input should be greater than 0"),
    ],
)
def test_wrong_settings(house: House, arguments: list[str], model: str | None, message: str) -> None:
    result = house.run(*arguments, model=model)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    errors = [line for line in result.stderr.lines if line.startswith("ERROR:")]
    assert len(errors) == 1, result.stderr.str()
    assert message in errors[0]


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_missing_corpus_is_one_error(house: House, workers: tuple[str, ...]) -> None:
    (house.path / "house.tsv").unlink()
    result = house.run(*workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stdout.str() + result.stderr.str()
    assert "house.tsv" in text
    assert text.count("ERROR:") == 1


def test_an_unknown_corpus_names_the_known_ones(house: House) -> None:
    house.write("test_house.py", 'from pytest_gnt import cases\n\n@cases("haus")\ndef test_x(translation):\n    pass\n')
    result = house.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "unknown corpus 'haus'. Did you mean house? Known: ambgimt, house, mgente" in result.stderr.str()


def test_a_missing_recording_is_one_error(house: House) -> None:
    (house.path / "mine.tsv").unlink()
    result = house.run("-n2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "there is no file" in result.stdout.str()


def test_an_unknown_backend_names_the_known_ones(house: House) -> None:
    house.write(
        "gnt.toml", '[models.mine]\nbackend="ctranslate2"\npath="x"\n[corpora.house]\npath="house.tsv"\nlang="it"\n'
    )
    result = house.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "unknown backend 'ctranslate2'" in result.stderr.str()
    assert "Known: command, openai, recorded, transformers, vllm" in result.stderr.str()


def test_an_unknown_parameter_of_a_suite_is_named(house: House) -> None:
    house.write("test_house.py", 'from pytest_gnt import cases\n\n@cases("house")\ndef test_x(verdict):\n    pass\n')
    result = house.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "test_x: unknown parameter verdict; a function of @cases may have: case, translation" in result.stdout.str()


def test_an_empty_selection_says_so_and_ends_with_5(house: House) -> None:
    result = house.run("--gnt-langs=de")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "no case was selected: --gnt-langs=de" in result.stdout.str()


def test_a_file_that_is_no_store_is_one_error_and_stays(house: House) -> None:
    path = house.write("store.sqlite", "no database, but long enough to be looked at " * 50)
    before = path.read_bytes()
    result = house.run("--gnt-store=store.sqlite")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "store.sqlite is a text file, not a result store" in result.stderr.str()
    assert path.read_bytes() == before


def test_a_report_folder_that_cannot_be_made_is_said(house: House) -> None:
    house.write("file", "")
    result = house.run("--gnt-report=file/deeper")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "file/deeper cannot be made" in result.stderr.str()


@pytest.mark.parametrize("workers", [(), ("-n2",)])
@pytest.mark.parametrize("place", ["house.tsv", "/proc/x", ""])
def test_an_unusable_report_folder_is_found_before_any_work(house: House, place: str, workers: tuple[str, ...]) -> None:
    result = house.run(f"--gnt-report={place}", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "INTERNALERROR" not in result.stdout.str()
    assert "report" in result.stderr.str()
    assert not (house.path / ".gnt").exists()


@pytest.mark.parametrize("path", ["mi\\u0000ne.tsv", "x" * 5000])
def test_a_path_that_is_none_is_said(house: House, path: str) -> None:
    house.write(
        "gnt.toml", f'[models.mine]\nbackend="recorded"\npath="{path}"\n[corpora.house]\npath="house.tsv"\nlang="it"\n'
    )
    result = house.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "cannot be a path" in result.stderr.str()


def test_a_corpus_of_refused_rows_says_why(house: House) -> None:
    house.write("house.tsv", "id\tsource\tset\n1\tSomeone spoke.\tSet-X\n")
    result = house.run()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "refused house.tsv:2:" in result.stdout.str()


def test_no_report_leaves_nothing_behind(house: House) -> None:
    result = house.run("--gnt-report=none")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not (house.path / "none").exists()
    assert not (house.path / "gnt-report").exists()


def test_failed_cases_are_run_again(house: House) -> None:
    house.pytester.runpytest_subprocess("--gnt-model=mine")
    again = house.pytester.runpytest_subprocess("--gnt-model=mine", "--lf")
    assert again.parseoutcomes() == {"failed": 1}
