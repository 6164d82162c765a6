#!/usr/bin/env bash
# Prints the location of the first failure of an end-to-end run.
#
#   hack/e2e/first-failure.sh LOG_DIRECTORY [PART]
set -euo pipefail

dir=$1 part=${2:-}
printf '\nThe end-to-end run failed%s. Logs are in %s\n' "${part:+ in part: $part}" "$dir" >&2
stories=$dir/the-stories.log
if [ -f "$stories" ]; then
  # Ginkgo prints failures in the order of their ends; the first is the one to look at.
  grep -n -m 1 -A 25 -E '\[(FAILED|TIMEDOUT|PANICKED|INTERRUPTED)\]' "$stories" >&2 || tail -n 30 "$stories" >&2
elif [ -n "$part" ]; then
  tail -n 30 "$dir/$(echo "$part" | tr -cs 'a-z0-9\n' -).log" >&2 || true
fi
