#!/usr/bin/env bash
# Runs parts side by side. Sourced:
#
#   lane NICENESS PART...          starts parts, one after the other, beside the lanes that run already
#   wait_lanes SECONDS [COMMAND]   waits until all lanes have ended, and runs a command every so many seconds; fails if a part did
#   end_lanes                      ends what still runs
set -euo pipefail

lanes=()

# Lanes are in process groups of their own, so that all that a part has started ends with it, and may clean up first.
lane() {
  set -m
  nice -n "$1" hack/run-parts.sh "${@:2}" </dev/null &
  set +m
  lanes+=($!)
}

wait_lanes() {
  local lane failed=0
  for lane in "${lanes[@]}"; do
    while kill -0 "$lane" 2>/dev/null; do
      "${@:2}"
      sleep "$1" &
      wait $! || true
    done
    wait "$lane" || failed=1
  done
  lanes=()
  return "$failed"
}

end_lanes() {
  local lane
  trap '' INT TERM
  for lane in "${lanes[@]}"; do kill -TERM -- "-$lane" 2>/dev/null && echo "ending what still runs" >&2 || true; done
  for lane in "${lanes[@]}"; do
    for _ in {1..300}; do kill -0 -- "-$lane" 2>/dev/null || break; sleep 1; done
    kill -KILL -- "-$lane" 2>/dev/null || true
  done
  lanes=()
}
