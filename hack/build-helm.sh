#!/usr/bin/env bash
# Builds helm, helm-docs or helm-unittest, pinned in hack/chart/go.mod, into bin/tools,
# from the Go module proxy. Does nothing if the binary is newer than the pin. Flags are
# those of `go test`, so that what the tests of the chart have compiled is not compiled again.
#
#   hack/build-helm.sh [helm|helm-docs|helm-unittest]
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh
. hack/goenv.sh

name=${1:-helm}
case $name in
helm) package=helm.sh/helm/v3/cmd/helm ;;
helm-docs) package=github.com/norwoodj/helm-docs/cmd/helm-docs ;;
helm-unittest) package=github.com/helm-unittest/helm-unittest/cmd/helm-unittest ;;
*) echo "hack/build-helm.sh: unknown tool $name" >&2; exit 1 ;;
esac
target="$PWD/bin/tools/$name"
[ -x "$target" ] && [ "$target" -nt hack/chart/go.mod ] && exit

mkdir -p bin/tools
cd hack/chart
export GOOS= GOARCH=
version() { go list -f '{{.Module.Version}}' "$1"; }
# Without a cluster, charts are made for the Kubernetes version of its client library.
minor=$(version k8s.io/client-go/kubernetes | cut -d. -f2)
flags="-s -w -X helm.sh/helm/v3/internal/version.version=$(version helm.sh/helm/v3/cmd/helm)"
for part in chartutil lint/rules; do
  flags+=" -X helm.sh/helm/v3/pkg/$part.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/$part.k8sVersionMinor=$minor"
done
part="$target.$$"
trap 'rm -f "$part"' EXIT
building "building $name $(version "$package") (the first time takes a minute or two)" \
  go build -ldflags "$flags" -o "$part" "$package"
mv "$part" "$target"
