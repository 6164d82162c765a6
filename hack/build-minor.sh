#!/usr/bin/env bash
# Builds the control plane of another version of Kubernetes than the pinned one into bin/k8s/<version>: kube-apiserver,
# kube-controller-manager and kube-scheduler from the Go module proxy. etcd and kubectl are the pinned ones: etcd speaks one
# protocol with all of them, and kubectl is of no matter for what is tested. Prints the directory.
#
#   hack/build-minor.sh v1.34.4
#
# Its go.mod is made from that of Kubernetes, which replaces the modules of its own repository by directories, and is kept
# beside the programs; Go checks all modules against its checksum database. Programs that exist are kept.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/timed.sh
. hack/goenv.sh
export GOFLAGS="${GOFLAGS/-mod=readonly/-mod=mod}"

version=${1:-}
[[ "$version" =~ ^v1\.[0-9]+\.[0-9]+$ ]] || { echo "usage: hack/build-minor.sh v1.MINOR.PATCH" >&2; exit 64; }
hack/build-cluster.sh >&2
pinned=$(hack/build-cluster.sh --print-dir)
dir=$PWD/bin/k8s/$version
if [ "$dir" = "$pinned" ]; then
  echo "$dir"
  exit
fi
mkdir -p "$dir"
for program in etcd kubectl; do
  [ -x "$dir/$program" ] || ln -f "$pinned/$program" "$dir/$program" 2>/dev/null || cp "$pinned/$program" "$dir/$program"
done

# module: the go.mod by which the programs are built. Modules of Kubernetes' own repository are of version 0.MINOR.PATCH.
module() {
  local theirs name
  theirs=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p')
  {
    echo "module sigs.k8s.io/jobset/minor"
    sed -n '/^go [0-9]/p; /^godebug/,/^)/p' "$theirs"
    echo "require k8s.io/kubernetes $version"
    sed -n 's#^\t*\(replace \)\{0,1\}k8s.io/\([a-z0-9-]*\) => ./staging/.*#\2#p' "$theirs" | sort -u | while read -r name; do
      echo "replace k8s.io/$name => k8s.io/$name v0${version#v1}"
    done
    for name in $programs; do echo "tool k8s.io/kubernetes/cmd/$name"; done
  } >go.mod
  go mod tidy >tidy.log 2>&1 || { cat tidy.log >&2; rm go.mod; return 1; }
}

# Who comes while another builds waits for it.
if command -v flock >/dev/null; then
  exec 8>"$dir/.lock"
  flock 8
fi
programs="kube-apiserver kube-controller-manager kube-scheduler"
missing=""
for program in $programs; do [ -x "$dir/$program" ] || missing="$missing $program"; done
if [ -n "$missing" ]; then
  mkdir -p "$dir/.module"
  cd "$dir/.module"
  [ -e go.sum ] || module
  base=k8s.io/component-base/version
  stamp="-X $base.gitVersion=$version -X $base.gitMajor=1 -X $base.gitMinor=$(echo "$version" | cut -d. -f2) -X $base.gitTreeState=clean"
  packages=""
  for program in $missing; do packages="$packages k8s.io/kubernetes/cmd/$program"; done
  # shellcheck disable=SC2086
  building "building$missing $version (the first time takes minutes)" go build -ldflags "-s -w $stamp" -o "$dir/" $packages >&2
fi
echo "$dir"
