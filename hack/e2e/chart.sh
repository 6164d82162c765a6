#!/usr/bin/env bash
# Installs, uses, upgrades and uninstalls the Helm chart on the cluster that
# KUBECONFIG names. The cluster must have the images and no JobSet; it is left
# as it was.
#
#   IMAGE_REPO, IMAGE_TAG   images of manager, agent and worker (jobset, dev)
set -euo pipefail
cd "$(dirname "$0")/../.."

: "${KUBECONFIG:?says which cluster to use; it is not the one of ~/.kube/config by accident}"
repo=${IMAGE_REPO:-jobset} tag=${IMAGE_TAG:-dev}
release=jobset system=jobset-chart-system team=jobset-chart-team
crd=jobsets.jobset.x-k8s.io

hack/build-tool.sh helm
helm() { bin/tools/helm --namespace "$system" "$@"; }
kubectl=$(hack/build-cluster.sh --print-dir)/kubectl
[ -x "$kubectl" ] || kubectl=kubectl
kubectl() { command "$kubectl" "$@"; }

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# All objects of the release, by kind and name; webhook configurations have fixed names.
leftovers() {
  kubectl get deployments,replicasets,pods,services,endpointslices,configmaps,secrets,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings,poddisruptionbudgets,flowschemas,prioritylevelconfigurations \
    --all-namespaces --selector "app.kubernetes.io/name=jobset,app.kubernetes.io/instance=$release" --output name
}

# create creates a manifest. It retries while the API server does not know a new manager yet,
# or still asks an old one.
create() {
  local message
  for _ in $(seq 60); do
    if message=$(kubectl create --namespace "$team" "$@" 2>&1); then
      return
    fi
    case $message in
    *"failed calling webhook"*) sleep 0.5 ;;
    *) break ;;
    esac
  done
  printf '%s\n' "$message"
  return 1
}

manager_pods() { kubectl get pods --namespace "$system" --selector app.kubernetes.io/component=controller --field-selector status.phase=Running --output name; }

finish() {
  local status=$?
  trap - EXIT INT TERM
  rm -f "${small:-}" "${in_place:-}"
  if [ "$status" != 0 ]; then
    kubectl get all --namespace "$system" || true
    kubectl get events --namespace "$system" || true
    kubectl logs --namespace "$system" --selector app.kubernetes.io/component=controller --tail=50 || true
  fi
  helm uninstall "$release" --ignore-not-found --wait >/dev/null || status=1
  kubectl delete namespace "$system" "$team" --ignore-not-found --wait --timeout=60s >/dev/null || status=1
  kubectl delete crd "$crd" --ignore-not-found --wait --timeout=60s >/dev/null || status=1
  say "$([ "$status" = 0 ] && echo 'the chart works' || echo FAILED)"
  exit "$status"
}

for there in "crd $crd" "validatingwebhookconfiguration jobset-validating-webhook-configuration"; do
  # shellcheck disable=SC2086
  if kubectl get $there >/dev/null 2>&1; then
    die "there is a $there: the chart needs a cluster without JobSet"
  fi
done
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

kubectl create namespace "$team" >/dev/null
helm install "$release" charts/jobset --create-namespace --wait --timeout 180s >/dev/null \
  --set "image.repository=$repo/manager,image.tag=$tag" \
  --set controller.featureGates.InPlaceRestart=true \
  --set flowControl.enable=true \
  --set "agentAccess.enable=true,agentAccess.namespaces={$team}"
say "installed, and ready"

in_place=$(mktemp) small=$(mktemp)
sed "s#jobset/worker:dev#$repo/worker:$tag#" config/samples/jobset_v1alpha2_in_place_restart.yaml >"$in_place"
cat >"$small" <<EOF
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: small
spec:
  replicatedJobs:
  - name: workers
    replicas: 2
    template:
      spec:
        template:
          spec:
            restartPolicy: Never
            containers:
            - name: worker
              image: $repo/worker:$tag
              args: [resolve, localhost]
EOF
create -f "$small" || die "no JobSet could be created"
kubectl wait --namespace "$team" --for=condition=Completed jobset/small --timeout=60s >/dev/null
say "a JobSet completed"

# The short manifest runs if the gate is on, and if agents have their image and their rights.
create -f "$in_place" || die "the feature gate is off"
kubectl wait --namespace "$team" --for='jsonpath={.status.syncedEpoch}=1' jobset/training --timeout=60s >/dev/null
kubectl delete --namespace "$team" jobset/training >/dev/null
say "a group came together"
kubectl get --namespace "$team" serviceaccount/jobset-agent rolebinding/jobset-agent >/dev/null
before=$(manager_pods)
certificate=$(kubectl get secret --namespace "$system" jobset-webhook-server-cert --output 'jsonpath={.data.tls\.crt}')

helm show crds charts/jobset | kubectl apply --server-side --force-conflicts -f - >/dev/null
helm upgrade "$release" charts/jobset --reset-then-reuse-values --wait --timeout 120s >/dev/null \
  --set controller.featureGates.InPlaceRestart=false
after=$(manager_pods)
for pod in $before; do
  ! grep -qx "$pod" <<<"$after" || kubectl wait --namespace "$system" --for=delete "$pod" --timeout=30s >/dev/null ||
    die "the manager $pod did not restart for its changed configuration"
done
say "upgraded: the manager has its new configuration"

if message=$(create --dry-run=server -f "$in_place"); then
  die "the feature gate is still on"
fi
grep -q InPlaceRestart <<<"$message" || die "refused for another reason: $message"
[ "$certificate" = "$(kubectl get secret --namespace "$system" jobset-webhook-server-cert --output 'jsonpath={.data.tls\.crt}')" ] ||
  die "the upgrade touched the certificate of the webhooks"

helm uninstall "$release" --wait --timeout 60s >/dev/null
for _ in $(seq 30); do
  left=$(leftovers)
  [ -n "$left" ] || break
  sleep 1
done
[ -z "$left" ] || die "helm uninstall left behind: $left"
kubectl get --namespace "$team" jobset/small >/dev/null || die "helm uninstall took JobSets with it"
say "uninstalled: the CRD is left, with its JobSets"
