#!/usr/bin/env bash
# Collects diagnostics of a kind cluster after a failure: objects, and the logs
# of the manager, of all containers and of the kubelets.
#
#   hack/e2e/logs.sh DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=${1:?usage: hack/e2e/logs.sh DIRECTORY}
cluster=${KIND_CLUSTER_NAME:-jobset}
kubectl=$(hack/build-cluster.sh --print-dir)/kubectl
[ -x "$kubectl" ] || kubectl=kubectl
mkdir -p "$dir/nodes" "$dir/objects"

# Nodes that a test paused must run to answer.
for node in $(docker ps --quiet --filter "label=io.x-k8s.kind.cluster=$cluster" --filter status=paused); do
  docker unpause "$node" >/dev/null || true
done

for kind in nodes pods jobs jobsets.jobset.x-k8s.io events deployments leases services validatingwebhookconfigurations; do
  timeout 30 "$kubectl" get "$kind" --all-namespaces --output yaml >"$dir/objects/$kind.yaml" 2>&1 || true
done
timeout 30 "$kubectl" get pods,jobs,jobsets.jobset.x-k8s.io --all-namespaces --output wide >"$dir/objects.txt" 2>&1 || true
timeout 30 "$kubectl" logs --namespace jobset-system --selector control-plane=controller-manager --tail=-1 --prefix >"$dir/manager.log" 2>&1 || true

for node in $(docker ps --quiet --filter "label=io.x-k8s.kind.cluster=$cluster"); do
  name=$(docker inspect --format '{{slice .Name 1}}' "$node")
  for unit in kubelet containerd; do
    timeout 30 docker exec "$node" journalctl --no-pager --unit "$unit" >"$dir/nodes/$name-$unit.log" 2>&1 || true
  done
  # Logs of all containers, also of earlier runs and of Pods that are gone if the node still has them.
  mkdir -p "$dir/nodes/$name"
  timeout 60 docker exec "$node" tar -C /var/log -cf - pods 2>/dev/null | tar -C "$dir/nodes/$name" -xf - 2>/dev/null || true
done
echo "logs are in $dir"
