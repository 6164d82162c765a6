#!/usr/bin/env bash
# The site's reference pages say what the code says.
set -euo pipefail
cd "$(dirname "$0")/.."

go run ./hack/reference --check && exit
echo "the reference is out of date, or the code lacks a comment; mend with: make update-reference, and commit" >&2
exit 1
