#!/usr/bin/env bash
# Writes the dataclasses of the Python package in sdk/python from the CRD, whose
# descriptions they carry. Run hack/update-generated.sh first if the API has changed.
#
#   hack/update-python.sh        writes into the repository
#   hack/update-python.sh DIR    writes the same path under DIR (what the verify script compares)
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/goenv.sh

out=${1:-$PWD}/sdk/python/jobset
bin=$PWD/bin/tools/codegen
mkdir -p "$bin" "$out"
(cd hack/codegen && GOOS='' GOARCH='' go build -o "$bin/" ./pymodels)

fresh=$(mktemp)
trap 'rm -f "$fresh"' EXIT
"$bin/pymodels" config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml api/jobset/v1alpha2 >"$fresh"
cat "$fresh" >"$out/v1alpha2.py"
