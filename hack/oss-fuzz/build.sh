#!/usr/bin/env bash
# Builds each fuzz target of the repository for libFuzzer, as OSS-Fuzz does it: with the
# variables that its base image for Go sets, or on a machine with clang and libFuzzer:
#
#   OUT=/tmp/out CC=clang CXX=clang++ hack/oss-fuzz/build.sh
#   /tmp/out/FuzzDecode -max_total_time=60
#
#   OUT                  where the programs go
#   LIB_FUZZING_ENGINE   how to link (-fsanitize=fuzzer)
#   FUZZ_TARGETS         a pattern of names (all)
#
# project.yaml and Dockerfile here are for the project's folder in OSS-Fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${OUT:?OUT has to name a directory}"
converter=github.com/AdamKorcz/go-118-fuzz-build@v0.0.0-20250520111509-a70c2aa677fa
export CGO_ENABLED=1 GOWORK=off GOFLAGS=-mod=mod CC=${CC:-clang} CXX=${CXX:-clang++}
root=$PWD copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$OUT"

# The converter reads no test files, and cannot be built with the old golang.org/x/tools that it asks for.
mkdir "$copy/converter"
(cd "$copy/converter" && go mod init converter && go get -tool "$converter" golang.org/x/tools@v0.52.0 && go build -o ../convert "${converter%@*}")
mkdir "$copy/source"
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$copy/source"
cd "$copy/source"
go get "${converter%@*}/testing@${converter#*@}"

grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed 's/func //' | while IFS=: read -r file target; do
  [[ $target =~ ${FUZZ_TARGETS:-.} ]] || continue
  folder=$(dirname "$file")
  # Tests outside their package cannot be converted; these read manifests of the repository for their seeds, too.
  if grep -q '^package .*_test$' "$file"; then echo "left to make fuzz: $target of $folder"; continue; fi
  echo "building $target of $folder"
  for test in "$folder"/*_test.go; do
    grep -q '^package .*_test$' "$test" || mv "$test" "${test%_test.go}_converted.go"
  done
  "$copy/convert" -o "$copy/$target.a" -func "$target" "sigs.k8s.io/jobset/${folder#./}"
  rm -f "$folder"/*_converted.go*
  git -C "$root" ls-files -z "$folder" | tar -C "$root" --create --null --files-from=- | tar --extract
  "$CXX" ${CXXFLAGS:-} ${LIB_FUZZING_ENGINE:--fsanitize=fuzzer} "$copy/$target.a" -o "$OUT/$target"
done
