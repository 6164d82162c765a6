#!/usr/bin/env bash
# Makes the kind cluster of the end-to-end tests: node image (node-image.sh),
# a Docker network of its own with a fence around it, nodes, cluster DNS.
# The kubeconfig is bin/kind/kubeconfig, or bin/kind/kubeconfig-NAME for another
# name than jobset. A cluster that is up already is kept; what is left of one
# that is not is replaced.
#
#   KIND_CLUSTER_NAME  its name (jobset)
#   KIND_CONFIG        its configuration (test/e2e/kind.yaml)
#   KIND_NODE_IMAGE    the image of its nodes
#   KIND_FENCE=0       its packets may leave the machine
#   KIND_RETAIN=1      nodes that did not come up are kept, to be looked at
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

need_docker
[ -f "$KIND_CONFIG" ] || die "there is no $KIND_CONFIG; set KIND_CONFIG to a kind configuration"
"$KIND_DIR/build.sh" kind

# The API server notices a stopped node only after a while.
healthy() {
  [ -s "$KUBECONFIG" ] &&
    [ "$(docker ps --all --filter "label=io.x-k8s.kind.cluster=$KIND_CLUSTER_NAME" --format '{{.State}}' | sort -u)" = running ] &&
    in_cluster wait --for=condition=Ready nodes --all --timeout=5s &&
    in_cluster --namespace kube-system rollout status deployment/coredns --timeout=5s
} >/dev/null 2>&1

if cluster_exists; then
  if healthy; then
    say "cluster $KIND_CLUSTER_NAME is up; export KUBECONFIG=$KUBECONFIG"
    exit
  fi
  say "cluster $KIND_CLUSTER_NAME exists but is not healthy; replacing it"
fi
lasted kind-up
# Also after a run that was killed: nothing is there to begin with.
"$KIND_DIR/down.sh" --quiet

image=$("$KIND_DIR/node-image.sh")
docker image inspect "$image" >/dev/null 2>&1 || step "pulling $image" docker pull "$image"

# Where Docker keeps images on fuse-overlayfs, a node would want a fuse snapshotter.
# Its own data is in a volume, on a file system of the machine: overlayfs works there.
snapshotter() {
  [ "$(docker info --format '{{.Driver}}')" = fuse-overlayfs ] || return 0
  ! docker info --format '{{.SecurityOptions}}' | grep rootless >/dev/null || return 0
  if grep -qw overlay /proc/filesystems 2>/dev/null; then echo overlayfs; else echo native; fi
}
KIND_EXPERIMENTAL_CONTAINERD_SNAPSHOTTER=${KIND_EXPERIMENTAL_CONTAINERD_SNAPSHOTTER:-$(snapshotter)}
export KIND_EXPERIMENTAL_CONTAINERD_SNAPSHOTTER

# The network is IPv4 only: the fence is about one address family.
network() {
  docker network create --driver bridge --label "$LABEL=$KIND_CLUSTER_NAME" --label "$LABEL.image=$image" "$NETWORK"
}

# What a node or pod sends to anything but its own network or this machine is refused.
fence() {
  local bridge
  bridge=br-$(docker network inspect --format '{{slice .Id 0 12}}' "$NETWORK")
  host_iptables "$image" -I DOCKER-USER -i "$bridge" ! -o "$bridge" \
    -m comment --comment "$LABEL=$KIND_CLUSTER_NAME" -j REJECT
}

create() {
  local flags=()
  # Paths of the configuration start here.
  cd "$ROOT"
  mkdir -p "$OUT/shared"
  [ -z "${KIND_RETAIN:-}" ] || flags=(--retain)
  "$TOOLS/kind" create cluster --name "$KIND_CLUSTER_NAME" --config "$KIND_CONFIG" --image "$image" \
    --kubeconfig "$KUBECONFIG" ${flags[@]+"${flags[@]}"}
}

# The nodes know which CoreDNS they hold.
cluster_dns() {
  local coredns
  coredns=$(docker exec "$CONTROL_PLANE" kubeadm config images list --kubernetes-version "$(docker exec "$CONTROL_PLANE" cat /kind/version)" |
    grep /coredns:)
  sed "s|COREDNS_IMAGE|$coredns|" "$KIND_DIR/manifests/coredns.yaml" | in_cluster apply -f -
}

ready() {
  in_cluster wait --for=condition=Ready nodes --all --timeout=180s
  in_cluster --namespace kube-system rollout status deployment/coredns --timeout=120s
}

undo() {
  [ -n "${KIND_RETAIN:-}" ] && say "KIND_RETAIN is set: look with 'docker exec $CONTROL_PLANE journalctl -u kubelet', end with 'make kind-down'" && return
  "$KIND_DIR/down.sh" --quiet
  say "'make kind-doctor' checks the machine; KIND_RETAIN=1 keeps the nodes to look at"
}
trap undo EXIT

step "network $NETWORK" network
if [ "$KIND_FENCE" != 0 ]; then
  step "fence: no packet leaves the machine" fence ||
    say "there is no fence: the rule above could not be set. The cluster works, and could reach out; KIND_FENCE=0 leaves out the try"
fi
export -f in_cluster create cluster_dns ready
export image ROOT OUT TOOLS KIND_CLUSTER_NAME KIND_CONFIG KIND_DIR CONTROL_PLANE
step "nodes of $(basename "$KIND_CONFIG") from $image" bash -euo pipefail -c create
step "cluster DNS" bash -euo pipefail -c cluster_dns
step "nodes and DNS ready" bash -euo pipefail -c ready
trap - EXIT
remember kind-up
say "cluster $KIND_CLUSTER_NAME is up; export KUBECONFIG=$KUBECONFIG"
