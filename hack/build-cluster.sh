#!/usr/bin/env bash
# Builds the embedded control plane (etcd, kube-apiserver, kube-controller-manager,
# kube-scheduler, kubectl) from the Go module proxy into bin/k8s/<version>.
# Existing binaries are kept, and an interrupted build continues from Go's cache.
# If KUBEBUILDER_ASSETS holds all of them, nothing is built.
#
#   hack/build-cluster.sh              builds what is missing
#   hack/build-cluster.sh --kind       also builds what a kind node needs: kubelet, kubeadm, kube-proxy
#   hack/build-cluster.sh --print-dir  prints the directory of the binaries
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh
. hack/goenv.sh

version=$(awk '$1 == "k8s.io/kubernetes" {print $2; exit}' hack/cluster/go.mod)
[ -n "$version" ] || { echo "hack/cluster/go.mod does not pin k8s.io/kubernetes" >&2; exit 1; }
dir="$PWD/bin/k8s/$version"
commands="etcd=go.etcd.io/etcd/server/v3
kube-apiserver=k8s.io/kubernetes/cmd/kube-apiserver
kube-controller-manager=k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler=k8s.io/kubernetes/cmd/kube-scheduler
kubectl=k8s.io/kubernetes/cmd/kubectl"
if [ "${1:-}" = --kind ]; then
  # A node image holds the versions pinned here, whatever else the tests run on.
  KUBEBUILDER_ASSETS=""
  commands="$commands
kubelet=k8s.io/kubernetes/cmd/kubelet
kubeadm=k8s.io/kubernetes/cmd/kubeadm
kube-proxy=k8s.io/kubernetes/cmd/kube-proxy"
fi

if [ "${1:-}" = --print-dir ]; then
  echo "${KUBEBUILDER_ASSETS:-$dir}"
  exit
fi
if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
  for entry in $commands; do
    [ -x "$KUBEBUILDER_ASSETS/${entry%%=*}" ] || {
      echo "KUBEBUILDER_ASSETS=$KUBEBUILDER_ASSETS lacks ${entry%%=*}; unset the variable to build it here" >&2
      exit 1
    }
  done
  exit
fi

minor=$(echo "$version" | cut -d. -f2)
base=k8s.io/component-base/version
stamp="-X $base.gitVersion=$version -X $base.gitMajor=1 -X $base.gitMinor=$minor -X $base.gitTreeState=clean"
stamp="$stamp -X $base.gitCommit=unknown -X $base.buildDate=2026-01-01T00:00:00Z"

missing="" packages=""
for entry in $commands; do
  [ -x "$dir/${entry%%=*}" ] || missing="$missing ${entry%%=*}" packages="$packages ${entry#*=}"
done
[ -n "$missing" ] || exit 0

# One build for all: neither core waits while another program is linked. The name carries our
# process id: two builds at once waste time but never mix.
part="$dir/.build.$$"
mkdir -p "$part"
trap 'rm -rf "$part"' EXIT
(
  cd hack/cluster
  GO_BUILD=(-ldflags "-s -w $stamp" -o "$part/")
  # shellcheck disable=SC2086
  compiling "building$missing $version (the first time takes minutes)" $packages
)
# Go names a program by its package.
[ ! -e "$part/server" ] || mv "$part/server" "$part/etcd"
mv "$part"/* "$dir/"
