#!/usr/bin/env bash
# Runs every fuzz target of the repository, one after the other. An input that
# fails is kept under testdata/fuzz of its package: commit it with the fix, and
# `make test` runs it from then on.
#
# Then checks properties on random input: `make test` takes the same each time.
# A failure shows the seed to repeat it with; commit the case as a test of its own.
#
#   FUZZ_TIME        how long each runs (60s)
#   PROPERTY_CHECKS  how many inputs each property is checked on (100000)
#   PROPERTY_SEED    seed of the inputs (0: a random one)
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
# Minimizing takes up to a minute for each input that reaches new code, by default, and no other input is tried meanwhile.
while IFS=: read -r file target; do
  package=./$(dirname "$file")
  printf '==> %s %s\n' "$package" "$target"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZ_TIME:-60s}" -fuzzminimizetime 5s "$package" || failed=1
done < <(git ls-files -co --exclude-standard '*_test.go' | xargs grep -o '^func Fuzz[A-Za-z0-9_]*' | sed 's/func //')
for package in $(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '"pgregory.net/rapid"' | xargs -n1 dirname | sort -u); do
  printf '==> %s properties\n' "./$package"
  RAPID_SEED=${PROPERTY_SEED:-0} RAPID_CHECKS=${PROPERTY_CHECKS:-100000} RAPID_NOFAILFILE=1 \
    go test -count=1 -timeout 60m "./$package" || failed=1
done
exit "$failed"
