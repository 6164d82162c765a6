#!/usr/bin/env bash
# The tests of the site's tools pass, and docs/pictures/*.svg is what the *.txt beside them
# say. The site itself is built and checked by `make site`, which needs hugo.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/goenv.sh
. hack/verified.sh
unchanged hack/publish/go.mod hack/publish/site docs/pictures
cd hack/publish/site

status=0
go vet ./check ./pictures || status=1
go test ./check ./pictures || status=1
go run ./pictures -check ../../../docs/pictures || status=1
[ "$status" != 0 ] || { cd ../../.. && passed; }
exit "$status"
