#!/usr/bin/env bash
# The Helm chart installs what config/ installs: copied parts are up to date, and the
# rest is the same, object by object, but for the differences that
# hack/publish/chart/drift_test.go lists. Its README has all values, and its tests pass.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/goenv.sh
. hack/verified.sh
unchanged charts config hack/publish/chart api pkg/config pkg/features pkg/constants go.mod hack/publish/go.mod hack/tools/go.mod hack/build-tool.sh

hack/build-tool.sh kustomize
hack/build-tool.sh helm-docs
hack/build-tool.sh helm-unittest
status=0
bin/tools/helm-unittest --color=false charts/jobset || status=1
readme=$(bin/tools/helm-docs --chart-search-root charts/jobset --sort-values-order file --log-level warning --dry-run)
diff -u charts/jobset/README.md <(echo "$readme") ||
  { echo "the README of the chart is out of date; update it with: make update-chart" >&2; status=1; }
if grep -E '\| *\| *$' <<<"$readme"; then
  echo "these values have no comment in charts/jobset/values.yaml; add one that begins with: # --" >&2
  status=1
fi

cd hack/publish/chart
go run . verify || status=1
go vet . || status=1
# -count=1: Go does not know that the tests run kustomize.
go test -count=1 . || status=1
[ "$status" = 0 ] || echo "if a difference from config/ is intended, add it to hack/publish/chart/drift_test.go with the reason; update copied parts with: make update-chart" >&2
[ "$status" != 0 ] || passed
exit "$status"
