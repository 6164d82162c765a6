#!/usr/bin/env bash
# Each id stands exactly once in docs/behaviour.md, no number is forgotten, and
# tests carry no id in their names that the page does not know.
set -euo pipefail
cd "$(dirname "$0")/.."

go run ./hack/speccoverage --check && exit
echo "docs/behaviour.md and the names of tests disagree; mend the page, or the id in the name of the test" >&2
exit 1
