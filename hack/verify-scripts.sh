#!/usr/bin/env bash
# Every shell script parses, is executable and stops at the first error.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
while read -r script; do
  bash -n "$script" || { echo "$script does not parse" >&2; status=1; }
  [ -x "$script" ] || { echo "$script is not executable; fix with: chmod +x $script" >&2; status=1; }
  grep -q '^set -euo pipefail$' "$script" || { echo "$script lacks the line: set -euo pipefail" >&2; status=1; }
done < <(find . \( -path ./bin -o -path ./.git \) -prune -o -name '*.sh' -print && echo ./.ci/run)
exit "$status"
