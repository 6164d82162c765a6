#!/usr/bin/env bash
# Builds hugo, pinned in hack/site/go.mod, into bin/tools/hugo, from the Go module
# proxy: the plain edition, without C. Does nothing if the binary is newer than the pin.
set -euo pipefail
cd "$(dirname "$0")/.."

target="$PWD/bin/tools/hugo"
[ -x "$target" ] && [ "$target" -nt hack/site/go.mod ] && exit

mkdir -p bin/tools
start=$(date +%s)
cd hack/site
export CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=readonly GOOS= GOARCH=
version=$(go list -m -f '{{.Version}}' github.com/gohugoio/hugo)
printf 'building hugo %s (the first time takes some minutes) ... ' "$version" >&2
part="$target.$$"
trap 'rm -f "$part"' EXIT
go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$part" github.com/gohugoio/hugo
mv "$part" "$target"
echo "$(($(date +%s) - start)) s" >&2
