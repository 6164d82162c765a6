#!/usr/bin/env bash
# The alerts of config/components/prometheus/rules.yaml fire when they should, and
# only then: hack/alerts runs them by the engine of Prometheus.
set -euo pipefail
cd "$(dirname "$0")/alerts"

export GOWORK=off GOFLAGS='-mod=readonly -buildvcs=false'
# The first time this compiles some hundred packages; -v names each when it begins.
go build -v github.com/prometheus/prometheus/model/rulefmt sigs.k8s.io/jobset/pkg/metrics
status=0
go vet . || status=1
# -count=1: Go does not see that rules outside the module change.
go test -count=1 . || status=1
[ "$status" = 0 ] || echo "an alert fires when it should not, or the reverse; mend config/components/prometheus/rules.yaml, or say in hack/alerts what is meant" >&2
exit "$status"
