#!/usr/bin/env bash
# Every kustomization renders without a warning, and the install has exactly the
# objects listed in hack/install-objects.txt: their names are what users and
# other programs rely on.
set -euo pipefail
cd "$(dirname "$0")/.."

hack/build-tool.sh kustomize
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

while read -r file; do
  dir=$(dirname "$file")
  if ! bin/tools/kustomize build "$dir" >"$work/out" 2>"$work/err" || [ -s "$work/err" ]; then
    cat "$work/err"
    echo "$dir does not render cleanly; mend it and look with: bin/tools/kustomize build $dir" >&2
    status=1
  fi
done < <(find . -name kustomization.yaml -not -path "./bin/*" | sort)

# One line per object: kind, namespace (or -), name.
objects() {
  bin/tools/kustomize build "$1" | awk '
    function flush() { if (kind != "") print kind, (namespace == "" ? "-" : namespace), name; kind = name = namespace = ""; meta = 0 }
    /^---/ { flush(); next }
    /^kind:/ { kind = $2 }
    /^[a-zA-Z]/ { meta = ($1 == "metadata:") }
    meta && /^  name:/ { name = $2 }
    meta && /^  namespace:/ { namespace = $2 }
    END { flush() }' | LC_ALL=C sort
}
if ! diff -u hack/install-objects.txt <(objects config/default); then
  echo "the objects of config/default changed; if that is meant, edit hack/install-objects.txt" >&2
  status=1
fi
exit "$status"
