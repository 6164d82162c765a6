#!/usr/bin/env bash
# Prepares nodes for exclusive placement with the node-selector strategy: gives each Job a topology
# domain of its own, by a label and a taint on all nodes of the domain.
#
#   label-nodes.sh [--namespace NAMESPACE] [--dry-run] TOPOLOGY JOB...
#   label-nodes.sh [--namespace NAMESPACE] [--dry-run] --undo JOB...
#
#   label-nodes.sh topology.kubernetes.io/zone training-workers-{0..2}
#
# TOPOLOGY is a node label; its values are the domains. A JOB is <JobSet>-<ReplicatedJob>-<index>.
# Domains that belong to a Job stay as they are, so the script may run again. Nothing is changed
# unless there is a domain for every Job. Nodes of the control plane are left out.
set -euo pipefail

label=alpha.jobset.sigs.k8s.io/namespaced-job
taint=alpha.jobset.sigs.k8s.io/no-schedule
namespace=default run="" undo=""

usage() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0" >&2
  exit 64
}

while [ $# -gt 0 ]; do
  case $1 in
  --namespace) [ $# -gt 1 ] || usage; namespace=$2; shift 2 ;;
  --dry-run) run=echo; shift ;;
  --undo) undo=yes; shift ;;
  -*) usage ;;
  *) break ;;
  esac
done

if [ -n "$undo" ]; then
  [ $# -gt 0 ] || usage
  for job in "$@"; do
    for node in $(kubectl get nodes --selector="$label=${namespace}_$job" --output=name); do
      # An earlier run may have ended between the two, and kubectl fails for a taint that is not there.
      case " $(kubectl get "$node" --output=jsonpath='{.spec.taints[*].key}') " in
      *" $taint "*) $run kubectl taint "${node%%/*}" "${node#*/}" "$taint-" ;;
      esac
      $run kubectl label "$node" "$label-"
    done
  done
  exit
fi

[ $# -gt 1 ] || usage
topology=$1
shift

# One line per node: its name, its domain and the Job it belongs to, <none> without one.
path() { echo ".metadata.labels.${1//./\\.}"; }
nodes=$(kubectl get nodes --selector="$topology,!node-role.kubernetes.io/control-plane" --no-headers \
  --output=custom-columns="NAME:.metadata.name,DOMAIN:$(path "$topology"),JOB:$(path "$label")" | LC_ALL=C sort)

# One line per node to change: its name and its Job. A Job keeps the domain it has.
plan=$(printf '%s\n' "$nodes" | awk -v namespace="$namespace" -v jobs="$*" '
  NF == 3 {
    name[++nodes] = $1; domain[nodes] = $2; has[nodes] = $3
    if (!seen[$2]++) order[++domains] = $2
    if ($3 != "<none>") { owner[$2] = $3; of[$3] = $2 }
  }
  END {
    count = split(jobs, wanted, " ")
    for (i = 1; i <= count; i++) {
      job = namespace "_" wanted[i]
      if (!(job in of)) {
        while (next_free < domains && order[++next_free] in owner) { }
        if (order[next_free] in owner || next_free == 0) {
          print "no domain left for " wanted[i] ": there are " domains + 0 > "/dev/stderr"
          exit 1
        }
        of[job] = order[next_free]
        owner[order[next_free]] = job
      }
      for (n = 1; n <= nodes; n++) if (domain[n] == of[job] && has[n] != job) print name[n], job
    }
  }')

while read -r node job; do
  [ -n "$node" ] || continue
  # The taint first: between the two no other Pod may move in.
  $run kubectl taint nodes "$node" "$taint=true:NoSchedule" --overwrite
  $run kubectl label nodes "$node" "$label=$job" --overwrite
done <<<"$plan"
