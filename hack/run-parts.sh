#!/usr/bin/env bash
# Runs commands one after the other, continues after failures, prints how long
# each took, and fails if any failed. One command per argument.
#
#   hack/run-parts.sh 'make verify' 'make test'
set -euo pipefail
cd "$(dirname "$0")/.."

# An empty array under `set -u` is an error in old bash, hence strings.
summary="" failed=0
for part in "$@"; do
  printf '\n==> %s\n' "$part"
  start=$(date +%s)
  result=ok
  bash -c "$part" || { result=FAILED; failed=$((failed + 1)); }
  line=$(printf '%-6s %5d s  %s' "$result" "$(($(date +%s) - start))" "$part")
  summary="$summary$line"$'\n'
  printf '<== %s\n' "$line"
done
printf '\n%s%d of %d parts failed\n' "$summary" "$failed" $#
[ "$failed" = 0 ]
