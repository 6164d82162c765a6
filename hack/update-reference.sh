#!/usr/bin/env bash
# Writes what the code knows into the site's reference: the tables of fields from
# the Go types, with crd-ref-docs (the end of each page, from the heading of its
# first type on), and with hack/reference the tables between marks of other pages.
#
#   hack/update-reference.sh        writes into the repository
#   hack/update-reference.sh DIR    writes the pages into DIR (what the verify script compares)
set -euo pipefail
cd "$(dirname "$0")/.."

pages=site/content/en/docs/reference
out=${1:-$pages}
[ "$out" = "$pages" ] || cp "$pages"/*.md "$out"
. hack/goenv.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
hack/build-tool.sh crd-ref-docs

# page NAME TYPE PACKAGE
page() {
  sed "/^## $2\$/,\$d" "$pages/$1.md" >"$work/page"
  bin/tools/crd-ref-docs --log-level ERROR --config hack/reference/crd-ref-docs.yaml --source-path "$3" \
    --templates-dir hack/reference/templates --renderer markdown --output-path "$work/types"
  sed 1d "$work/types" >>"$work/page"
  cp "$work/page" "$out/$1.md"
}
page api JobSet api/jobset/v1alpha2
page configuration Configuration api/config/v1alpha1
go build -o "$work/plugin" ./cmd/kubectl-jobset
go run ./hack/reference "$out" "$work/plugin"
