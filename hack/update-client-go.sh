#!/usr/bin/env bash
# Writes the Go client libraries that k8s.io/code-generator makes of api/jobset/v1alpha2:
#   client-go/applyconfiguration           what a user of server-side apply fills in
#   client-go/clientset/versioned          typed client, and its fake
#   client-go/listers, client-go/informers cached reads and watches
# The apply configurations take the merge rules of lists from the CRD, so run
# hack/update-generated.sh first if the API has changed.
#
#   hack/update-client-go.sh        writes into the repository
#   hack/update-client-go.sh DIR    writes the same paths under DIR (what the verify script compares)
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/goenv.sh

out=${1:-$PWD}/client-go
api=sigs.k8s.io/jobset/api/jobset/v1alpha2
pkg=sigs.k8s.io/jobset/client-go
crd=$PWD/config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml
header=hack/boilerplate.go.txt
# A Job template has an apply configuration already. PersistentVolumeClaims stay as they are, as in JobSet v0.12: the Kubeflow
# Trainer fills them in so.
externals=k8s.io/api/batch/v1.JobTemplateSpec:k8s.io/client-go/applyconfigurations/batch/v1

# The pinned generators. Go's build cache makes this quick from the second time on.
bin=$PWD/bin/tools/codegen
mkdir -p "$bin"
(cd hack/codegen && GOOS='' GOARCH='' go build -o "$bin/" ./crdschema tool)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bin/crdschema" "$crd" >"$work/swagger.json"

"$bin/applyconfiguration-gen" --go-header-file "$header" \
  --output-dir "$work/applyconfiguration" --output-pkg "$pkg/applyconfiguration" \
  --external-applyconfigurations "$externals" --openapi-schema "$work/swagger.json" \
  "$api"

"$bin/client-gen" --go-header-file "$header" \
  --output-dir "$work/clientset" --output-pkg "$pkg/clientset" --clientset-name versioned \
  --apply-configuration-package "$pkg/applyconfiguration" \
  --input-base "${api%/*/*}" --input "${api#"${api%/*/*}/"}"

"$bin/lister-gen" --go-header-file "$header" \
  --output-dir "$work/listers" --output-pkg "$pkg/listers" "$api"

"$bin/informer-gen" --go-header-file "$header" \
  --output-dir "$work/informers" --output-pkg "$pkg/informers" \
  --versioned-clientset-package "$pkg/clientset/versioned" --listers-package "$pkg/listers" "$api"

# All went well: what was there, and perhaps has no source any more, makes room.
for part in applyconfiguration clientset listers informers; do
  mkdir -p "$out"
  rm -rf "${out:?}/$part"
  mv "$work/$part" "$out/$part"
done
