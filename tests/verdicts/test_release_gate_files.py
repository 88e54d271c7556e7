"""The CI kit: the script does what it says, and the workflow files are what their services accept."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).parents[2] / "ci"
GITHUB, GITLAB, SCRIPT = CI / "github-release-gate.yml", CI / "gitlab-release-gate.yml", CI / "gate.sh"

yaml = pytest.importorskip("yaml")
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="the script needs bash")


@pytest.fixture
def run(tmp_path):
    """Run the script with a stand-in for pytest that records its arguments and plays a result."""
    stand_in = tmp_path / "bin" / "pytest"
    stand_in.parent.mkdir()
    stand_in.write_text(
        "#!/usr/bin/env bash\n"
        'printf "%s\\n" "$@" > "$RECORD"\n'
        'if [[ -n "$SUMMARY" ]]; then printf "%s" "$SUMMARY" > "$REPORT/report.md"; fi\n'
        'exit "$STATUS"\n'
    )
    stand_in.chmod(0o755)

    def call(*arguments, status=0, summary="## green\n", report="gnt-report", **environment):
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("GNT_", "GITHUB_", "PYTEST"))}
        done = subprocess.run(
            [str(SCRIPT), *arguments],
            cwd=tmp_path,
            env=clean
            | {
                "PATH": f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}",
                "RECORD": str(tmp_path / "arguments"),
                "SUMMARY": summary,
                "REPORT": report,
                "STATUS": str(status),
            }
            | environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        record = tmp_path / "arguments"
        return done, record.read_text().splitlines() if record.exists() else None

    return call


@needs_bash
def test_the_script_calls_pytest_and_prints_the_summary(run):
    done, arguments = run("--model", "qwen72b", "--baseline", "qwen72b", "--", "-n", "2", "-k", "it or es")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "## green\n"
    assert arguments == [
        "--gnt-model=qwen72b",
        "--gnt-report=gnt-report",
        "--junitxml=gnt-report/junit.xml",
        "--gnt-baseline=qwen72b",
        "-n",
        "2",
        "-k",
        "it or es",
        "suites/",
    ]


@needs_bash
@pytest.mark.parametrize("status", [0, 1, 2, 3, 4, 5])
def test_the_exit_status_is_pytests(run, status):
    done, _ = run("--model", "m", status=status)
    assert done.returncode == status


@needs_bash
def test_no_summary_is_never_green(run):
    done, _ = run("--model", "m", summary="")
    assert done.returncode == 1
    assert "wrote no summary" in done.stderr
    assert run("--model", "m", summary="", status=4)[0].returncode == 4


@needs_bash
def test_a_summary_of_an_earlier_run_is_not_shown(run, tmp_path):
    (tmp_path / "gnt-report").mkdir()
    (tmp_path / "gnt-report" / "report.md").write_text("## old\n")
    done, _ = run("--model", "m", summary="", status=2)
    assert done.returncode == 2
    assert "old" not in done.stdout


@needs_bash
def test_settings_come_from_the_environment_and_the_command_line_wins(run):
    environment = {"GNT_MODEL": "a", "GNT_BASELINE": "b", "GNT_REPORT": "out dir", "GNT_SUITES": "my suites/"}
    _, arguments = run(report="out dir", **environment)
    assert arguments == [
        "--gnt-model=a",
        "--gnt-report=out dir",
        "--junitxml=out dir/junit.xml",
        "--gnt-baseline=b",
        "my suites/",
    ]
    _, arguments = run("--model", "c", "--report", "other", "--suites", "s", report="other", **environment)
    assert arguments[:2] == ["--gnt-model=c", "--gnt-report=other"]
    assert arguments[-1] == "s"


@needs_bash
def test_names_are_not_run_as_commands(run, tmp_path):
    name = '$(touch "$PWD/owned"); `touch owned`; touch owned'
    _, arguments = run("--model", name)
    assert arguments[0] == f"--gnt-model={name}"
    assert not (tmp_path / "owned").exists()


@needs_bash
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no model"),
        (["--model"], "--model needs a value"),
        (["--modle", "m"], "unknown argument: --modle"),
        (["m"], "unknown argument: m"),
    ],
)
def test_wrong_arguments_are_refused(run, arguments, message):
    done, called = run(*arguments)
    assert done.returncode == 4
    assert message in done.stderr
    assert "usage:" in done.stderr
    assert called is None


@needs_bash
def test_help_names_every_option(run):
    done, _ = run("--help")
    assert done.returncode == 0
    for option in ("--model", "--baseline", "--report", "--suites", "Exit status"):
        assert option in done.stdout


@needs_bash
def test_the_job_summary_is_added_to_and_kept_below_its_limit(run, tmp_path):
    step = tmp_path / "step"
    step.write_text("before\n")
    run("--model", "m", GITHUB_STEP_SUMMARY=str(step))
    assert step.read_text() == "before\n## green\n"
    run("--model", "m", summary="x" * 100_000, GITHUB_STEP_SUMMARY=str(step))
    assert step.stat().st_size < 2**20


@needs_bash
def test_another_command_may_run_pytest(run, tmp_path):
    other = tmp_path / "mine"
    shutil.copy(tmp_path / "bin" / "pytest", other)
    _, arguments = run("--model", "m", PYTEST=f"{other} -x")
    assert arguments[:2] == ["-x", "--gnt-model=m"]


@needs_bash
def test_the_script_is_sound_shell():
    assert os.access(SCRIPT, os.X_OK)
    assert "set -euo pipefail" in SCRIPT.read_text()
    subprocess.run(["bash", "-n", str(SCRIPT)], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", str(SCRIPT)], check=True)


def load(path):
    """YAML 1.1 reads the key ``on`` as true."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {("on" if key is True else key): value for key, value in data.items()}


