#!/usr/bin/env bash
# Builds the images of the end-to-end tests: manager, agent and worker, and
# earlier managers, to upgrade from and to downgrade to: the last that added no
# agents, and the last that read no Leases.
#
#   hack/e2e/images.sh REPOSITORY TAG PREVIOUS_IMAGE PODS_ONLY_IMAGE
#
#   E2E_IMAGES  release  manager and agent from Dockerfile and agent/Dockerfile, whose bases are pulled
#               local    the same binaries and nothing else, by make image-build
#               auto     release if the bases can be pulled within 20 seconds, else local (default)
set -euo pipefail
cd "$(dirname "$0")/../.."

repo=$1 tag=$2 previous=$3 pods_only=$4
kind=${E2E_IMAGES:-auto}

# pull gets the base images of the Dockerfiles, each if it is not there.
pull() {
  local base
  for base in $(sed -n 's/^ARG \(BUILDER\|BASE\)_IMAGE=//p' Dockerfile agent/Dockerfile | sort -u); do
    docker image inspect "$base" >/dev/null 2>&1 || timeout "${1:-600}" docker pull --quiet "$base" >/dev/null || return 1
  done
}

if [ "$kind" = auto ]; then
  kind=local
  if docker buildx version >/dev/null 2>&1 && pull 20 2>/dev/null; then
    kind=release
  fi
  echo "images: $kind, of what E2E_IMAGES allows"
fi
make --no-print-directory image-build IMAGE_REPO="$repo" IMAGE_TAG="$tag"
if [ "$kind" = release ]; then
  pull
  docker buildx build --load --tag "$repo/manager:$tag" --file Dockerfile .
  docker buildx build --load --tag "$repo/agent:$tag" --file agent/Dockerfile .
fi

# earlier IMAGE [ARGUMENT...]: the manager that hack/build-manager-of.sh builds with the arguments.
earlier() {
  local image=$1 manager
  shift
  if ! manager=$(hack/build-manager-of.sh "$@"); then
    echo "no upgrade from $image is tested" >&2
    return
  fi
  bin/kind/bin/mkimage -out bin/images/earlier.tar -tag "$image" -file "$manager=/manager" -entrypoint /manager -user 65532:65532
  docker load --quiet --input bin/images/earlier.tar >/dev/null
  rm bin/images/earlier.tar
  echo "built $image"
}
earlier "$previous"
earlier "$pods_only" --before pkg/facts/lease.go
