#!/usr/bin/env bash
# Finds or builds the node image of the pinned Kubernetes version and prints its
# name on standard output. In this order:
#
#   KIND_NODE_IMAGE, if set
#   kindest/node or our own image, if Docker has it
#   our own, out of the archive in bin/kind/cache
#   kindest/node, if a registry answers within KIND_PULL_SECONDS
#   our own, built from Go modules and Debian packages (Linux, root)
#
#   hack/offline-kind/node-image.sh          the above
#   hack/offline-kind/node-image.sh --build  our own, without asking a registry
#   hack/offline-kind/node-image.sh --prepare  what our own is made of, unless it is there
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

upstream=kindest/node:$K8S_VERSION
archive=$CACHE/node-image-$K8S_VERSION.tar.gz
# All that the image is made of.
inputs=$(hash_of hack/offline-kind/{rootfs,images,node-image}.sh hack/offline-kind/modules hack/offline-kind/cmd/{mkimage,pause,cnilite} \
  hack/offline-kind/manifests/{cni,storage}.yaml hack/cluster)

label_of() { docker image inspect --format "{{index .Config.Labels \"$LABEL.inputs\"}}" "$1" 2>/dev/null || true; }
ours_is_there() { [ "$(label_of "$BUILT_IMAGE")" = "$inputs" ]; }

# pull: a registry that answers gets the time it needs, one that does not gets none.
pull() {
  local log pid deadline=$((SECONDS + KIND_PULL_SECONDS))
  log=$(mktemp)
  say "asking for $upstream (at most $KIND_PULL_SECONDS s until a registry answers)"
  docker pull "$upstream" >"$log" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null && ! grep -q 'Pulling from' "$log"; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      kill "$pid" 2>/dev/null || true
      break
    fi
    sleep 0.2
  done
  if wait "$pid"; then
    say "pulled $upstream"
    rm -f "$log"
    return
  fi
  say "no registry: $(tail -n 1 "$log")"
  rm -f "$log"
  return 1
}

# from_archive: the image as it was saved after its build, some seconds instead of minutes.
from_archive() {
  fresh "$archive" "$inputs" || return 1
  step "loading bin/kind/cache/$(basename "$archive")" docker load --input "$archive" && ours_is_there
}

# base_image: file system, programs and manifests; all but the images.
base_image() {
  "$TOOLS/mkimage" -out "$CACHE/base.tar" -tag "$base" -layer "$CACHE/rootfs.tar" \
    -file "$K8S_BIN/kubeadm=/usr/bin/kubeadm" -file "$K8S_BIN/kubelet=/usr/bin/kubelet" -file "$K8S_BIN/kubectl=/usr/bin/kubectl" \
    -file "$TOOLS/containerd=/usr/local/bin/containerd" -file "$TOOLS/ctr=/usr/local/bin/ctr" \
    -file "$TOOLS/containerd-shim-runc-v2=/usr/local/bin/containerd-shim-runc-v2" \
    -file "$TOOLS/cni/host-local=/opt/cni/bin/host-local" -file "$TOOLS/cni/loopback=/opt/cni/bin/loopback" \
    -file "$TOOLS/cni/ptp=/opt/cni/bin/ptp" -file "$TOOLS/cni/portmap=/opt/cni/bin/portmap" \
    -file "$KIND_DIR/manifests/cni.yaml=/kind/manifests/default-cni.yaml" \
    -file "$KIND_DIR/manifests/storage.yaml=/kind/manifests/default-storage.yaml" \
    -env container=docker -stopsignal SIGRTMIN+3 -entrypoint /usr/local/bin/entrypoint -entrypoint /sbin/init \
    -label "$LABEL.inputs=$inputs"
  docker load --input "$CACHE/base.tar"
  rm -f "$CACHE/base.tar"
}

