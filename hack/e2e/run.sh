#!/usr/bin/env bash
# Runs the end-to-end tests from scratch: kind cluster, images, install, tests,
# uninstall, and an install with the chart; then removes everything. If a step
# fails, diagnostics are kept in bin/e2e-logs. `make test-e2e` calls this
# with the variables of hack/make/e2e.mk.
#
#   KEEP=1       the cluster stays
#   E2E_TORCH=1  also the stories with PyTorch, whose image takes minutes the first time
#   E2E_MPI=1    also the story with OpenMPI, whose image takes a minute the first time
set -euo pipefail
cd "$(dirname "$0")/../.."
. hack/timed.sh

KUBECONFIG=$(hack/offline-kind/lib.sh | sed -n 's/^KUBECONFIG=//p')
export KUBECONFIG
logs=$PWD/bin/e2e-logs
repo=${IMAGE_REPO:-jobset} tag=${IMAGE_TAG:-dev}
previous=$repo/manager:$tag-previous pods_only=$repo/manager:$tag-pods-only python=$repo/python:$tag
torch="" torch_archive=$PWD/bin/kind/torch-image.tar
[ -z "${E2E_TORCH:-}" ] || torch=$repo/torch:$tag
mpi="" mpi_archive=$PWD/bin/kind/mpi-image.tar
[ -z "${E2E_MPI:-}" ] || mpi=$repo/mpi:$tag

rm -rf "$logs" bin/e2e-report.md
mkdir -p "$logs"
summary=""

# part NAME COMMAND...: runs a command and records how long it took.
part() {
  local name=$1 start=$SECONDS
  shift
  printf '\n==> %s\n' "$name"
  if "$@" 2>&1 | tee "$logs/$(echo "$name" | tr -cs 'a-z0-9\n' -).log"; then
    summary+=$(printf 'ok     %5d s  %s' "$((SECONDS - start))" "$name")$'\n'
    return
  fi
  summary+=$(printf 'FAILED %5d s  %s' "$((SECONDS - start))" "$name")$'\n'
  failed=${failed:-$name}
  return 1
}

# The objects in Docker, one per line.
holdings() {
  docker ps --all --format 'container {{.Names}}'
  docker network ls --format 'network {{.Name}}'
  docker volume ls --format 'volume {{.Name}}'
}

install() {
  make --no-print-directory kind-load IMAGES="$repo/manager:$tag $repo/agent:$tag $repo/worker:$tag $python $previous $pods_only ${torch:+$torch_archive} ${mpi:+$mpi_archive}" &&
    make --no-print-directory deploy DEPLOY_CONFIG=test/e2e/config
}

tell() {
  E2E_LOGS=$logs E2E_REPORT=$PWD/bin/e2e-report.md E2E_PREVIOUS_IMAGE=$previous E2E_PODS_ONLY_IMAGE=$pods_only \
    E2E_AGENT_IMAGE=$repo/agent:$tag E2E_WORKER_IMAGE=$repo/worker:$tag E2E_PYTHON_IMAGE=$python E2E_TORCH_IMAGE=$torch E2E_MPI_IMAGE=$mpi make --no-print-directory test-e2e-only
}

# The machine is left as it was: a patched Docker stays patched only if it was before.
finish() {
  local status=$?
  trap - EXIT INT TERM
  [ -z "${failed:-}" ] || hack/e2e/logs.sh "$logs" || true
  if [ -n "${KEEP:-}" ]; then
    printf '\nThe cluster stays: export KUBECONFIG=%s\nRemove it with: make kind-down%s\n' "$KUBECONFIG" "${KIND_CLUSTER_NAME:+ KIND_CLUSTER_NAME=$KIND_CLUSTER_NAME}"
  else
    part 'remove the cluster' make --no-print-directory kind-down || status=1
    docker image rm $previous $pods_only >/dev/null 2>&1 || true
    if [ -n "${patched:-}" ]; then
      part 'undo the patch of Docker' make --no-print-directory kind-doctor FIX=undo || status=1
    fi
    left=$(comm -13 <(echo "$before" | sort) <(holdings | sort))
    [ -z "$left" ] || { printf 'left behind in Docker:\n%s\n' "$left" >&2; status=1; }
  fi
  : >"$lock"
  printf '\n%s' "$summary"
  printf '%s %5d s  total\n' "$([ "$status" = 0 ] && echo 'ok    ' || echo FAILED)" "$SECONDS"
  if [ "$status" = 0 ]; then remember test-e2e; else hack/e2e/first-failure.sh "$logs" "${failed:-}"; fi
  exit "$status"
}

command -v docker >/dev/null && docker info >/dev/null 2>&1 || { echo "make test-e2e needs a running Docker daemon" >&2; exit 1; }
# A second run would take a node that a story of the first has paused for a broken cluster, and replace it. The file has
# the process that holds it and whether it patched Docker, and is empty unless a run is under way or was killed.
lock=${TMPDIR:-/tmp}/jobset-e2e-${KIND_CLUSTER_NAME:-jobset}.lock
touch "$lock"
holds() { [ "/proc/$1/fd/9" -ef "$lock" ]; }
if command -v flock >/dev/null; then
  exec 9>>"$lock"
  if ! flock --nonblock 9; then
    read -r owner _ <"$lock" || owner=$$
    ! holds "$owner" || { echo "another run of the end-to-end tests uses this cluster; wait for it, or set KIND_CLUSTER_NAME" >&2; exit 1; }
    echo "the last run was killed; ending what it had started" >&2
    for process in /proc/[0-9]*; do
      process=${process#/proc/}
      [ "$process" = $$ ] || ! holds "$process" || kill -KILL "$process" || true
    done
    flock --timeout 60 9 || { echo "$lock is held by what cannot be killed" >&2; exit 1; }
  fi
fi
lasted test-e2e
# A run that was killed left its cluster, with JobSets in it, and perhaps a patched Docker.
read -r owner patched <"$lock" || owner=""
echo "$$ ${patched:-}" >"$lock"
if [ -n "$owner" ]; then
  echo "the last run was killed; removing what it left"
  make --no-print-directory kind-down
fi
before=$(holdings)
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if ! make --no-print-directory kind-doctor >/dev/null 2>&1; then
  patched=1
fi
echo "$$ ${patched:-}" >"$lock"
part 'the machine' make --no-print-directory kind-doctor FIX=1
part 'the cluster' make --no-print-directory kind-up
part 'the images' hack/e2e/images.sh "$repo" "$tag" "$previous" "$pods_only"
docker image inspect "$previous" >/dev/null 2>&1 || previous=""
docker image inspect "$pods_only" >/dev/null 2>&1 || pods_only=""
part 'the image with Python' hack/e2e/python-image.sh "$python"
[ -z "$torch" ] || part 'the image with PyTorch' hack/e2e/torch-image.sh "$torch" "$torch_archive"
[ -z "$mpi" ] || part 'the image with OpenMPI' hack/e2e/mpi-image.sh "$mpi" "$mpi_archive"
part 'the install' install
part 'the stories' tell
part 'the uninstall' hack/e2e/uninstall.sh test/e2e/config
part 'the chart' env IMAGE_REPO="$repo" IMAGE_TAG="$tag" hack/e2e/chart.sh
