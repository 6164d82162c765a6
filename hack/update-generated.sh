#!/usr/bin/env bash
# Writes everything controller-gen makes from the Go sources:
#   api/**/zz_generated.deepcopy.go             from the types
#   config/components/crd/bases/*.yaml          from the types
#   config/components/rbac/role.yaml            from the +kubebuilder:rbac markers under pkg
#   config/components/webhook/manifests.yaml    from the +kubebuilder:webhook markers under pkg
#
#   hack/update-generated.sh        writes into the repository
#   hack/update-generated.sh DIR    writes the same paths under DIR (what the verify script compares)
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:-$PWD}
hack/build-tool.sh controller-gen

# One package at a time: with all at once there is a single output directory.
grep -rl --include='*.go' '^// +kubebuilder:object:generate=true' api | xargs -n 1 dirname | sort -u |
  while read -r package; do
    bin/tools/controller-gen object:headerFile=hack/boilerplate.go.txt \
      paths="./$package" output:object:dir="$out/$package"
  done

bin/tools/controller-gen crd:generateEmbeddedObjectMeta=true \
  paths=./api/... output:crd:artifacts:config="$out/config/components/crd/bases"

bin/tools/controller-gen rbac:roleName=manager-role webhook \
  paths=./pkg/... \
  output:rbac:artifacts:config="$out/config/components/rbac" \
  output:webhook:artifacts:config="$out/config/components/webhook"
