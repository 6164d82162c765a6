#!/usr/bin/env bash
# What the images of the end-to-end tests that consist of Debian packages share: no root, no registry and no
# Dockerfile is needed. Sourced by python-image.sh and torch-image.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=hack/offline-kind/lib.sh
. hack/offline-kind/lib.sh

# bookworm has Python 3.11.
SUITE=bookworm PYTHON=python3.11
MIRROR=${KIND_DEBIAN_MIRROR:-http://deb.debian.org/debian}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# apt ARGUMENT...: apt-get with directories of its own, so that the packages and lists of this machine, which may
# be of another release, do not matter.
apt() {
  apt-get -q -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists" \
    -o "Dir::State::status=$work/status" -o "Dir::Cache=$work" -o APT::Sandbox::User= -o Acquire::Languages=none -o Debug::NoLocking=1 "$@"
}

# fetch: PACKAGES and nothing else into $work/debs, or with CLOSURE=1 also all that they depend on.
fetch() {
  mkdir -p "$work"/{lists,archives}/partial "$work/debs"
  : >"$work/status"
  echo "deb [signed-by=$KEYRING] $MIRROR $SUITE main" >"$work/sources.list"
  apt update
  # shellcheck disable=SC2086
  if [ -n "${CLOSURE:-}" ]; then
    apt install --yes --no-install-recommends --download-only $PACKAGES
    mv "$work"/archives/*.deb "$work/debs"
  else
    (cd "$work/debs" && apt download $PACKAGES)
  fi
}

# unpack: the packages into $tree. Scripts of packages do not run.
unpack() {
  local package
  for package in "$work"/debs/*.deb; do
    dpkg-deb -x "$package" "$tree"
  done
  ln -sf dash "$tree/bin/sh"
  ln -sf busybox "$tree/bin/sleep"
  ln -sf $PYTHON "$tree/usr/bin/python3"
  rm -rf "$tree"/usr/share/{doc,man,locale,lintian} "$tree"/usr/lib/*/gconv
}

# in_tree COMMAND...: runs a program of the tree, which need not fit this machine's libraries.
in_tree() {
  local lib=$tree/usr/lib machine=$(uname -m)-linux-gnu loader
  loader=$(echo "$tree"/lib*/ld-linux-*)
  PYTHONHOME=$tree/usr PYTHONPATH=$lib/python3/dist-packages "$loader" \
    --library-path "$tree/lib/$machine:$lib/$machine:$lib:$lib/$machine/pulseaudio" "$tree/usr/bin/$1" "${@:2}"
}

# archive: the tree as a layer.
archive() {
  tar -C "$tree" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$LAYER.part" .
  mv "$LAYER.part" "$LAYER"
}

# layer NAME SCRIPT [FUNCTION...]: sets LAYER to the archive of PACKAGES, changed by the functions. It is made only if
# the script is not the one that made it.
layer() {
  local inputs
  LAYER=$CACHE/$1.tar
  mkdir -p "$CACHE"
  inputs=$(hash_of hack/e2e/debian.sh "$2")
  fresh "$LAYER" "$inputs" && return
  for command in apt-get dpkg-deb; do
    have $command || die "$command is missing; name an image that you have, as the head of $2 says"
  done
  [ -e $KEYRING ] || need_debian debian-archive-keyring debian-archive-keyring
  work=$(mktemp -d "$OUT/$1.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  tree=$work/tree
  mkdir "$tree"
  export -f apt fetch unpack in_tree archive "${@:3}"
  export work tree SUITE PYTHON MIRROR KEYRING PACKAGES CLOSURE LAYER
  # -e does not reach into a function that `step` calls under a condition.
  step "packages of Debian $SUITE from $MIRROR" bash -euo pipefail -c fetch
  step "unpacking them" bash -euo pipefail -c unpack
  local change
  for change in "${@:3}" archive; do
    step "$change" bash -euo pipefail -c "$change"
  done
  stamp "$LAYER" "$inputs"
  rm -rf "$work"
}