# preload: kind's own way of getting images into a node image: containerd runs in
# a container of it, takes them, and the container becomes the image.
preload() {
  docker run --detach --name "$builder" --entrypoint sleep --network none --security-opt seccomp=unconfined "$base" infinity
  docker exec "$builder" bash -euc "
    printf '%s' $K8S_VERSION >/kind/version
    ctr oci spec |
      jq '.hooks.createContainer[.hooks.createContainer | length] |= . + {\"path\": \"/kind/bin/mount-product-files.sh\"}' |
      jq 'del(.process.rlimits)' >/etc/containerd/cri-base.json
    nohup containerd >/run/containerd.log 2>&1 &
    for i in \$(seq 100); do ctr version >/dev/null 2>&1 && exit; sleep 0.2; done
    cat /run/containerd.log; exit 1"
  local tar
  for tar in "$CACHE"/images/*.tar; do
    docker exec --interactive "$builder" ctr --namespace=k8s.io images import --label=io.cri-containerd.pinned=pinned \
      --all-platforms --no-unpack --digests - <"$tar"
  done
  # Nothing reaps it there: once it has ended it stays a zombie.
  docker exec "$builder" bash -euc '
    pkill -x containerd
    while ps -C containerd -o stat= | grep -qv Z; do sleep 0.1; done
    rm -f /run/containerd.log'
  docker commit --change 'ENTRYPOINT ["/usr/local/bin/entrypoint","/sbin/init"]' "$builder" "$BUILT_IMAGE"
}

save() {
  docker save "$BUILT_IMAGE" | gzip -1 >"$archive.part"
  mv "$archive.part" "$archive"
}

# One build at a time: the next one finds it done.
alone() {
  mkdir -p "$CACHE"
  exec 9>"$CACHE/lock"
  flock --nonblock 9 || { say "another build of the node image is under way; waiting for it"; flock 9; }
}

# ingredients: what takes minutes, and no Docker.
ingredients() {
  "$KIND_DIR/rootfs.sh"
  "$ROOT/hack/build-cluster.sh" --kind >&2
  "$KIND_DIR/build.sh" node
}

build() {
  alone
  ! ours_is_there || return 0
  if from_archive; then return; fi

  say "building $BUILT_IMAGE; the first time takes 10 to 20 minutes, most of it Kubernetes"
  ingredients
  step "packing the images of Kubernetes" "$KIND_DIR/images.sh"
  base=$BUILT_IMAGE-base builder=kind-node-build-$$
  trap 'docker rm --force --volumes "$builder" >/dev/null 2>&1 || true; docker rmi "$base" >/dev/null 2>&1 || true' EXIT
  export -f base_image preload save
  export base builder inputs archive TOOLS K8S_BIN K8S_VERSION KIND_DIR CACHE LABEL BUILT_IMAGE
  local old
  old=$(docker image inspect --format '{{.Id}}' "$BUILT_IMAGE" 2>/dev/null || true)
  step "file system, kubelet and containerd" bash -euo pipefail -c base_image
  step "loading the images of Kubernetes" bash -euo pipefail -c preload
  [ -z "$old" ] || docker rmi "$old" >/dev/null 2>&1 || true
  step "saving it to bin/kind/cache" bash -euo pipefail -c save
  stamp "$archive" "$inputs"
}

if [ -n "$KIND_NODE_IMAGE" ]; then
  echo "$KIND_NODE_IMAGE"
  exit
fi
need_docker
if [ "${1:-}" = --prepare ]; then
  "$KIND_DIR/build.sh" kind
  alone
  ours_is_there || fresh "$archive" "$inputs" || ingredients
  exit
fi
if [ "${1:-}" != --build ]; then
  for image in "$upstream" "$BUILT_IMAGE"; do
    if [ "$image" = "$upstream" ]; then docker image inspect "$image" >/dev/null 2>&1; else ours_is_there || from_archive; fi || continue
    echo "$image"
    exit
  done
  if pull; then
    echo "$upstream"
    exit
  fi
fi
build
echo "$BUILT_IMAGE"
