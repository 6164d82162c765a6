#!/usr/bin/env bash
# Builds the manager of a commit into bin/old/COMMIT/manager and prints the path:
# what upgrades and downgrades are tried with. Needs the history of the repository.
#
#   hack/build-manager-of.sh [COMMIT | --before FILE]    FILE came with what the manager of main did not do before;
#                                                        default: pkg/workerpod/inject.go, and so agents
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/goenv.sh

# What main was before the merge, or the commit, that brought the file.
before() { git log -1 --first-parent -m --diff-filter=A --format=%P -- "$1" | cut -d ' ' -f 1; }

case ${1:-} in
"") wanted=$(before pkg/workerpod/inject.go) ;;
--before) wanted=$(before "$2") ;;
*) wanted=$1 ;;
esac
commit=$(git rev-parse --verify --quiet "$wanted^{commit}") || {
  echo "commit ${wanted:-$*} is not in this clone; in a shallow clone run: git fetch --unshallow" >&2
  exit 1
}
out=bin/old/$commit/manager
if [ ! -x "$out" ]; then
  source=$(mktemp -d)
  trap 'rm -rf "$source"' EXIT
  git archive "$commit" | tar -x -C "$source"
  mkdir -p "$(dirname "$out")"
  # With the libraries of today, which are compiled already: what is tried is our own code.
  cp go.mod go.sum "$source"
  (cd "$source" && go build -o "$OLDPWD/$out" ./cmd/manager)
fi
echo "$PWD/$out"
