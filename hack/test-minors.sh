#!/usr/bin/env bash
# Runs the integration specs that carry the contract on the control planes of several minor versions of Kubernetes, on
# simulated nodes: the stories with the label "contract", and all that admission and the schema say. What a version lacks
# is left out by the stories themselves, which check first that admission says so. Writes the table bin/minors.md.
#
#   hack/test-minors.sh VERSION...    `make test-minors` names them
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/goenv.sh

[ $# -gt 0 ] || { echo "usage: hack/test-minors.sh v1.MINOR.PATCH..." >&2; exit 64; }
out=$PWD/bin/minors table=$PWD/bin/minors.md
mkdir -p "$out"
hack/build-tool.sh ginkgo

# number STATE FILE...: how many specs of the reports ended so.
number() {
  local state=$1
  shift
  case $state in
    passed) cat "$@" | grep -c '<testcase name="\[It\] [^>]*status="passed"' || true ;;
    failed) cat "$@" | grep -cE '<testcase [^>]*status="(failed|panicked|timedout|interrupted|aborted)"' || true ;;
  esac
}

# reasons FILE...: why specs were left out, each reason once, with the number of specs. Those that were not chosen have none.
reasons() {
  cat "$@" | sed -n 's/.*<skipped message="skipped - \([^"]*\)".*/\1/p' | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/\1: \2/' | paste -sd ';' | sed 's/;/; /g'
}

status=0
printf '| Kubernetes | passed | failed | left out |\n|---|---|---|---|\n' >"$table"
for version; do
  dir=$(hack/build-minor.sh "$version")
  printf '\n==> %s\n' "$version"
  rm -f "$out"/*-"$version".xml
  for suite in embedded:contract webhook:; do
    KUBEBUILDER_ASSETS=$dir bin/tools/ginkgo run --procs="${INTEGRATION_PROCS:-4}" --no-color --timeout=60m --keep-going \
      --label-filter="${suite#*:}" --junit-report="${suite%%:*}-$version.xml" --output-dir="$out" "./test/integration/${suite%%:*}" || status=1
  done
  left=$(reasons "$out"/*-"$version".xml)
  printf '| %s | %s | %s | %s |\n' "${version#v}" "$(number passed "$out"/*-"$version".xml)" "$(number failed "$out"/*-"$version".xml)" \
    "${left:-nothing}" >>"$table"
done
cat "$table"
exit "$status"
