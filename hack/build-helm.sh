#!/usr/bin/env bash
# Builds helm, pinned in hack/chart/go.mod, into bin/tools/helm, from the Go
# module proxy. Does nothing if the binary is newer than the pin. Flags are those
# of `go test`, so that what the tests of the chart have compiled is not compiled again.
set -euo pipefail
cd "$(dirname "$0")/.."

target="$PWD/bin/tools/helm"
[ -x "$target" ] && [ "$target" -nt hack/chart/go.mod ] && exit

mkdir -p bin/tools
start=$(date +%s)
cd hack/chart
export GOWORK=off GOFLAGS=-mod=readonly GOOS= GOARCH=
module() { go list -m -f '{{.Version}}' "$1"; }
version=$(module helm.sh/helm/v3)
# Without a cluster, charts are made for the Kubernetes version of its client library.
minor=$(module k8s.io/client-go | cut -d. -f2)
flags="-s -w -X helm.sh/helm/v3/internal/version.version=$version"
for package in chartutil lint/rules; do
  flags+=" -X helm.sh/helm/v3/pkg/$package.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/$package.k8sVersionMinor=$minor"
done
printf 'building helm %s (the first time takes a minute or two) ... ' "$version" >&2
part="$target.$$"
trap 'rm -f "$part"' EXIT
go build -buildvcs=false -ldflags "$flags" -o "$part" helm.sh/helm/v3/cmd/helm
mv "$part" "$target"
echo "$(($(date +%s) - start)) s" >&2
