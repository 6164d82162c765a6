#!/usr/bin/env bash
# Runs what is slow and seldom finds anything, in one piece, and writes the record of
# the run: docs/nightly.md, with date, commit, and each part's seconds and result.
#
#   NIGHTLY_REPEAT   runs of the integration tests (20)
#   NIGHTLY_MINUTES  minutes of the soak (60)
#   NIGHTLY_SCALE    numbers of workers in the benchmark of restarts (100 500 1000)
set -euo pipefail
cd "$(dirname "$0")/.."

# What is missing is said now, and not by a part that fails after hours.
missing=()
for command in docker chromium "$(go env CC)" python3; do command -v "$command" >/dev/null || missing+=("$command"); done
[ ${#missing[@]} = 0 ] || { echo "make nightly needs ${missing[*]} on PATH; on Debian: apt-get install docker.io chromium gcc python3" >&2; exit 1; }

repeat=${NIGHTLY_REPEAT:-20} minutes=${NIGHTLY_MINUTES:-60} scale=${NIGHTLY_SCALE:-100 500 1000}
page=docs/nightly.md
table=$(mktemp)
trap 'rm -f "$table"' EXIT
began=$(date -u +'%Y-%m-%d %H:%M')
commit=$(git rev-parse --short=12 HEAD)
[ -z "$(git status --porcelain)" ] || commit="$commit with uncommitted changes"

status=0
PARTS_REPORT=$table hack/run-parts.sh \
  'make spec-coverage SPEC_STRICT=1' 'make test-alerts' 'make test-dashboard' 'make test-web' 'make licences' 'make site' \
  'make verify-release' 'make verify-dropin' 'make test-trainer' 'make test-minors' 'make fuzz' 'make test-sequence-full' 'make mutants' 'make test-upgrade' \
  'make test-e2e E2E_TORCH=1 E2E_MPI=1 E2E_LOST_NODE=soon' 'make test-faults FAULT_RESTARTS=200' "make soak MINUTES=$minutes" 'make bench' 'make bench-rest' "make bench-restart N='$scale'" \
  "make test RACE=1 GO_TEST_ARGS='-count=5 -timeout=60m'" \
  "make test-integration INTEGRATION_REPEAT=$repeat INTEGRATION_TIMEOUT=9h" || status=1

{
  cat <<PAGE
# The last nightly run

Written by \`make nightly\`, which runs what \`make check\` leaves out; [CONTRIBUTING.md](../CONTRIBUTING.md#suites) says what each
part finds. Do not edit it.

- began: $began UTC; took $((SECONDS / 60)) min on $(nproc) cores
- commit: \`$commit\`
- result: $([ "$status" = 0 ] && echo 'all parts passed' || echo 'FAILED')

CPU seconds leave out what containers and daemons use.

| part | wall, s | CPU, s | result |
|---|---|---|---|
PAGE
  cat "$table"
} >"$page"
echo "the record is $page"
exit "$status"
