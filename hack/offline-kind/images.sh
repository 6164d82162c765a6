#!/usr/bin/env bash
# Packs what was built into the images that kubeadm asks for, as archives in
# bin/kind/cache/images. No registry, no Docker and no root is involved.
# Names and tags are those that kubeadm and kind's containerd configuration give.
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

images=$CACHE/images
rm -rf "$images"
mkdir -p "$images"
wanted=$("$K8S_BIN/kubeadm" config images list --kubernetes-version "$K8S_VERSION")

# named COMPONENT: the full name that kubeadm wants for it.
named() { grep -E "/$1:" <<<"$wanted" || die "kubeadm $K8S_VERSION does not want an image of $1"; }

# matches COMPONENT VERSION FIX: what was built is what kubeadm names.
matches() {
  local image
  image=$(named "$1")
  case ${image##*:} in
  "$2" | "${2#v}"-*) ;;
  *) die "kubeadm wants $image, but version $2 is built here; correct it in $3" ;;
  esac
}
matches coredns "$(cd "$KIND_DIR/modules/coredns" && GOFLAGS=-mod=readonly go list -m -f '{{.Version}}' github.com/coredns/coredns)" \
  hack/offline-kind/modules/coredns/go.mod
matches etcd "$(awk '$1 == "go.etcd.io/etcd/server/v3" && $2 ~ /^v/ {print $2; exit}' "$ROOT/hack/cluster/go.mod")" hack/cluster/go.mod

# pack NAME PROGRAM PATH [FLAG...]
pack() {
  local name=$1 program=$2 path=$3
  shift 3
  "$TOOLS/mkimage" -out "$images/$(basename "$program").tar" -tag "$name" -file "$program=$path" -skeleton \
    -env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

for component in etcd kube-apiserver kube-controller-manager kube-scheduler; do
  pack "$(named $component)" "$K8S_BIN/$component" "/usr/local/bin/$component"
done
pack "$(named kube-proxy)" "$K8S_BIN/kube-proxy" /usr/local/bin/kube-proxy -layer "$CACHE/iptables.tar"
pack "$(named coredns)" "$TOOLS/coredns" /coredns -entrypoint /coredns
pack docker.io/jobset/kind-cnilite:local "$TOOLS/cnilite" /cnilite -entrypoint /cnilite

# containerd is told a pause image by kind, whatever kubeadm lists.
pause=$(tar -xOf "$CACHE/rootfs.tar" ./etc/containerd/config.toml | sed -n 's/^ *sandbox_image = "\(.*\)"$/\1/p')
[ -n "$pause" ] || die "kind's containerd configuration names no sandbox_image any more; look into hack/offline-kind/modules/kind"
pack "$pause" "$TOOLS/pause" /pause -entrypoint /pause
