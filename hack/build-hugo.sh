#!/usr/bin/env bash
# Builds hugo, pinned in hack/site/go.mod, into bin/tools/hugo, from the Go module
# proxy: the plain edition, without C. Does nothing if the binary is newer than the pin.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh
. hack/goenv.sh

target="$PWD/bin/tools/hugo"
[ -x "$target" ] && [ "$target" -nt hack/site/go.mod ] && exit

mkdir -p bin/tools
cd hack/site
export GOOS= GOARCH=
version=$(go list -m -f '{{.Version}}' github.com/gohugoio/hugo)
part="$target.$$"
trap 'rm -f "$part"' EXIT
building "building hugo $version (the first time takes some minutes)" \
  go build -ldflags '-s -w' -o "$part" github.com/gohugoio/hugo
mv "$part" "$target"
