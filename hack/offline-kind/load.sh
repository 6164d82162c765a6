#!/usr/bin/env bash
# Copies images of the local Docker onto every node of the kind cluster, since
# nothing is pulled there.
#
#   hack/offline-kind/load.sh IMAGE...
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || die "which images? for example: make kind-load IMAGES=\"jobset/manager:dev jobset/agent:dev\""
need_docker
need_cluster
for image in "$@"; do
  docker image inspect "$image" >/dev/null 2>&1 || die "Docker has no image $image; build it first, ours with: make image-build"
  step "loading $image" "$TOOLS/kind" load docker-image --name "$KIND_CLUSTER_NAME" "$image"
done
