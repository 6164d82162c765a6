#!/usr/bin/env bash
# Copies images onto the nodes of the kind cluster, since nothing is pulled there:
# those of the local Docker onto every node, archives onto its workers.
#
#   hack/offline-kind/load.sh IMAGE|ARCHIVE.tar...
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -gt 0 ] || die "which images? for example: make kind-load IMAGES=\"jobset/manager:dev jobset/agent:dev\""
need_docker
need_cluster
for image in "$@"; do
  if [ -f "$image" ]; then
    workers=$("$TOOLS/kind" get nodes --name "$KIND_CLUSTER_NAME" | grep -v control-plane | paste -sd, -)
    step "loading $(basename "$image")" "$TOOLS/kind" load image-archive --name "$KIND_CLUSTER_NAME" --nodes "$workers" "$image"
    continue
  fi
  docker image inspect "$image" >/dev/null 2>&1 || die "Docker has no image $image; build it first, ours with: make image-build"
  step "loading $image" "$TOOLS/kind" load docker-image --name "$KIND_CLUSTER_NAME" "$image"
done
