#!/usr/bin/env bash
# Provides an image with a shell and Python for the end-to-end tests.
#
#   hack/e2e/python-image.sh IMAGE
#
#   E2E_PYTHON_IMAGE  an image with /bin/sh and python3, which is tagged IMAGE; it is pulled if it is not there.
#                     Without it, IMAGE is built from a few Debian packages: seconds, no root, no registry
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=hack/offline-kind/lib.sh
. hack/offline-kind/lib.sh

image=$1
if [ -n "${E2E_PYTHON_IMAGE:-}" ]; then
  docker image inspect "$E2E_PYTHON_IMAGE" >/dev/null 2>&1 || docker pull --quiet "$E2E_PYTHON_IMAGE" >/dev/null
  docker tag "$E2E_PYTHON_IMAGE" "$image"
  say "$image is $E2E_PYTHON_IMAGE"
  exit
fi

# bookworm has Python 3.11. What busybox has of a shell's companions is enough.
SUITE=bookworm PYTHON=python3.11
MIRROR=${KIND_DEBIAN_MIRROR:-http://deb.debian.org/debian}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
PACKAGES="dash busybox-static libc6 libexpat1 zlib1g lib$PYTHON-minimal $PYTHON-minimal"

for command in apt-get dpkg-deb; do
  have $command || die "$command is missing; set E2E_PYTHON_IMAGE to an image with /bin/sh and python3, such as python:3-slim"
done
[ -e $KEYRING ] || need_debian debian-archive-keyring debian-archive-keyring

# The package lists of another release do no harm: apt has directories of its own here.
fetch() {
  mkdir -p "$work"/{lists,archives}/partial "$work/debs"
  echo "deb [signed-by=$KEYRING] $MIRROR $SUITE main" >"$work/sources.list"
  local options=(-q -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists"
    -o "Dir::Cache=$work" -o APT::Sandbox::User= -o Acquire::Languages=none)
  apt-get "${options[@]}" update
  # shellcheck disable=SC2086
  (cd "$work/debs" && apt-get "${options[@]}" download $PACKAGES)
}

unpack() {
  local package
  for package in "$work"/debs/*.deb; do
    dpkg-deb -x "$package" "$tree"
  done
  ln -sf dash "$tree/bin/sh"
  ln -sf busybox "$tree/bin/sleep"
  ln -sf $PYTHON "$tree/usr/bin/python3"
  rm -rf "$tree"/usr/share/{doc,man,locale,lintian} "$tree"/usr/lib/*/gconv
  tar -C "$tree" --sort=name --owner=0 --group=0 --numeric-owner -cf "$CACHE/python.tar.part" .
  mv "$CACHE/python.tar.part" "$CACHE/python.tar"
}

mkdir -p "$CACHE"
inputs=$(hash_of hack/e2e/python-image.sh)
if ! fresh "$CACHE/python.tar" "$inputs"; then
  work=$(mktemp -d "$OUT/python.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  tree=$work/tree
  mkdir "$tree"
  export -f fetch unpack
  export work tree SUITE PYTHON MIRROR KEYRING PACKAGES CACHE
  # -e does not reach into a function that `step` calls under a condition.
  step "packages of Debian $SUITE from $MIRROR" bash -euo pipefail -c fetch
  step "unpacking them" bash -euo pipefail -c unpack
  stamp "$CACHE/python.tar" "$inputs"
fi
hack/offline-kind/build.sh mkimage
"$TOOLS/mkimage" -out "$OUT/python-image.tar" -tag "$image" -layer "$CACHE/python.tar" -skeleton -user 65532:65532 \
  -env PATH=/usr/bin:/bin -entrypoint /usr/bin/python3
docker load --quiet --input "$OUT/python-image.tar" >/dev/null
rm "$OUT/python-image.tar"
docker run --rm --network none "$image" -c 'import fcntl, os, signal, socket, time' ||
  die "Python does not run in $image; a package may be missing in the list of hack/e2e/python-image.sh"
say "built $image"
