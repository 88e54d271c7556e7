#!/usr/bin/env bash
# Release gate: run the suites against a model, compare with its baseline, print the summary. For any CI that has a shell.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: ci/gate.sh --model NAME [options] [-- PYTEST ARGUMENTS]

  --model NAME       system under test: a preset, or a model of gnt.toml            (or GNT_MODEL)
  --baseline NAME    baseline to compare with: a name, a path, or none              (or GNT_BASELINE;
                     default: the model's own where there is one)
  --report DIR       where the report goes; its summary is replaced                 (or GNT_REPORT; gnt-report)
  --suites DIR       what to run                                                    (or GNT_SUITES; suites/)
  -- ...             everything else goes to pytest: -n 2, --gnt-data=DIR, -k EXPRESSION

Environment: PYTEST is the command that runs pytest, GNT the one for gnt (default: pytest, gnt). In GitHub Actions the
summary is added to the job summary too, and regressed cases become annotations. Nothing is sent anywhere.

Exit status: pytest's. 0 green; 1 a gate or a test failed; 2 interrupted; 4 a wrong setting, a missing model or
baseline; 5 nothing was selected. Only 0 may release.
TEXT
}

refuse() {
  printf 'ci/gate.sh: %s\n\n' "$1" >&2
  usage >&2
  exit 4
}

model=${GNT_MODEL:-}
baseline=${GNT_BASELINE:-}
report=${GNT_REPORT:-gnt-report}
suites=${GNT_SUITES:-suites/}
extra=()

while (($#)); do
  case $1 in
    --model | --baseline | --report | --suites)
      (($# >= 2)) || refuse "$1 needs a value"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    --)
      shift
      extra=("$@")
      break
      ;;
    *) refuse "unknown argument: $1" ;;
  esac
done
[[ -n $model ]] || refuse 'no model: give --model NAME'

read -r -a pytest <<<"${PYTEST:-pytest}"
arguments=("--gnt-model=$model" "--gnt-report=$report" "--junitxml=$report/junit.xml")
[[ -z $baseline ]] || arguments+=("--gnt-baseline=$baseline")

# A summary of an earlier run must not be taken for this one's.
summary=$report/report.md
rm -f -- "$summary" "$report/junit.xml"
mkdir -p -- "$report"

status=0
"${pytest[@]}" "${arguments[@]}" ${extra[@]+"${extra[@]}"} "$suites" || status=$?

if [[ -s $summary ]]; then
  cat -- "$summary"
  if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
    # A job summary larger than 1 MiB is refused as a whole.
    head -c 1000000 -- "$summary" >>"$GITHUB_STEP_SUMMARY"
  fi
  if [[ -n ${GITHUB_ACTIONS:-} && -n $baseline && $baseline != none ]]; then
    # One annotation a regressed case. They only show what the run has decided already.
    read -r -a gnt <<<"${GNT:-gnt}"
    "${gnt[@]}" diff "$baseline" "$report" --partial --format github || true
  fi
else
  printf 'ci/gate.sh: the run wrote no summary (pytest exit status %d)\n' "$status" >&2
  # A run that claims to be green and left no results has not been checked.
  ((status != 0)) || status=1
fi
exit "$status"
