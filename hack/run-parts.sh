#!/usr/bin/env bash
# Runs commands one after the other, continues after failures, and fails if any
# failed. At the end it lists them, slowest first: wall seconds, CPU seconds (of
# what the command started and waited for: containers and daemons are not in it),
# and the wall seconds of the last run here. One command per argument.
#
#   hack/run-parts.sh 'make verify' 'make test'
#
#   PARTS_REPORT  a file for that table, to which it is appended as Markdown
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh

# An empty array under `set -u` is an error in old bash, hence strings.
summary="" failed=0 whole=$SECONDS
times=$(mktemp)
trap 'rm -f "$times"' EXIT
for part in "$@"; do
  printf '\n==> %s\n' "$part"
  result=ok
  TIMEFORMAT='%R %U %S'
  # Both outputs of the part go where they went; only what `time` says goes to the file.
  { { time PARTS_REPORT='' bash -c "$part" 1>&3 2>&4 || result=FAILED; } 2>"$times"; } 3>&1 4>&2
  read -r wall cpu < <(awk 'END {printf "%d %d\n", $1 + 0.5, $2 + $3 + 0.5}' "$times")
  before=$(lasted_seconds "part $part")
  if [ "$result" = ok ]; then remember "part $part" "$wall"; else failed=$((failed + 1)); fi
  line=$(printf '%-6s %5d s  %6d s CPU  %7s  %s' "$result" "$wall" "$cpu" "${before:+($before s)}" "$part")
  summary="$summary$line"$'\n'
  printf '<== %s\n' "$line"
done
printf '\nresult  wall      CPU         last run  part, slowest first\n%s' "$(printf '%s' "$summary" | sort -k2,2nr)"
printf '\n%d of %d parts failed, %d s in all\n' "$failed" $# "$((SECONDS - whole))"
if [ -n "${PARTS_REPORT:-}" ]; then
  printf '%s' "$summary" | sort -k2,2nr | sed -E 's/^(ok|FAILED) +([0-9]+) s +([0-9]+) s CPU +(\([0-9]+ s\))? +(.*)$/| `\5` | \2 | \3 | \1 |/' >>"$PARTS_REPORT"
fi
[ "$failed" = 0 ]
