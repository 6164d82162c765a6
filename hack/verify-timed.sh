#!/usr/bin/env bash
# Long commands show that they are alive, and what they took last time.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/hack"
cp hack/timed.sh "$work/hack/"
said=$work/said

# run SCRIPT: the script in a shell that has sourced timed.sh; prints what it said, without durations.
run() { SAID=$said TICK_SECONDS=0.1 timeout 60 bash -c ". '$work/hack/timed.sh'; $1" >"$said" 2>&1 || echo "status $?" >>"$said"; sed -E 's/[0-9]+ s/N s/g' "$said"; }

status=0
# expect WHAT WANTED GOT
expect() { [ "$2" = "$3" ] || { printf 'hack/timed.sh, %s: want "%s", got "%s"\n' "$1" "$2" "$3" >&2; status=1; }; }

expect 'the first run' '' "$(run 'lasted demo')"
expect 'a later run' 'demo took N s last time' "$(run 'remember demo; lasted demo')"
expect 'another command' '' "$(run 'lasted kind-up')"
expect 'a short command' 'manager ... N s' "$(run 'TICK_SECONDS=60 building manager true')"
# The command ends when it has been seen to be alive.
expect 'a long command' 'manager ... N s ... N s' \
  "$(run 'alive() { until grep -q "s \.\.\. $" "$SAID"; do :; done; }; building manager alive' | sed -E 's/( \.\.\. N s)+ \.\.\. N s$/ ... N s ... N s/')"
expect 'a command that fails' $'manager ... FAILED after N s\nstatus 3' "$(run 'TICK_SECONDS=60 building manager bash -c "exit 3"')"
# A reader of its output does not wait for the next sign of life.
expect 'output in a pipe' 'out' "$(run 'TICK_SECONDS=100 ticking echo out 2>&1 | cat')"
exit "$status"
