#!/usr/bin/env bash
# Removes the kind cluster and all that up.sh made for it: nodes with their
# volumes, kubeconfig, firewall rule, network. The node image stays.
# Does no harm if there is nothing.
#
#   hack/offline-kind/down.sh [--quiet]
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

need_docker
quiet=${1:-}

# Nodes carry kind's label, whatever state they are in.
nodes=$(docker ps --all --quiet --filter "label=io.x-k8s.kind.cluster=$KIND_CLUSTER_NAME")
remove_nodes() {
  if [ -x "$TOOLS/kind" ]; then
    "$TOOLS/kind" delete cluster --name "$KIND_CLUSTER_NAME" --kubeconfig "$KUBECONFIG"
  else
    # shellcheck disable=SC2086
    docker rm --force --volumes $nodes
  fi
}
if [ -n "$nodes" ]; then
  step "removing cluster $KIND_CLUSTER_NAME" remove_nodes
fi

# Only a network that carries our label is ours.
image=$(docker network inspect --format "{{if eq (index .Labels \"$LABEL\") \"$KIND_CLUSTER_NAME\"}}{{index .Labels \"$LABEL.image\"}}{{end}}" \
  "$NETWORK" 2>/dev/null || true)

# The rule is known by its comment. It is there only with the network, or after
# somebody removed the network by hand.
remove_fence() {
  local rule
  host_iptables "$image" -S DOCKER-USER 2>/dev/null | grep -E -- "--comment \"?$LABEL=$KIND_CLUSTER_NAME\"? " | while read -r rule; do
    rule=${rule#-A }
    # shellcheck disable=SC2086
    host_iptables "$image" -D ${rule//\"/} </dev/null
  done
}
if [ -n "$image" ] || { [ "$(id -u)" = 0 ] && have iptables; }; then
  remove_fence || true
fi
if [ -n "$image" ]; then
  step "removing network $NETWORK" docker network rm "$NETWORK"
fi
rm -f "$KUBECONFIG" "$KUBECONFIG.lock"
[ "$quiet" = --quiet ] || say "nothing of cluster $KIND_CLUSTER_NAME is left"
