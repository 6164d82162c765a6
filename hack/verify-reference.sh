#!/usr/bin/env bash
# The tables of the site's reference are what the code makes of them.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/verified.sh
unchanged go.mod api pkg agent supervisor cmd/kubectl-jobset site/content/en/docs/reference hack/reference hack/update-reference.sh hack/build-tool.sh hack/tools/go.mod

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
hack/update-reference.sh "$fresh"

status=0
for page in "$fresh"/*.md; do
  diff -u "site/content/en/docs/reference/$(basename "$page")" "$page" || status=1
done
[ "$status" = 0 ] || echo "the reference is out of date; update it with: make update-reference" >&2
[ "$status" != 0 ] || passed
exit "$status"
