#!/usr/bin/env bash
# Builds the manager of the Kubeflow Trainer with this repository in the place of JobSet (P125), into bin/trainer.
#
#   hack/dropin/build.sh --print-source   prints where its module is, which holds its CRDs, rights and webhooks
set -euo pipefail
cd "$(dirname "$0")"
. ../goenv.sh

trainer=github.com/kubeflow/trainer/v2
if [ "${1:-}" = --print-source ]; then
  go list -m -f '{{.Dir}}' "$trainer"
  exit
fi
mkdir -p ../../bin/trainer
go build -o ../../bin/trainer/ "$trainer/cmd/trainer-controller-manager"
