#!/usr/bin/env bash
# Go programs that use JobSet build against this repository (P125a): the Kubeflow Trainer of hack/dropin/go.mod, and all of
# its tests. Those of packages that use JobSet and need no API server run, too.
# names is a program that uses what others import.
set -euo pipefail
cd "$(dirname "$0")"
. ../goenv.sh

go run ./names

trainer=github.com/kubeflow/trainer/v2
go build -o /dev/null "$trainer/cmd/..."
go vet -assign "$trainer/cmd/..." "$trainer/pkg/..." "$trainer/test/..." # compiles tests, and one check is the least it can do
go test "$trainer/pkg/runtime/..." "$trainer/pkg/controller/..." "$trainer/pkg/webhooks/..."
