#!/usr/bin/env bash
# Builds one tool into bin/tools, from the Go module proxy, at the version that the
# go.mod of its directory under hack/ pins. Does nothing if the binary is newer than that.
#
#   hack/build-tool.sh controller-gen|crd-ref-docs|ginkgo|golangci-lint|kustomize|promtool
#   hack/build-tool.sh helm|helm-docs|helm-unittest|hugo
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh
. hack/goenv.sh

name=${1:?usage: hack/build-tool.sh NAME}
dir=hack/tools flags="" ldflags="-s -w"
case $name in
controller-gen) package=sigs.k8s.io/controller-tools/cmd/controller-gen ;;
crd-ref-docs) package=github.com/elastic/crd-ref-docs ;;
ginkgo) package=github.com/onsi/ginkgo/v2/ginkgo ;;
golangci-lint) package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint ;;
kustomize) package=sigs.k8s.io/kustomize/kustomize/v5 ;;
promtool) # without service discovery, whose clients of clouds take long to compile
  dir=hack/prometheus package=github.com/prometheus/prometheus/cmd/promtool flags="-tags=remove_all_sd" ;;
helm) dir=hack/publish package=helm.sh/helm/v3/cmd/helm ;;
helm-docs) dir=hack/publish package=github.com/norwoodj/helm-docs/cmd/helm-docs ;;
helm-unittest) dir=hack/publish package=github.com/helm-unittest/helm-unittest/cmd/helm-unittest ;;
hugo) dir=hack/publish package=github.com/gohugoio/hugo ;; # the plain edition, without C
*) echo "hack/build-tool.sh: unknown tool $name" >&2; exit 1 ;;
esac

target="$PWD/bin/tools/$name"
[ -x "$target" ] && [ "$target" -nt "$dir/go.mod" ] && exit

mkdir -p bin/tools
cd "$dir"
export GOOS= GOARCH=
version_of() { go list $flags -f '{{.Module.Version}}' "$1"; }
version=$(version_of "$package")
case $name in helm*)
  # Without a cluster, charts are made for the Kubernetes version of its client library.
  minor=$(version_of k8s.io/client-go/kubernetes | cut -d. -f2)
  ldflags+=" -X helm.sh/helm/v3/internal/version.version=$(version_of helm.sh/helm/v3/cmd/helm)"
  for part in chartutil lint/rules; do
    ldflags+=" -X helm.sh/helm/v3/pkg/$part.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/$part.k8sVersionMinor=$minor"
  done
esac
part="$target.$$"
trap 'rm -f "$part"' EXIT
building "building $name $version (the first time takes a minute or more)" \
  go build $flags -ldflags "$ldflags" -o "$part" "$package"
mv "$part" "$target"
