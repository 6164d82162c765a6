#!/usr/bin/env bash
# Runs the end-to-end tests on the cluster that KUBECONFIG names. The variables
# are those of hack/make/e2e.mk and test/e2e.
set -euo pipefail
cd "$(dirname "$0")/../.."
. hack/timed.sh

repeat=${E2E_REPEAT:-1}
args=(--no-color --procs="${E2E_PROCS:-2}" --timeout="${E2E_TIMEOUT:-40m}" --poll-progress-after=180s
  --junit-report=junit-e2e.xml --output-dir="${ARTIFACTS:-$PWD/bin}" --keep-going)
[ -z "${E2E_FOCUS:-}" ] || args+=(--focus="$E2E_FOCUS")
labels=${E2E_LABELS:-}
if [ "$repeat" -gt 1 ]; then
  args+=(--repeat="$((repeat - 1))")
  [ -n "${E2E_FOCUS:-}$labels" ] || labels=two-workers
fi
[ -z "$labels" ] || args+=(--label-filter="$labels")
export E2E_REPORT=${E2E_REPORT:-$PWD/bin/e2e-report.md}
# shellcheck disable=SC2086
ticking bin/tools/ginkgo run "${args[@]}" ${GINKGO_ARGS:-} ./test/e2e
