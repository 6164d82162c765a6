#!/usr/bin/env bash
# Writes everything that is made from the Go sources by controller-gen, and by openapi-gen where that is said:
#   api/**/zz_generated.deepcopy.go             from the types
#   api/jobset/**/zz_generated.openapi.go       from the types, by openapi-gen
#   config/components/crd/bases/*.yaml          from the types
#   config/components/rbac/role.yaml            from the +kubebuilder:rbac markers under pkg
#   config/components/webhook/manifests.yaml    from the +kubebuilder:webhook markers under pkg
#
#   hack/update-generated.sh        writes into the repository
#   hack/update-generated.sh DIR    writes the same paths under DIR (what the verify script compares)
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/goenv.sh

out=${1:-$PWD}
hack/build-tool.sh controller-gen

# One package at a time: with all at once there is a single output directory.
grep -rl --include='*.go' '^// +kubebuilder:object:generate=true' api | xargs -n 1 dirname | sort -u |
  while read -r package; do
    bin/tools/controller-gen object:headerFile=hack/boilerplate.go.txt \
      paths="./$package" output:object:dir="$out/$package"
  done

# Its report names lists without a merge rule, which the schema leaves to the client on purpose.
(cd hack/codegen && GOOS='' GOARCH='' go build -o ../../bin/tools/codegen/ k8s.io/kube-openapi/cmd/openapi-gen)
bin/tools/codegen/openapi-gen --go-header-file hack/boilerplate.go.txt --report-filename /dev/null \
  --output-dir "$out/api/jobset/v1alpha2" --output-pkg sigs.k8s.io/jobset/api/jobset/v1alpha2 \
  --output-file zz_generated.openapi.go sigs.k8s.io/jobset/api/jobset/v1alpha2

bin/tools/controller-gen crd:generateEmbeddedObjectMeta=true \
  paths=./api/... output:crd:artifacts:config="$out/config/components/crd/bases"

bin/tools/controller-gen rbac:roleName=manager-role webhook \
  paths=./pkg/... \
  output:rbac:artifacts:config="$out/config/components/rbac" \
  output:webhook:artifacts:config="$out/config/components/webhook"
