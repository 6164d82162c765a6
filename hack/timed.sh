#!/usr/bin/env bash
# Shows that long commands are alive, and how long they take. Sourced by scripts and recipes:
#
#   lasted NAME                  says how long NAME took when it succeeded last
#   lasted_seconds NAME          prints the number alone, nothing if there is none
#   remember NAME [SECONDS]      NAME succeeded: keeps how long it took, or this shell has run, in bin/durations
#   summarize FILE               prints what hack/run-parts.sh wrote of parts, slowest first
#   building WHAT COMMAND...     for a command that prints nothing:  WHAT ... 30 s ... 60 s ... 71 s
#   ticking COMMAND...           the middle part of that
set -euo pipefail

DURATIONS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bin/durations

# A name may be a whole command: it becomes one name of a file.
file_name() {
  local name=${1//[^A-Za-z0-9._=-]/_}
  printf '%s' "${name:0:120}"
}

duration_file() { printf '%s/%s' "$DURATIONS" "$(file_name "$1")"; }

lasted_seconds() { cat "$(duration_file "$1")" 2>/dev/null || true; }

lasted() {
  local seconds
  seconds=$(lasted_seconds "$1")
  [ -z "$seconds" ] || printf '%s took %s s last time\n' "$1" "$seconds" >&2
}

remember() {
  mkdir -p "$DURATIONS"
  echo "${2:-$SECONDS}" >"$(duration_file "$1")"
}

summarize() { printf '\nresult  wall      CPU         last run  part, slowest first\n%s\n' "$(sort -k2,2nr "$1")"; }

# tick EVERY: goes on with the line every so many seconds, until it is ended, or the script is no more. What it
# sleeps in ends with it, and holds no pipe that somebody reads to its end.
tick() {
  local start=$SECONDS sleeping=""
  trap 'kill "$sleeping" 2>/dev/null || true; exit 0' TERM
  while true; do
    sleep "$1" </dev/null >/dev/null 2>&1 &
    sleeping=$!
    wait "$sleeping"
    kill -0 $$ 2>/dev/null || exit 0
    printf '%d s ... ' "$((SECONDS - start))"
  done
}

ticking() {
  local ticker status=0
  tick "${TICK_SECONDS:-30}" >&2 &
  ticker=$!
  "$@" || status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" || true
  return "$status"
}

building() {
  local start=$SECONDS status=0
  printf '%s ... ' "$1" >&2
  ticking "${@:2}" || status=$?
  [ "$status" = 0 ] || printf 'FAILED after ' >&2
  printf '%d s\n' "$((SECONDS - start))" >&2
  return "$status"
}
