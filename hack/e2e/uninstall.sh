#!/usr/bin/env bash
# Uninstalls what `make deploy` installed, and checks that nothing of it is left.
set -euo pipefail
cd "$(dirname "$0")/../.."

make --no-print-directory undeploy DEPLOY_CONFIG="${1:?usage: hack/e2e/uninstall.sh KUSTOMIZATION}"

kubectl=$(hack/build-cluster.sh --print-dir)/kubectl
[ -x "$kubectl" ] || kubectl=kubectl # the node image was there, so nothing was built here
status=0
while read -r kind namespace name; do
  args=("$kind" "$name")
  [ "$namespace" = - ] || args+=(--namespace "$namespace")
  # Objects with finalizers, the CRD and the namespace, take a moment to disappear.
  "$kubectl" wait --for=delete "${args[@]}" --timeout=120s >/dev/null || { echo "left behind: $kind $name" >&2; status=1; }
done <hack/install-objects.txt
[ "$status" = 1 ] || echo "nothing of the install is left"
exit "$status"
