#!/usr/bin/env bash
# What the scripts of hack/offline-kind share: where things are, which versions, and how
# progress is shown. Sourced by them; run alone it prints the settings.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
KIND_DIR=$ROOT/hack/offline-kind
# shellcheck source=hack/timed.sh
. "$ROOT/hack/timed.sh"
OUT=$ROOT/bin/kind   # all that is built here
TOOLS=$OUT/bin       # programs
CACHE=$OUT/cache     # parts of the node image

# The Kubernetes version is that of the embedded control plane, pinned in hack/cluster/go.mod.
K8S_VERSION=$(awk '$1 == "k8s.io/kubernetes" {print $2; exit}' "$ROOT/hack/cluster/go.mod")
K8S_BIN=$ROOT/bin/k8s/$K8S_VERSION

KIND_CLUSTER_NAME=${KIND_CLUSTER_NAME:-jobset}
# Clusters of other names do not meddle with the default one's.
export KUBECONFIG=$OUT/kubeconfig
[ "$KIND_CLUSTER_NAME" = jobset ] || KUBECONFIG=$OUT/kubeconfig-$KIND_CLUSTER_NAME
KIND_CONFIG=${KIND_CONFIG:-$ROOT/test/e2e/kind.yaml}
KIND_NODE_IMAGE=${KIND_NODE_IMAGE:-}        # empty: found or built by node-image.sh
KIND_PULL_SECONDS=${KIND_PULL_SECONDS:-15}  # a registry that has not answered by then is none
KIND_FENCE=${KIND_FENCE:-1}                 # 0: the cluster may send packets out of the machine
BUILT_IMAGE=jobset/kind-node:$K8S_VERSION   # the one built here
NETWORK=kind-$KIND_CLUSTER_NAME             # a network of its own, not the "kind" of other clusters
LABEL=jobset.kind
CONTROL_PLANE=$KIND_CLUSTER_NAME-control-plane
# kind takes the network from here. It warns that this is experimental.
export KIND_EXPERIMENTAL_DOCKER_NETWORK=$NETWORK

# No script asks anything; without this, docker exec swallows the commands that
# were pasted into the terminal after `make kind-up`.
exec </dev/null

# Mind `| grep -q` with pipefail: it ends early, and the writer fails for it.
say() { printf '[%3d s] %s\n' "$SECONDS" "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

into() { "${@:2}" >"$1" 2>&1; }

# step WHAT COMMAND...: shows how long a command takes, and its output if it fails.
step() {
  local what=$1 start=$SECONDS log
  shift
  log=$(mktemp)
  printf '[%3d s] %s ... ' "$SECONDS" "$what" >&2
  if ticking into "$log" "$@"; then
    printf '%d s\n' "$((SECONDS - start))" >&2
    rm -f "$log"
    return
  fi
  printf 'FAILED after %d s\n' "$((SECONDS - start))" >&2
  tail -n 40 "$log" >&2
  rm -f "$log"
  return 1
}

# hash_of FILE...: one name for the contents of files and directories (tests left
# out), the Go version and the architecture.
hash_of() {
  { cd "$ROOT" && go env GOVERSION GOARCH && find "$@" -type f ! -name '*_test.go' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum; } |
    sha256sum | cut -c1-16
}

# fresh FILE HASH: FILE was made of just these inputs. stamp FILE HASH notes that it was.
fresh() { [ -e "$1" ] && [ "$(cat "$1.inputs" 2>/dev/null)" = "$2" ]; }
stamp() { echo "$2" >"$1.inputs"; }

need_docker() {
  have docker || die "docker is not on PATH; install Docker, or Docker Desktop, and run this again"
  docker info >/dev/null 2>&1 || die "Docker does not answer; start it, or join the group docker (docker info says more)"
}

# in_cluster ARGUMENT...: kubectl in the control-plane node; it is there in every node image.
in_cluster() { docker exec --interactive "$CONTROL_PLANE" kubectl --kubeconfig /etc/kubernetes/admin.conf "$@"; }

cluster_exists() { [ -x "$TOOLS/kind" ] && "$TOOLS/kind" get clusters 2>/dev/null | grep -x "$KIND_CLUSTER_NAME" >/dev/null; }
need_cluster() { cluster_exists || die "there is no cluster $KIND_CLUSTER_NAME; make it with: make kind-up"; }

# need_debian COMMAND PACKAGE: installs a Debian package whose command is missing.
need_debian() {
  have "$1" && return
  have apt-get || die "$1 is missing and there is no apt-get; install it, or set KIND_NODE_IMAGE to a node image"
  [ "$(id -u)" = 0 ] || die "$1 is missing; install it with: sudo apt-get install $2"
  # The lists may be old or empty: refresh them when a plain installation fails.
  step "installing the Debian package $2" env DEBIAN_FRONTEND=noninteractive \
    bash -c "apt-get install -y --no-install-recommends $2 || { apt-get update && apt-get install -y --no-install-recommends $2; }"
}

# iptables of the machine that Docker runs on; without root it runs in a container of image $1.
host_iptables() {
  local image=$1
  shift
  if [ "$(id -u)" = 0 ] && have iptables; then
    iptables -w "$@"
  else
    docker run --rm --network host --cap-add NET_ADMIN --entrypoint iptables "$image" -w "$@"
  fi
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  for name in K8S_VERSION KIND_CLUSTER_NAME KIND_CONFIG KIND_NODE_IMAGE KIND_PULL_SECONDS KIND_FENCE \
    BUILT_IMAGE NETWORK KUBECONFIG OUT; do
    printf '%s=%s\n' "$name" "${!name}"
  done
fi
