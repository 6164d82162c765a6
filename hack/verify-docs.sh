#!/usr/bin/env bash
# docs/behaviour.md gives each id once and forgets no number, tests carry no id
# that it does not have, and what differs from other versions is listed in
# docs/differences.md. The proposals in keps/ have a fresh table of contents, and
# the tests.md beside them name tests that exist. Figures that pages mark are those of
# docs/figures.tsv.
set -euo pipefail
cd "$(dirname "$0")/.."

go run ./hack/docs --check && exit
echo "the pages above disagree with the tests; correct the page, docs/figures.tsv or the test, and update tables of contents with: make update-kep" >&2
exit 1
