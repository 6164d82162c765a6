#!/usr/bin/env bash
# .golangci.yml follows its schema, and the linter finds nothing.
#
#   hack/verify-lint.sh              checks everything
#   hack/verify-lint.sh ./pkg/...    checks some packages
set -euo pipefail
cd "$(dirname "$0")/.."

hack/build-tool.sh golangci-lint
bin/tools/golangci-lint config verify

[ $# -gt 0 ] || set -- ./...
bin/tools/golangci-lint run --timeout 20m "$@" && exit
echo "the linter found the above; some of it can be fixed with: make lint-fix" >&2
exit 1
