#!/usr/bin/env bash
# Runs every fuzz target of the repository, one after the other. An input that
# fails is kept under testdata/fuzz of its package: commit it with the fix, and
# `make test` runs it from then on.
#
#   FUZZ_TIME   how long each runs (60s)
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
while IFS=: read -r file target; do
  package=./$(dirname "$file")
  printf '==> %s %s\n' "$package" "$target"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZ_TIME:-60s}" "$package" || failed=1
done < <(git ls-files -co --exclude-standard '*_test.go' | xargs grep -o '^func Fuzz[A-Za-z0-9_]*' | sed 's/func //')
exit "$failed"
