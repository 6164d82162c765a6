#!/usr/bin/env bash
# The Helm chart says what config/ says: copied parts are fresh, the rest is the
# same, object by object, but for the differences that hack/chart/drift_test.go
# lists. The tests of the chart pass; they lint it as well.
set -euo pipefail
cd "$(dirname "$0")/.."

hack/build-tool.sh kustomize
cd hack/chart
export GOWORK=off GOFLAGS='-mod=readonly -buildvcs=false'
status=0
go run . verify || status=1
go vet . || status=1
# -count=1: Go does not know that the tests run kustomize.
go test -count=1 . || status=1
[ "$status" = 0 ] || echo "if a difference from config/ is meant, add it to hack/chart/drift_test.go, with the reason; copied parts are mended with: make update-chart" >&2
exit "$status"
