#!/usr/bin/env bash
# Checks what a kind cluster needs of this machine and says how to fix each problem.
#
#   hack/offline-kind/doctor.sh            looks
#   FIX=1 hack/offline-kind/doctor.sh      checks, and patches Docker where privileged containers fail (root)
#   FIX=undo hack/offline-kind/doctor.sh   reverts that patch
#
# The patch: dockerd 20.10 asks for every capability for a privileged
# container, and on a machine that lacks one (restricted virtual machines often
# lack CAP_SYS_RESOURCE) runc refuses. A small default runtime,
# hack/offline-kind/cmd/runcdrop, takes out of each request what the machine does not
# have. It goes to /usr/local/lib/jobset-kind and into /etc/docker/daemon.json.
set -euo pipefail
# shellcheck source=hack/offline-kind/lib.sh
. "$(dirname "$0")/lib.sh"

FIX=${FIX:-}
RUNTIME=jobset-runcdrop
RUNTIME_PROGRAM=/usr/local/lib/jobset-kind/runcdrop
DAEMON_JSON=${DAEMON_JSON:-/etc/docker/daemon.json}
SAVED=$(dirname $RUNTIME_PROGRAM)/daemon.json.before
PROBE=jobset/kind-netcheck:local

bad=0
ok() { printf 'ok    %s\n' "$*"; }
note() { printf 'note  %s\n' "$*"; }
wrong() { # WHAT FIX
  printf 'WRONG %s\n      fix: %s\n' "$1" "$2"
  bad=$((bad + 1))
}

# dockerd's process, if it runs on this machine where we can see it.
dockerd_pid() { cat /var/run/docker.pid 2>/dev/null || pgrep -x dockerd | head -n 1 || true; }

# reload tells dockerd to read its configuration again; containers go on.
reload() {
  local pid
  pid=$(dockerd_pid)
  [ -n "$pid" ] || die "dockerd is not to be seen here; restart Docker by hand"
  kill -HUP "$pid"
  for _ in $(seq 50); do
    [ "$(docker info --format '{{.DefaultRuntime}}')" = "$1" ] && return
    sleep 0.1
  done
  die "dockerd did not take the default runtime $1; restart Docker by hand, then run this again"
}

undo() {
  if [ "$(docker info --format '{{.DefaultRuntime}}')" != $RUNTIME ]; then
    note "Docker does not use $RUNTIME; nothing to take back"
    return
  fi
  "$KIND_DIR/build.sh" dockerconf
  # First runc by name, since dockerd keeps the default it has when a reload finds none.
  "$TOOLS/dockerconf" -file "$DAEMON_JSON" -runtime $RUNTIME -remove
  reload runc
  [ ! -e "$SAVED" ] || "$TOOLS/dockerconf" -file "$DAEMON_JSON" -like "$SAVED"
  rm -rf "$(dirname $RUNTIME_PROGRAM)"
  ok "Docker uses runc again"
}

install_runtime() {
  "$KIND_DIR/build.sh" runcdrop dockerconf
  install -D -m 755 "$TOOLS/runcdrop" $RUNTIME_PROGRAM
  # An empty file stands for none.
  if [ "$(docker info --format '{{.DefaultRuntime}}')" != $RUNTIME ]; then
    cat "$DAEMON_JSON" >"$SAVED" 2>/dev/null || true
  fi
  "$TOOLS/dockerconf" -file "$DAEMON_JSON" -runtime $RUNTIME -path $RUNTIME_PROGRAM
  reload $RUNTIME
}

# privileged: a node is a privileged container, and kind runs privileged processes in it.
privileged() {
  local container=kind-doctor-$$ result=0
  docker run --detach --privileged --network none --name "$container" $PROBE serve && docker exec --privileged "$container" /netcheck ok || result=1
  docker rm --force --volumes "$container"
  return $result
}

check_docker() {
  have docker || { wrong "docker is not on PATH" "install Docker"; return 1; }
  docker info >/dev/null 2>&1 || { wrong "Docker does not answer" "start it, or join the group docker"; return 1; }
  ok "Docker $(docker version --format '{{.Server.Version}}'), $(docker info --format '{{.OSType}}/{{.Architecture}}, storage {{.Driver}}, cgroup v{{.CgroupVersion}}, default runtime {{.DefaultRuntime}}')"
  [ "$(docker info --format '{{.CgroupVersion}}')" != 1 ] || note "cgroup v1 still works with Kubernetes $K8S_VERSION; it is on its way out"
}

