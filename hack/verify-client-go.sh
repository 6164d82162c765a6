#!/usr/bin/env bash
# The client libraries are what the generators make of the API now.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/verified.sh
unchanged api client-go hack/codegen hack/update-client-go.sh hack/boilerplate.go.txt config/components/crd go.mod

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
hack/update-client-go.sh "$fresh"

# Files that only one side has count too. What is written by hand is no Go file.
diff -ur --exclude='*.md' client-go "$fresh/client-go" && passed && exit
echo "client-go is out of date; fix with: hack/update-client-go.sh" >&2
exit 1