def test_the_github_workflow_has_what_a_workflow_needs():
    workflow = load(GITHUB)
    assert set(workflow) == {"name", "on", "permissions", "concurrency", "jobs"}
    assert set(workflow["on"]) == {"workflow_dispatch", "pull_request"}
    assert workflow["permissions"] == {"contents": "read"}
    for given in workflow["on"]["workflow_dispatch"]["inputs"].values():
        assert given["type"] in ("string", "boolean", "choice", "number", "environment")
    for name, job in workflow["jobs"].items():
        assert re.fullmatch("[A-Za-z_][A-Za-z0-9_-]*", name)
        assert job["runs-on"]
        assert 0 < job["timeout-minutes"] <= 5 * 24 * 60
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert set(step) <= {"name", "id", "if", "uses", "with", "run", "env", "shell", "continue-on-error"}
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])


def test_no_value_from_outside_is_pasted_into_a_command():
    for job in load(GITHUB)["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")


def test_the_github_job_runs_the_script_and_always_keeps_the_report():
    (job,) = load(GITHUB)["jobs"].values()
    assert any("ci/gate.sh" in step.get("run", "") for step in job["steps"])
    (keep,) = [step for step in job["steps"] if step.get("uses", "").startswith("actions/upload-artifact")]
    assert keep["if"] == "always()"
    assert keep["with"]["path"] == "gnt-report"
    assert "continue-on-error" not in str(job)


def test_the_gitlab_job_has_what_a_job_needs():
    data = load(GITLAB)
    (job,) = [value for key, value in data.items() if key != "stages"]
    assert job["stage"] in data["stages"]
    assert set(job) <= {
        *("stage", "image", "tags", "timeout", "resource_group", "rules", "variables", "cache"),
        *("before_script", "script", "artifacts"),
    }
    assert "ci/gate.sh" in "".join(job["script"])
    assert job["artifacts"]["when"] == "always"
    assert job["artifacts"]["reports"]["junit"] == "gnt-report/junit.xml"
    assert "allow_failure" not in job


@needs_bash
@pytest.mark.parametrize("path", [GITHUB, GITLAB])
def test_the_commands_in_the_workflows_are_sound_shell(path):
    (job,) = load(GITHUB)["jobs"].values() if path == GITHUB else [
        value for key, value in load(GITLAB).items() if key != "stages"
    ]  # fmt: skip
    commands = [step["run"] for step in job["steps"] if "run" in step] if path == GITHUB else job["script"]
    for command in commands:
        subprocess.run(["bash", "-n"], input=command, text=True, check=True)


@pytest.mark.parametrize(
    ("path", "schema"),
    [(GITHUB, ["vendor.github-workflows"]), (GITLAB, ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"])],
)
def test_the_workflows_are_valid_by_their_schema(path, schema):
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema, which holds the services' schemas, is not installed")
    subprocess.run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", *schema, str(path)], check=True)


def test_actionlint_has_nothing_to_say(tmp_path):
    if shutil.which("actionlint") is None:
        pytest.skip("actionlint is not installed")
    config = tmp_path / "actionlint.yaml"
    config.write_text("self-hosted-runner:\n  labels: [gpu]\n")
    subprocess.run(["actionlint", "-config-file", str(config), str(GITHUB)], check=True)
