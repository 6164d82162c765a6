#!/usr/bin/env bash
# Provides an image with a shell, Python and PyTorch for the end-to-end tests, as an archive for load.sh.
#
#   hack/e2e/torch-image.sh IMAGE ARCHIVE
#
# It is built from the Debian package python3-torch and what that depends on, less what a training without
# pictures and screens does not load. Such a large image does not go through the Docker of this machine.
set -euo pipefail
# shellcheck source=hack/e2e/debian.sh
. "$(dirname "$0")/debian.sh"

image=$1 archive=$2
PACKAGES="dash busybox-static python3-torch" CLOSURE=1

# linked: the alternatives that scripts of packages would choose.
linked() {
  local name
  for name in blas lapack; do
    ln -sf "$name/lib$name.so.3" "$tree/usr/lib/$(uname -m)-linux-gnu/lib$name.so.3"
  done
}

# repaired: torchrun of bookworm is written for Python 3.10. Since 3.11 a loop over flags leaves out NONE, and it fails.
repaired() {
  sed -i 's/for s in Std:/for s in Std.__members__.values():/' "$tree/usr/lib/python3/dist-packages/torch/distributed/elastic/multiprocessing/api.py"
}

# shrunk: without tests, drivers of graphics cards, and data of libraries for pictures and maps.
shrunk() {
  local packages=$tree/usr/lib/python3/dist-packages
  rm -rf "$tree"/usr/share "$tree"/{,usr/}lib/udev "$tree"/usr/lib/libtorch-test "$packages"/torch/{bin/test_*,include,test} \
    "$tree"/usr/lib/*/{dri,mfx,qt5,libLLVM-*,libz3.*,libmfxhw64.*}
  find "$packages" -name tests -type d -prune -exec rm -rf {} +
}

# compiled: Python would compile each file at each start, since the program cannot write beside it.
compiled() {
  in_tree $PYTHON -m compileall -q --invalidation-mode unchecked-hash -s "$tree" -p / "$tree/usr/lib/$PYTHON" "$tree/usr/lib/python3/dist-packages" || true
}

# tried: what the program of examples/pytorch needs is there.
tried() {
  in_tree $PYTHON -c 'import torch.distributed.run; assert torch.distributed.is_available(); torch.ones(2, 2) @ torch.ones(2, 2)'
}

layer torch hack/e2e/torch-image.sh linked repaired shrunk compiled tried
hack/offline-kind/build.sh mkimage
"$TOOLS/mkimage" -out "$archive" -tag "$image" -layer "$LAYER" -skeleton -env PATH=/usr/bin:/bin
say "built $image, $(du -h "$archive" | cut -f1)"
