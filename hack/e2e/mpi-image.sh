#!/usr/bin/env bash
# Provides the image of examples/mpi for the end-to-end tests, as an archive for load.sh: OpenMPI, mpi4py, an ssh server,
# and the program, for a user that is not root. It is what the Dockerfile there makes, without root and registry.
#
#   hack/e2e/mpi-image.sh IMAGE ARCHIVE
set -euo pipefail
# shellcheck source=hack/e2e/debian.sh
. "$(dirname "$0")/debian.sh"

image=$1 archive=$2
PACKAGES="dash busybox-static openmpi-bin openssh-client openssh-server procps python3-mpi4py" CLOSURE=1

# linked: the alternatives that scripts of packages would choose.
linked() {
  local name
  for name in mpirun mpiexec; do ln -sf orterun "$tree/usr/bin/$name"; done
  for name in blas lapack; do
    [ ! -e "$tree/usr/lib/$(uname -m)-linux-gnu/$name/lib$name.so.3" ] || ln -sf "$name/lib$name.so.3" "$tree/usr/lib/$(uname -m)-linux-gnu/lib$name.so.3"
  done
}

# peopled: the user of the manifest, with a shell, whom sshd lets in, and places that anybody may write to.
peopled() {
  mkdir -p "$tree"/{etc,tmp,run/sshd}
  chmod 1777 "$tree/tmp"
  printf 'root:x:0:0:root:/root:/bin/sh\nmpi:x:1000:1000::/tmp:/bin/sh\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n' >"$tree/etc/passwd"
  printf 'root:x:0:\nmpi:x:1000:\nnogroup:x:65534:\n' >"$tree/etc/group"
  echo 'hosts: files dns' >"$tree/etc/nsswitch.conf"
}

# shrunk: without compilers and what programs of graphics cards load.
shrunk() {
  rm -rf "$tree"/{,usr/}lib/udev "$tree"/usr/lib/*/{dri,libLLVM-*,libz3.*} "$tree"/usr/lib/gcc "$tree"/usr/include
  find "$tree/usr/lib/python3/dist-packages" -name tests -type d -prune -exec rm -rf {} +
}

# tried: what the program of examples/mpi needs is there.
tried() {
  in_tree $PYTHON -c 'import mpi4py'
  [ -x "$tree/usr/bin/mpirun" ] && [ -x "$tree/usr/sbin/sshd" ]
}

layer mpi hack/e2e/mpi-image.sh linked peopled shrunk tried
hack/offline-kind/build.sh mkimage
"$TOOLS/mkimage" -out "$archive" -tag "$image" -layer "$LAYER" -file examples/mpi/train.py=/train.py -user 1000:1000 \
  -env PATH=/usr/bin:/bin:/usr/sbin
say "built $image, $(du -h "$archive" | cut -f1)"
