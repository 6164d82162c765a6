#!/usr/bin/env bash
# Generated files are what the generator makes of the sources now.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/verified.sh
unchanged api pkg config/components/crd config/components/rbac config/components/webhook hack/update-generated.sh hack/build-tool.sh hack/tools/go.mod hack/codegen/go.mod hack/boilerplate.go.txt go.mod

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
hack/update-generated.sh "$fresh"

status=0
while read -r path; do
  diff -u "$path" "$fresh/$path" || status=1
done < <(cd "$fresh" && find . -type f | sort)

# A generated file whose source is gone is stale too.
while read -r path; do
  [ -e "$fresh/$path" ] || { echo "$path is generated from nothing any more; remove it"; status=1; }
done < <(find api -name 'zz_generated.*' && find config/components/crd/bases -name '*.yaml')

[ "$status" = 0 ] || echo "generated files are out of date; fix with: make generate" >&2
[ "$status" != 0 ] || passed
exit "$status"
