#!/usr/bin/env bash
# Runs what is slow and seldom finds anything, in one piece, and writes the record of
# the run: docs/nightly.md, with date, commit, and each part's seconds and result.
#
# The stories on real kubelets run beside the suites on control planes of their own, since both
# wait more than they compute, and beside them what computes, each lane with a lower
# priority than the one before; what is measured runs alone, at the end. What parts print is in
# bin/nightly. A run that is ended early writes its record, too: which parts it ran.
#
#   NIGHTLY_RESUME   1: leave out the parts that passed in the last run, if it was of the same commit
#   NIGHTLY_LIMIT    minutes after which the run ends, whatever it is doing (180)
#   NIGHTLY_REPEAT, NIGHTLY_RESTARTS, NIGHTLY_MINUTES, NIGHTLY_FUZZ, NIGHTLY_SEQUENCE, NIGHTLY_WALKS, NIGHTLY_RACE, NIGHTLY_MINORS, NIGHTLY_PLATFORMS, NIGHTLY_SCALE
#                    how much of each there is; the Makefile has the defaults
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh
. hack/lanes.sh

# What is missing is said now, and not by a part that fails after hours.
missing=()
for command in docker chromium "$(go env CC)" python3; do command -v "$command" >/dev/null || missing+=("$command"); done
[ ${#missing[@]} = 0 ] || { echo "make nightly needs ${missing[*]} on PATH; on Debian: apt-get install docker.io chromium gcc python3" >&2; exit 1; }
timeout 60 docker info >/dev/null 2>&1 </dev/null || { echo "make nightly needs a running Docker daemon" >&2; exit 1; }

knobs=(NIGHTLY_REPEAT="${NIGHTLY_REPEAT:=1}" NIGHTLY_RESTARTS="${NIGHTLY_RESTARTS:=60}" NIGHTLY_MINUTES="${NIGHTLY_MINUTES:=10}" NIGHTLY_FUZZ="${NIGHTLY_FUZZ:=30s}"
  NIGHTLY_SEQUENCE="${NIGHTLY_SEQUENCE:=$((10#$(date -u +%j) % 3 + 1))/3}" NIGHTLY_WALKS="${NIGHTLY_WALKS:=100000}" NIGHTLY_RACE="${NIGHTLY_RACE:=2}" NIGHTLY_MINORS="${NIGHTLY_MINORS:=v1.34.4 v1.35.4 v1.37.2}"
  NIGHTLY_PLATFORMS="${NIGHTLY_PLATFORMS:=linux/amd64 linux/arm64 darwin/arm64}" NIGHTLY_SCALE="${NIGHTLY_SCALE:=100}")
said=$(printf '`%s` ' "${knobs[@]}")
# First what several parts need, so that no two compile it at once.
first=('hack/build-cluster.sh --kind' 'make build tool-ginkgo')
integrated="make test-integration INTEGRATION_LABELS='!hangs' INTEGRATION_REPEAT=$NIGHTLY_REPEAT INTEGRATION_TIMEOUT=9h"
kubelets=('make test-e2e E2E_TORCH=1 E2E_MPI=1 E2E_LOST_NODE=soon E2E_TIMEOUT=2h')
# Here is also what would fail if it did not get its share of the cores.
waiting=("make test RACE=1 GO_TEST_ARGS='-count=$NIGHTLY_RACE -timeout=60m'" 'make test-upgrade' 'make test-trainer'
  'make test-dashboard' 'make site' "make test-faults FAULT_RESTARTS=$NIGHTLY_RESTARTS FAULT_LEASES_FROM=1" "$integrated" "make test-minors MINORS='$NIGHTLY_MINORS'" "make soak MINUTES=$NIGHTLY_MINUTES")
computing=("make minors MINORS='$NIGHTLY_MINORS'" 'make spec-coverage SPEC_STRICT=1' 'make test-alerts' 'make licences' 'make verify-dropin' 'make mutants'
  "make test-sequence-full SEQUENCE_PART=$NIGHTLY_SEQUENCE SEQUENCE_WALKS=$NIGHTLY_WALKS" "make fuzz FUZZ_TIME=$NIGHTLY_FUZZ" "make verify-release PLUGIN_PLATFORMS='$NIGHTLY_PLATFORMS'")
# Stories about hangs compare what workers wait for, and on busy cores some do not wait yet.
alone=("make test-integration INTEGRATION_LABELS=hangs INTEGRATION_TARGET=./test/integration/embedded" 'make test-web' "make bench BENCH_JOBS='500 2000'" 'make bench-rest BENCH_JOBSETS=500 BENCH_NODES=2500' 'make bench-lost' "make bench-restart N='$NIGHTLY_SCALE'")

page=docs/nightly.md logs=bin/nightly table=bin/nightly/table began=$(date -u +'%Y-%m-%d %H:%M')
commit=$(git rev-parse --short=12 HEAD) pieces='in one piece'
# The record, and the figures to which benchmarks append, are what a run itself changes.
[ -z "$(git status --porcelain -- . ":!$page" ':!docs/figures.tsv')" ] || commit="$commit with uncommitted changes"
passed=""
if [ "${NIGHTLY_RESUME:-}" = 1 ] && [[ "$commit" != *' '* ]] && [ "$(cat "$logs/commit" 2>/dev/null)" = "$commit" ]; then
  passed=$(grep '| ok |$' "$table" || true)
  [ -z "$passed" ] || pieces="with what had passed in a run before"
fi
rm -rf "$logs"
mkdir -p "$logs"
echo "$commit" >"$logs/commit"
printf '%s' "${passed:+$passed$'\n'}" >"$table"
earlier=$(grep -E '^\| 20[0-9-]+ ' "$page" | head -n 29 || true)

# told PART: reports whether the table has it.
told() { [[ "$(<"$table")" == *"| \`$1\` |"* ]]; }

# record STATE: prints the page.
record() {
  local part ok integration=0 all=("${first[@]}" "${kubelets[@]}" "${waiting[@]}" "${computing[@]}" "${alone[@]}")
  ok=$(grep -c '| ok |$' "$table" || true)
  [[ "$passed" == *"$integrated"* ]] || ! grep -F "$integrated" "$table" | grep -q '| ok |$' || integration=$NIGHTLY_REPEAT
  cat <<PAGE
# The last nightly run

Written by \`make nightly\`, which runs what \`make check\` leaves out; [CONTRIBUTING.md](../CONTRIBUTING.md#suites) says what each
part finds. Do not edit it.

- began: $began UTC; took $((SECONDS / 60)) min on $(nproc) cores, $pieces
- commit: \`$commit\`
- ${said% }
- result: $1; $ok of ${#all[@]} parts passed

CPU seconds leave out what containers and daemons use. Most parts run beside another one, which makes both take longer; the benchmarks run alone.

| part | wall, s | CPU, s | result |
|---|---|---|---|
PAGE
  sort -t'|' -k3,3nr "$table"
  for part in "${all[@]}"; do
    told "$part" || printf '| `%s` | | | %s |\n' "$part" "$([ -e "$logs/$(file_name "$part").log" ] && echo 'not ended' || echo 'not run')"
  done
  printf '\n## All runs\n\nThe last 30, newest first. Runs of the integration suites, four specs at a time, count if all of them passed.\n
| began | commit | result | min | integration runs |\n|---|---|---|---|---|\n'
  printf '| %s | `%s` | %s, %d of %d | %d | %d |\n' "$began" "$commit" "$1${passed:+ $pieces}" "$ok" ${#all[@]} $((SECONDS / 60)) "$integration"
  printf '%s\n' "$earlier"
}

state='ENDED EARLY'
finish() {
  local status=$?
  trap - EXIT
  end_lanes
  record "$state" >"$page"
  printf '\n'
  sed -n '/^- /p; /^| /p; /^## /q' "$page"
  echo "the record is $page, what the parts printed is in $logs"
  exit "$status"
}
trap finish EXIT
trap 'state="ENDED EARLY by a signal"; exit 130' INT
trap 'state="ENDED EARLY by a signal"; exit 143' TERM

# rest NICENESS PART...: a lane of those that have not passed.
rest() {
  local part parts=()
  for part in "${@:2}"; do told "$part" || parts+=("$part"); done
  [ ${#parts[@]} = 0 ] || PARTS_REPORT=$table PARTS_LOGS=$logs lane "$1" "${parts[@]}"
}

# goes_on keeps a record for a run that is killed, and ends one that takes too long.
goes_on() {
  record 'under way' >"$logs/record.md"
  [ "$SECONDS" -lt $((${NIGHTLY_LIMIT:-180} * 60)) ] || { state="ENDED EARLY after ${NIGHTLY_LIMIT:-180} min"; exit 1; }
}

failed=0
ended() { wait_lanes "${TICK_SECONDS:-15}" goes_on || failed=1; }
rest 0 "${first[@]}"
ended
rest 0 "${kubelets[@]}"
rest 2 "${waiting[@]}"
rest 10 "${computing[@]}"
ended
rest 0 "${alone[@]}"
ended
state=$([ "$failed" = 0 ] && echo 'all parts passed' || echo 'FAILED')
exit "$failed"
