#!/usr/bin/env bash
# docs/behaviour.md gives each id once and forgets no number, tests carry no id
# that it does not have, and what differs from other versions is listed in
# docs/differences.md. The proposals in keps/ have a fresh table of contents, and
# the tests.md beside them name tests that exist. Figures that pages mark are those of
# docs/figures.tsv. No code and no page has a word that docs/style.md bans.
# Pages have no more words than hack/docs/budgets.tsv allows.
set -euo pipefail
cd "$(dirname "$0")/.."

go run ./hack/docs --check && exit
echo "the above disagrees with the tests, the table of figures, the style or the budgets of words; correct the page, docs/figures.tsv, the wording or the test, and update tables of contents with: make update-kep" >&2
exit 1
