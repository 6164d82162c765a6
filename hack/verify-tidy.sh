#!/usr/bin/env bash
# go.mod and go.sum of every module list exactly what is used, and the ginkgo
# command has the version of the ginkgo library.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/verified.sh
# What a module needs follows from its Go files.
unchanged '*.go' '*go.mod' '*go.sum'

status=0
while read -r mod; do
  dir=$(dirname "$mod")
  if ! (cd "$dir" && GOWORK=off GOFLAGS=-mod=mod go mod tidy -diff); then
    echo "$mod is not tidy; fix with: (cd $dir && go mod tidy)" >&2
    status=1
  fi
done < <(find . \( -path ./bin -o -path ./.git \) -prune -o -name go.mod -print | sort)

version_of() { awk -v module="$2" '{for (i = 1; i < NF; i++) if ($i == module) {print $(i + 1); exit}}' "$1"; }
library=$(version_of go.mod github.com/onsi/ginkgo/v2)
command=$(version_of hack/tools/go.mod github.com/onsi/ginkgo/v2)
if [ "$library" != "$command" ]; then
  echo "ginkgo is $library in go.mod and $command in hack/tools/go.mod; fix with:" \
    "(cd hack/tools && go get github.com/onsi/ginkgo/v2@$library && go mod tidy)" >&2
  status=1
fi
[ "$status" != 0 ] || passed
exit "$status"
