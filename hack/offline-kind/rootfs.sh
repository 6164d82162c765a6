#!/usr/bin/env bash
# Makes the file system of a kind node: a small Debian with kind's own base
# files, as kind's images/base/Dockerfile arranges them, and beside it the
# files of iptables for the image of kube-proxy. Needs root, for debootstrap.
#
# Results: bin/kind/cache/rootfs.tar and bin/kind/cache/iptables.tar. They are
# kept until this script or kind's version changes.
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

# bookworm: the systemd of later releases refuses machines with cgroup v1.
SUITE=${KIND_DEBIAN_SUITE:-bookworm}
MIRROR=${KIND_DEBIAN_MIRROR:-http://deb.debian.org/debian}
PACKAGES=systemd,dbus,runc,iptables,nftables,conntrack,iproute2,ethtool,kmod,e2fsprogs,jq,procps,curl,ca-certificates,pigz,mount

inputs=$(hash_of hack/offline-kind/rootfs.sh hack/offline-kind/modules/kind)-$SUITE
if fresh "$CACHE/rootfs.tar" "$inputs"; then
  say "file system of the node: bin/kind/cache/rootfs.tar is there"
  exit
fi
[ "$(uname -s)" = Linux ] || die "a node image can only be built on Linux; set KIND_NODE_IMAGE to one that is"
[ "$(id -u)" = 0 ] || die "debootstrap needs root: run 'sudo make kind-node-image', or set KIND_NODE_IMAGE to a node image"
need_debian debootstrap debootstrap
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || need_debian debian-archive-keyring debian-archive-keyring

mkdir -p "$CACHE/debs"
tree=$(mktemp -d "${TMPDIR:-/var/tmp}/jobset-rootfs.XXXXXX") # not in the repository, where go commands for ./... look, nor in /tmp, which may allow no devices
# Whatever is still mounted inside must be neither packed nor emptied with the tree. debootstrap leaves /proc there if
# a process is just looking into it.
unmount() { awk -v dir="$tree/" 'index($2, dir) == 1 {print $2}' /proc/mounts | sort -r | xargs -r umount --lazy; }
cleanup() {
  unmount
  rm -rf --one-file-system "$tree"
}
trap cleanup EXIT
chmod 755 "$tree"

bootstrap() {
  debootstrap --variant=minbase --cache-dir="$CACHE/debs" --include="$PACKAGES" "$SUITE" "$tree" "$MIRROR"
  unmount
}

# What kind's Dockerfile does with its files: programs 0755, all else 0644.
kind_files() {
  local files
  files=$(cd "$KIND_DIR/modules/kind" && GOFLAGS=-mod=readonly go mod download sigs.k8s.io/kind &&
    go list -m -f '{{.Dir}}' sigs.k8s.io/kind)/images/base/files
  install -d "$tree/kind/bin" "$tree/kind/manifests" "$tree/etc/kubernetes/manifests" "$tree/opt/cni/bin" "$tree/etc/cni/net.d"
  install -m 755 "$files"/usr/local/bin/* "$tree/usr/local/bin/"
  install -m 755 "$files"/kind/bin/* "$tree/kind/bin/"
  (cd "$files" && find etc -type f) | while read -r file; do
    install -D -m 644 "$files/$file" "$tree/$file"
  done
  # Where a capability is missing, lowering a container's oom_score_adj fails,
  # and with it the container; so containerd is to ask for no less than it has.
  sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' "$tree/etc/containerd/config.toml"
  grep -q 'restrict_oom_score_adj = true' "$tree/etc/containerd/config.toml"
}

# A node needs few of the services that Debian starts.
services() {
  local units=$tree/lib/systemd/system
  find "$units/sysinit.target.wants/" -name systemd-tmpfiles-setup.service -delete
  rm -f "$units"/multi-user.target.wants/* "$units"/local-fs.target.wants/* "$units"/basic.target.wants/* \
    "$units"/sockets.target.wants/*udev* "$units"/sockets.target.wants/*initctl* "$tree"/etc/systemd/system/*.wants/*
  echo ReadKMsg=no >>"$tree/etc/systemd/journald.conf"
  ln -sf /usr/lib/systemd/systemd "$tree/sbin/init"
  chroot "$tree" systemctl enable kubelet.service containerd.service undo-mount-hacks.service
  # It would register things for the whole kernel.
  chroot "$tree" systemctl mask systemd-binfmt.service
}

slim() {
  rm -rf "$tree"/var/cache/apt/archives/*.deb "$tree"/var/lib/apt/lists/* "$tree"/var/log/*.log "$tree"/var/log/apt \
    "$tree"/usr/share/doc "$tree"/usr/share/man "$tree"/usr/share/locale "$tree"/usr/share/info
  : >"$tree/etc/machine-id"
  mkdir -p "$tree/usr/local/sbin"
  ln -sf /usr/sbin/runc "$tree/usr/local/sbin/runc"
}

# iptables, nft, conntrack and ip with every library they load. iptables' own
# modules have dependencies too: without libm every rule for a service with two
# endpoints is refused, and one endpoint works.
iptables_files() {
  local files=$tree/iptables programs modules library
  programs="/usr/sbin/xtables-nft-multi /usr/sbin/nft /usr/sbin/conntrack /usr/bin/ip /usr/bin/dash"
  modules=$(cd "$tree" && find usr/lib/*/xtables -name '*.so' | sed 's,^,/,')
  mkdir -p "$files"/usr/{bin,sbin,lib,lib64} "$files"/{etc,run,var}
  # /bin, /sbin and the like lead into /usr, as in Debian.
  cp -a "$tree"/{bin,sbin,lib,lib64} "$files/"
  for library in $programs $modules; do
    install -D "$(realpath "$tree$library")" "$files$library"
    chroot "$tree" ldd "$library" | grep -oE '/[^ ]+\.so[^ ]*' || true
  done | sort -u | while read -r library; do
    mkdir -p "$files$(dirname "$library")"
    cp -L "$tree$library" "$files$library"
  done
  ln -sf dash "$files/usr/bin/sh"
  for library in iptables ip6tables; do
    for programs in "" -save -restore; do
      ln -sf xtables-nft-multi "$files/usr/sbin/$library$programs"
      ln -sf xtables-nft-multi "$files/usr/sbin/$library-nft$programs"
    done
  done
  cp "$tree/etc/protocols" "$files/etc/" 2>/dev/null || true
}