check_privileged() {
  local log pid missing
  log=$(mktemp)
  "$KIND_DIR/build.sh" mkimage netcheck
  "$TOOLS/mkimage" -out "$OUT/netcheck.tar" -tag $PROBE -file "$TOOLS/netcheck=/netcheck" -skeleton -entrypoint /netcheck
  docker load --quiet --input "$OUT/netcheck.tar" >/dev/null
  if privileged >"$log" 2>&1; then
    ok "privileged containers run"
  elif [ "$FIX" = 1 ] && [ "$(id -u)" = 0 ] && grep -q 'apply caps' "$log"; then
    install_runtime
    if privileged >"$log" 2>&1; then
      ok "privileged containers run, patched with the runtime $RUNTIME"
    else
      cat "$log"
      wrong "privileged containers do not run even with the runtime $RUNTIME" "the message above says why; FIX=undo takes the runtime back"
    fi
  else
    cat "$log"
    pid=$(dockerd_pid)
    missing=$(awk '/^CapBnd/ {print $2}' "/proc/${pid:-self}/status" 2>/dev/null || true)
    if grep -q 'apply caps' "$log"; then
      wrong "privileged containers fail: dockerd asks for capabilities that it does not have (it has $missing)" \
        "as root: make kind-doctor FIX=1, or a newer Docker"
    else
      wrong "privileged containers fail, see the message above" "rootless or hardened Docker? kind needs one that runs 'docker run --privileged'"
    fi
  fi
  docker rmi $PROBE >/dev/null 2>&1 || true
  rm -f "$log"
}

check_limit() { # FILE LEAST WHAT
  local now
  now=$(cat "/proc/sys/$1" 2>/dev/null) || return 0
  if [ "$now" -ge "$2" ]; then
    ok "$3: $now"
  else
    wrong "$3: $now, which is less than $2" "sudo sysctl -w ${1//\//.}=$2"
  fi
}

check_room() {
  local free memory
  free=$(df -Pk "$ROOT" | awk 'NR == 2 {print int($4 / 1048576)}')
  if [ "$free" -ge 8 ]; then ok "disk: $free GiB free here"; else
    wrong "disk: $free GiB free here; a cluster takes 3, building a node image 15 with Go's caches" "free some, or set KIND_NODE_IMAGE"
  fi
  memory=$(docker info --format '{{.MemTotal}}')
  if [ "$memory" -ge 3000000000 ]; then ok "memory: $((memory / 1073741824)) GiB for Docker"; else
    wrong "memory: less than 3 GB for Docker" "give Docker more; three nodes take 1 GB, tests need some too"
  fi
}

check_fence() {
  if [ "$(id -u)" = 0 ] && have iptables; then
    if iptables -w -n -L DOCKER-USER >/dev/null 2>&1; then ok "fence: iptables has the chain DOCKER-USER"; else
      note "fence: iptables has no chain DOCKER-USER; the cluster will be able to send packets out"
    fi
  else
    note "fence: without root the rule is set from a container of the node image"
  fi
}

check_image() {
  local image
  for image in "$KIND_NODE_IMAGE" "kindest/node:$K8S_VERSION" "$BUILT_IMAGE"; do
    [ -n "$image" ] || continue
    docker image inspect "$image" >/dev/null 2>&1 || continue
    ok "node image: $image"
    return
  done
  if [ -z "$KIND_NODE_IMAGE" ] && [ -e "$CACHE/node-image-$K8S_VERSION.tar.gz" ]; then
    ok "node image: an archive in bin/kind/cache"
    return
  fi
  [ -z "$KIND_NODE_IMAGE" ] || { note "node image: $KIND_NODE_IMAGE will be pulled"; return 0; }
  if [ "$(uname -s)" = Linux ] && [ "$(id -u)" = 0 ] && { have debootstrap || have apt-get; }; then
    note "node image: none yet; it is pulled, or built in 10 to 20 minutes"
  else
    note "node image: none yet; it has to be pulled, since building one takes root and debootstrap"
  fi
}

check_docker || exit 1
if [ "$FIX" = undo ]; then
  undo
  exit
fi
check_privileged
check_limit fs/inotify/max_user_instances 128 "inotify instances"
check_limit fs/inotify/max_user_watches 65536 "inotify watches"
check_room
check_fence
check_image
case $bad in
0) ;;
1) echo "1 thing is wrong" >&2; exit 1 ;;
*) echo "$bad things are wrong" >&2; exit 1 ;;
esac
