#!/usr/bin/env bash
# Prints the names of what failed, from the log of a part: tests of Go, specs of Ginkgo, parts of parts, mutants that
# nothing found, or else the last lines.
#
#   hack/what-failed.sh LOG
set -euo pipefail

log=$1
names=$(sed -nE '
  s/\x1b\[[0-9;]*m//g
  s/^ *--- FAIL: ([^ ]+).*/\1/p
  s/^ *\[(FAIL|TIMEDOUT|PANICKED!?|INTERRUPTED|ABORTED)\] (.*)/\2/p
  s/^<== FAILED +[0-9]+ s +[0-9]+ s CPU +(\([0-9]+ s\))? +(.*)/\2/p
  s/^(.*) NOTHING .*/mutant: \1/p
  s/^FAIL\t([^ ]+ \[build failed\])/\1/p' "$log" | sed 's/  *$//' | awk '!seen[$0]++' | head -n 20)
[ -n "$names" ] || names=$(grep -v '^\s*$' "$log" | tail -n 5) || true
printf '%s\n' "${names:-it printed nothing}"
