#!/usr/bin/env bash
# Provides an image with a shell and Python for the end-to-end tests.
#
#   hack/e2e/python-image.sh IMAGE
#
#   E2E_PYTHON_IMAGE  an image with /bin/sh and python3, which is tagged IMAGE; it is pulled if it is not there.
#                     Without it, IMAGE is built from a few Debian packages: seconds, no root, no registry
set -euo pipefail
# shellcheck source=hack/e2e/debian.sh
. "$(dirname "$0")/debian.sh"

image=$1
if [ -n "${E2E_PYTHON_IMAGE:-}" ]; then
  docker image inspect "$E2E_PYTHON_IMAGE" >/dev/null 2>&1 || docker pull --quiet "$E2E_PYTHON_IMAGE" >/dev/null
  docker tag "$E2E_PYTHON_IMAGE" "$image"
  say "$image is $E2E_PYTHON_IMAGE"
  exit
fi

# What busybox has of a shell's companions is enough.
PACKAGES="dash busybox-static libc6 libexpat1 zlib1g lib$PYTHON-minimal $PYTHON-minimal" CLOSURE=""
layer python hack/e2e/python-image.sh
hack/offline-kind/build.sh mkimage
"$TOOLS/mkimage" -out "$OUT/python-image.tar" -tag "$image" -layer "$LAYER" -skeleton -user 65532:65532 \
  -env PATH=/usr/bin:/bin -entrypoint /usr/bin/python3
docker load --quiet --input "$OUT/python-image.tar" >/dev/null
rm "$OUT/python-image.tar"
docker run --rm --network none "$image" -c 'import fcntl, os, signal, socket, time' ||
  die "Python does not run in $image; a package may be missing in the list of hack/e2e/python-image.sh"
say "built $image"
