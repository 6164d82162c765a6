#!/usr/bin/env bash
# The Python package has the classes that the generator makes of the CRD now. What it does with
# them is tested by its unit tests, which `make test` runs.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/verified.sh
command -v python3 >/dev/null || echo "there is no python3, so make test does NOT test sdk/python; install it, for example with: apt-get install python3-minimal" >&2
unchanged api/jobset config/components/crd sdk/python hack/codegen hack/update-python.sh

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
hack/update-python.sh "$fresh"

diff -u sdk/python/jobset/v1alpha2.py "$fresh/sdk/python/jobset/v1alpha2.py" && passed && exit
echo "sdk/python is out of date; fix with: hack/update-python.sh" >&2
exit 1
