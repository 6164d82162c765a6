#!/usr/bin/env bash
# Runs commands one after the other, continues after failures, and fails if any
# failed. At the end it lists them, slowest first: wall seconds, CPU seconds (of
# what the command started and waited for: containers and daemons are not in it),
# and the wall seconds of the last run here. One command per argument.
#
#   hack/run-parts.sh 'make verify' 'make test'
#
#   PARTS_REPORT  a file to which each part is appended when it ends, as a row of Markdown
#   PARTS_LOGS    a directory for what parts print, a file for each: the end of it is shown if the
#                 part failed, and what failed in it is repeated at the end, and in the row
#   PARTS_SUMMARY a file to which the list goes, for a caller that prints one list for several runs
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh

# An empty array under `set -u` is an error in old bash, hence strings.
failures="" failed=0 whole=$SECONDS
report=${PARTS_REPORT:-/dev/null} logs=${PARTS_LOGS:-}
work=$(mktemp -d)
times=$work/times summary=${PARTS_SUMMARY:-$work/summary}
trap 'rm -rf "$work"' EXIT
for part in "$@"; do
  printf '\n==> %s\n' "$part"
  result=ok what="" log=$logs/$(file_name "$part").log
  if [ -n "$logs" ]; then exec 3>"$log" 4>&3; else exec 3>&1 4>&2; fi
  TIMEFORMAT='%R %U %S'
  # Both outputs of the part go where they went; only what `time` says goes to the file.
  { time PARTS_REPORT='' PARTS_LOGS='' PARTS_SUMMARY='' bash -c "$part" 1>&3 2>&4 3>&- 4>&- || result=FAILED; } 2>"$times"
  exec 3>&- 4>&-
  read -r wall cpu < <(awk 'END {printf "%d %d\n", $1 + 0.5, $2 + $3 + 0.5}' "$times")
  before=$(lasted_seconds "part $part")
  if [ "$result" = ok ]; then
    remember "part $part" "$wall"
  else
    failed=$((failed + 1))
    [ -z "$logs" ] || { what=$(hack/what-failed.sh "$log"); tail -n 100 "$log"; }
    failures+=${what:+$'\n'"what failed in $part, see $log:"$'\n'"$what"$'\n'}
  fi
  line=$(printf '%-6s %5d s  %6d s CPU  %7s  %s' "$result" "$wall" "$cpu" "${before:+($before s)}" "$part")
  printf '%s\n' "$line" >>"$summary"
  printf '<== %s\n' "$line"
  # What failed stands in one cell: a bar would end it.
  printf '| `%s` | %d | %d | %s |\n' "$part" "$wall" "$cpu" "$result${what:+: $(tr '\n|' ';/' <<<"$what" | sed 's/;$//; s/;/; /g')}" >>"$report"
done
[ -n "${PARTS_SUMMARY:-}" ] || summarize "$summary"
printf '\n%s%d of %d parts failed, %d s in all\n' "$failures" "$failed" $# "$((SECONDS - whole))"
[ "$failed" = 0 ]
