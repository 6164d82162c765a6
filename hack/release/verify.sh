#!/usr/bin/env bash
# A release is the same, bit for bit, whoever builds it where: builds HEAD in two clones that have
# different paths, umasks, time zones and languages, and compares the checksums. The second starts with
# an empty build cache, so that it compiles everything itself. That takes a while: see docs/releasing.md.
#
#   hack/release/verify.sh [VERSION]    default: the first one in CHANGELOG.md
set -euo pipefail
cd "$(dirname "$0")/../.."

version=${1:-$(sed -n 's/^## \(v[^ ]*\).*/\1/p' CHANGELOG.md | head -n 1)}
tools=$PWD/bin/tools
hack/build-tool.sh kustomize
hack/build-tool.sh helm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# clone DIRECTORY: HEAD, with our tools. They only transform text, so building them again shows nothing.
clone() {
  git clone --quiet --no-local --no-tags . "$1"
  git -C "$1" checkout --quiet --detach "$(git rev-parse HEAD)"
  mkdir "$1/bin"
  ln -s "$tools" "$1/bin/tools"
  find "$1/hack" -name go.mod -exec touch -d @0 {} + # else the tools seem to be outdated
}
first=$work/a second=$work/somewhere/else/with-a-long-name
clone "$first"
mkdir -p "$(dirname "$second")"
(umask 077 && clone "$second")

echo "==> the first"
(cd "$first" && umask 022 && TZ=UTC LANG=C hack/release/build.sh "$version" "$work/first")
echo "==> the second, with an empty build cache"
(cd "$second" && umask 077 && TZ=Asia/Tokyo LANG=de_DE.UTF-8 GOCACHE=$work/cache GOFLAGS=-v GOAMD64=v3 \
  hack/release/build.sh "$version" "$work/second")
echo
diff "$work/first/SHA256SUMS" "$work/second/SHA256SUMS" || {
  echo "these files differ between two builds of the same commit" >&2
  exit 1
}
cat "$work/first/SHA256SUMS"
(cd "$work/second" && sha256sum --check --quiet SHA256SUMS)
echo "$version was built twice, and all $(wc -l <"$work/first/SHA256SUMS") files are the same"
