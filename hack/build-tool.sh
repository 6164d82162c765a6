#!/usr/bin/env bash
# Builds one tool into bin/tools, from the Go module proxy, at the version that the
# go.mod of its directory under hack/ pins. Does nothing if the binary is newer than that.
#
#   hack/build-tool.sh controller-gen|crd-ref-docs|ginkgo|golangci-lint|kustomize|promtool
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh
. hack/goenv.sh

name=${1:?usage: hack/build-tool.sh NAME}
dir=hack/tools flags=""
case $name in
controller-gen) package=sigs.k8s.io/controller-tools/cmd/controller-gen ;;
crd-ref-docs) package=github.com/elastic/crd-ref-docs ;;
ginkgo) package=github.com/onsi/ginkgo/v2/ginkgo ;;
golangci-lint) package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint ;;
kustomize) package=sigs.k8s.io/kustomize/kustomize/v5 ;;
promtool) # without service discovery, whose clients of clouds take long to compile
  dir=hack/prometheus package=github.com/prometheus/prometheus/cmd/promtool flags="-tags=remove_all_sd" ;;
*) echo "hack/build-tool.sh: unknown tool $name" >&2; exit 1 ;;
esac

target="$PWD/bin/tools/$name"
[ -x "$target" ] && [ "$target" -nt "$dir/go.mod" ] && exit

mkdir -p bin/tools
cd "$dir"
export GOOS= GOARCH=
version=$(go list $flags -f '{{.Module.Version}}' "$package")
part="$target.$$"
trap 'rm -f "$part"' EXIT
building "building $name $version (the first time takes a minute or more)" \
  go build $flags -ldflags "-s -w" -o "$part" "$package"
mv "$part" "$target"
