#!/usr/bin/env bash
# `make check`: all that needs no Docker, in two lanes. The integration tests wait half of the time, and the faults most of it.
# Beside them runs, with a lower priority, what computes. The second lane prints to bin/check; the end of a log is shown if its
# part failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh
. hack/lanes.sh

logs=bin/check
rm -rf "$logs"
mkdir -p "$logs"
export PARTS_SUMMARY=$logs/summary
trap end_lanes EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

failed=0
# First what several parts need, so that no two compile it at once.
lane 0 'make cluster build tool-ginkgo'
wait_lanes 1 || failed=1
lane 0 'make test' "make test-integration INTEGRATION_LABELS='!slow'" 'make demo' 'make test-faults'
PARTS_LOGS=$logs lane 0 'nice make verify' 'nice make test-sequence'
wait_lanes 1 || failed=1
summarize "$PARTS_SUMMARY"
echo "check took $SECONDS s"
exit "$failed"
