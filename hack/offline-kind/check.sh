#!/usr/bin/env bash
# Checks a kind cluster: the kubeconfig, the network (node to pod, pod to pod
# across nodes, a service with several endpoints, DNS), that nothing outside is
# asked, and that a pod restarts all its containers in place. Prints PASS or
# FAIL for each and fails if one failed. Cleans up after itself.
#
#   hack/offline-kind/check.sh
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

namespace=kind-check
failed=0

need_docker
need_cluster
ns() { in_cluster --namespace $namespace "$@"; }
cleanup() { in_cluster delete namespace $namespace --ignore-not-found --wait=false >/dev/null 2>&1 || true; }
trap cleanup EXIT

# check WHAT COMMAND...
check() {
  local what=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "PASS $what"
  else
    echo "FAIL $what: $output"
    failed=$((failed + 1))
  fi
}

"$KIND_DIR/build.sh" mkimage netcheck
"$TOOLS/mkimage" -out "$OUT/netcheck.tar" -tag docker.io/jobset/kind-netcheck:local -file "$TOOLS/netcheck=/netcheck" \
  -skeleton -entrypoint /netcheck
step "loading the image of the check" "$TOOLS/kind" load image-archive --name "$KIND_CLUSTER_NAME" "$OUT/netcheck.tar"
# An earlier run may still be going away.
in_cluster wait --for=delete namespace/$namespace --timeout=60s >/dev/null 2>&1 || true
step "starting pods" in_cluster apply --filename - <"$KIND_DIR/manifests/check.yaml"
step "waiting for them" ns rollout status daemonset/netcheck --timeout=90s

kubectl=kubectl
[ ! -x "$K8S_BIN/kubectl" ] || kubectl=$K8S_BIN/kubectl
if have "$kubectl"; then
  check "kubeconfig $KUBECONFIG" "$kubectl" get --raw /readyz
fi

nodes=$(in_cluster get nodes --output 'jsonpath={.items[*].metadata.name}')
addresses=$(ns get pods --selector app=netcheck --output 'jsonpath={.items[*].status.podIP}')
[ "$(wc -w <<<"$nodes")" = "$(wc -w <<<"$addresses")" ] || { echo "FAIL not every node ($nodes) has a pod ($addresses)"; failed=1; }
for node in $nodes; do
  for address in $addresses; do
    check "node $node -> pod $address" docker exec "$node" curl --silent --fail --max-time 10 "http://$address:8080/"
  done
done

# Each pod reaches all, the service often enough to meet every endpoint, DNS and the API server.
targets=()
for address in $addresses; do targets+=("http://$address:8080/"); done
for _ in 1 2 3 4 5 6 7 8; do targets+=("http://netcheck.$namespace.svc.cluster.local/"); done
targets+=(dns:kubernetes.default.svc.cluster.local https://kubernetes.default.svc.cluster.local/version nodns:example.com)
for pod in $(ns get pods --selector app=netcheck --output name); do
  node=$(ns get "$pod" --output 'jsonpath={.spec.nodeName}')
  # A failure shows as a FAIL line, and as a status where the probe did not run at all.
  if results=$(ns exec "${pod#pod/}" -- /netcheck probe "${targets[@]}" 2>&1); then :; else failed=$((failed + 1)); fi
  awk -v node="$node" '/^(PASS|FAIL)/ {$1 = $1 " pod on " node " ->"} {print}' <<<"$results"
done

# In place: both containers ran a second time, the healthy one too. Nothing makes
# this pod, so it is still the same one.
restarted() {
  local counts
  for _ in $(seq 60); do
    counts=$(ns get pod in-place --output 'jsonpath={.status.containerStatuses[*].restartCount} {.status.containerStatuses[*].ready}')
    [ "$counts" != "1 1 true true" ] || return 0
    sleep 1
  done
  echo "restart counts and readiness of its containers: $counts"
  ns describe pod in-place
  return 1
}
check "pod in-place restarts all its containers" restarted

if [ "$failed" != 0 ]; then
  in_cluster get pods --all-namespaces --output wide || true
  echo "$failed checks failed" >&2
  exit 1
fi
say "cluster $KIND_CLUSTER_NAME passes every check"
