#!/usr/bin/env bash
# Every Go file is in gofmt form. (Import grouping is the linter's part.)
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(find . \( -path ./bin -o -path ./.git \) -prune -o -name '*.go' -exec gofmt -s -l {} +)
[ -z "$unformatted" ] && exit
echo "$unformatted"
echo "not in gofmt form; fix with: make fmt" >&2
exit 1
