#!/usr/bin/env bash
# The enhancement proposals in keps/ have a fresh table of contents, and the tests,
# make targets, links and paths that they name exist.
set -euo pipefail
cd "$(dirname "$0")/.."

go run ./hack/kep --check && exit
echo "a proposal in keps/ and the repository disagree; mend what is listed above, then run: make update-kep" >&2
exit 1
