#!/usr/bin/env bash
# The objects of newer Kubernetes versions in the examples have no field that does not exist.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/goenv.sh
. hack/verified.sh
unchanged examples/workload-aware hack/tools

(cd hack/tools && go test .)
passed