# The rules of a service with several endpoints, tried in a network namespace of its own.
iptables_works() {
  unshare --net chroot "$tree/iptables" /usr/sbin/iptables-restore --test <<'RULES'
*nat
-A OUTPUT -m statistic --mode random --probability 0.5 -m comment --comment x -m addrtype --dst-type LOCAL -j RETURN
-A OUTPUT -m recent --name x --rcheck --seconds 10 --reap -j RETURN
-A POSTROUTING -j MASQUERADE --random-fully
COMMIT
RULES
}

pack() {
  tar -C "$tree/iptables" --numeric-owner --sort=name -cf "$CACHE/iptables.tar.part" .
  mv "$CACHE/iptables.tar.part" "$CACHE/iptables.tar"
  tar -C "$tree" --exclude=./iptables --numeric-owner --sort=name -cf "$CACHE/rootfs.tar.part" .
  mv "$CACHE/rootfs.tar.part" "$CACHE/rootfs.tar"
}

# -e does not reach into a function that `step` calls under a condition: each of
# these runs in a shell of its own.
export -f unmount bootstrap kind_files services slim iptables_files iptables_works pack
export tree SUITE MIRROR PACKAGES CACHE KIND_DIR
part() { step "$1" bash -euo pipefail -c "$2"; }
part "Debian $SUITE from $MIRROR" bootstrap
part "kind's base files" kind_files
part "services" services
part "files of iptables for kube-proxy" iptables_files
part "iptables loads what kube-proxy needs" iptables_works
part "removing what a node does not need" slim
part "packing" pack
stamp "$CACHE/rootfs.tar" "$inputs"
