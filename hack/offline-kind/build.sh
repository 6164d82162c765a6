#!/usr/bin/env bash
# Builds the programs around a kind cluster from Go modules into bin/kind/bin.
# What was built from the same sources is kept, so an interrupted build goes on
# where it stopped.
#
#   hack/offline-kind/build.sh kind    the kind command
#   hack/offline-kind/build.sh node    what a node image holds besides Kubernetes
#   hack/offline-kind/build.sh NAME... some of: containerd cni coredns pause cnilite netcheck mkimage runcdrop dockerconf
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

. "$ROOT/hack/goenv.sh"

# compile TARGET INPUTS DIR [FLAG...] PACKAGE: one program, of the module in DIR.
compile() {
  local target=$TOOLS/$1 inputs dir=$3
  inputs=$(hash_of "$2")
  shift 3
  fresh "$target" "$inputs" && return
  mkdir -p "$(dirname "$target")"
  # The name carries our process id: two builds at once waste time but never mix.
  part=$target.$$
  trap 'rm -f "$part"' EXIT
  step "building $(basename "$target")" go build -C "$dir" -o "$part" "$@"
  mv "$part" "$target"
  stamp "$target" "$inputs"
}

# module NAME: a program that is built from a module of its own under modules/.
module() {
  local dir=hack/offline-kind/modules/$1 program=$2
  shift 2
  compile "$program" "$dir" "$ROOT/$dir" "$@"
}

# own NAME: a program of this repository.
own() { compile "$1" "hack/offline-kind/cmd/$1" "$ROOT" -ldflags '-s -w' "./hack/offline-kind/cmd/$1"; }

containerd() {
  local package=github.com/containerd/containerd/v2 version program
  version=$(cd "$KIND_DIR/modules/containerd" && go list -m -f '{{.Version}}' $package)
  for program in containerd containerd-shim-runc-v2 ctr; do
    module containerd "$program" -tags no_btrfs,no_devmapper,no_zfs,no_aufs \
      -ldflags "-s -w -X $package/version.Version=$version" "$package/cmd/$program"
  done
}

cni() {
  local plugin
  for plugin in ipam/host-local main/loopback main/ptp meta/portmap; do
    module cni "cni/$(basename "$plugin")" -ldflags '-s -w' "github.com/containernetworking/plugins/plugins/$plugin"
  done
}

[ $# -gt 0 ] || set -- kind node
for name in "$@"; do
  case $name in
  kind) module kind kind -ldflags '-s -w' sigs.k8s.io/kind ;;
  node) "$0" containerd cni coredns pause cnilite mkimage ;;
  containerd | cni) "$name" ;;
  coredns) module coredns coredns -ldflags '-s -w' . ;;
  pause | cnilite | netcheck | mkimage | runcdrop | dockerconf) own "$name" ;;
  *) die "unknown program $name; see the head of hack/offline-kind/build.sh" ;;
  esac
done
