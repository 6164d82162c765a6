#!/usr/bin/env bash
# Shows that long commands are alive, and how long they take. Sourced by scripts and recipes:
#
#   lasted NAME                  says how long NAME took when it succeeded last
#   lasted_seconds NAME          prints the number alone, nothing if there is none
#   remember NAME [SECONDS]      NAME succeeded: keeps how long it took, or this shell has run, in bin/durations
#   summarize FILE               prints what hack/run-parts.sh wrote of parts, slowest first
#   building WHAT COMMAND...     for a command that prints nothing:  WHAT ... 30 s ... 60 s ... 71 s
#   compiling WHAT PACKAGES...   for go build -v, with $GO_BUILD before the packages:  WHAT ... 30 s, 512 of 2900 packages ... 71 s
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
    printf '%d s%s ... ' "$((SECONDS - start))" "$([ -z "${COMPILED:-}" ] || compiled)"
  done
}

# compiled says how many packages `go build -v` has named so far. Those that were compiled before are never named.
compiled() { printf ', %d of %d packages' "$(wc -l <"$COMPILED")" "$PACKAGES"; }

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

# What go build -v prints beside the names of packages are errors.
compiling() {
  local COMPILED PACKAGES status=0
  COMPILED=$(mktemp)
  PACKAGES=$(go list -deps "${@:2}" 2>"$COMPILED" | wc -l) || true # the build says what is wrong
  export COMPILED PACKAGES
  # shellcheck disable=SC2086
  building "$1" go_build_v "${@:2}" || status=$?
  [ "$status" = 0 ] || grep -e '[ :]' "$COMPILED" | grep -v '^go: downloading ' >&2
  rm -f "$COMPILED"
  return "$status"
}

# The compiler spends a tenth and more of its time in its own garbage collector. Each may take a share of the memory that is free. Only
# these processes see the variables: they would reach every program that a test starts.
go_build_v() {
  local each
  each=$(awk -v jobs="$(getconf _NPROCESSORS_ONLN)" '/^MemAvailable/ {print int($2 / 1048576 / (jobs + 1))}' /proc/meminfo 2>/dev/null) || true
  if [ "${each:-0}" -ge 2 ]; then
    GOGC=off GOMEMLIMIT="$((each < 4 ? each : 4))GiB" go build -v "${GO_BUILD[@]}" "$@" 2>"$COMPILED"
  else
    GOGC=400 go build -v "${GO_BUILD[@]}" "$@" 2>"$COMPILED"
  fi
}
