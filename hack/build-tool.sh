#!/usr/bin/env bash
# Builds one tool pinned in hack/tools/go.mod into bin/tools, from the Go module proxy.
# Does nothing if the binary is newer than the pin.
#
#   hack/build-tool.sh controller-gen|ginkgo|golangci-lint|kustomize
set -euo pipefail
cd "$(dirname "$0")/.."

name=${1:?usage: hack/build-tool.sh NAME}
case $name in
controller-gen) package=sigs.k8s.io/controller-tools/cmd/controller-gen ;;
ginkgo) package=github.com/onsi/ginkgo/v2/ginkgo ;;
golangci-lint) package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint ;;
kustomize) package=sigs.k8s.io/kustomize/kustomize/v5 ;;
*) echo "hack/build-tool.sh: unknown tool $name" >&2; exit 1 ;;
esac

target="$PWD/bin/tools/$name"
[ -x "$target" ] && [ "$target" -nt hack/tools/go.mod ] && exit

mkdir -p bin/tools
start=$(date +%s)
cd hack/tools
export CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=readonly GOOS= GOARCH=
version=$(go list -f '{{.Module.Version}}' "$package")
printf 'building %s %s (the first time takes a minute or more) ... ' "$name" "$version" >&2
part="$target.$$"
trap 'rm -f "$part"' EXIT
go build -buildvcs=false -trimpath -ldflags "-s -w" -o "$part" "$package"
mv "$part" "$target"
echo "$(($(date +%s) - start)) s" >&2
