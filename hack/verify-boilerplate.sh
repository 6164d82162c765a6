#!/usr/bin/env bash
# Every Go file opens with the licence header of hack/boilerplate.go.txt (any
# year), after build constraints at most.
set -euo pipefail
cd "$(dirname "$0")/.."

wrong=$(find . \( -path ./bin -o -path ./.git \) -prune -o -name '*.go' -print0 | sort -z |
  xargs -0 awk '
    function close_file() { if (file != "" && at < count) print file }
    FILENAME == "hack/boilerplate.go.txt" { header[count++] = $0; next }
    FNR == 1 { close_file(); file = FILENAME; at = 0; bad = 0 }
    bad || at == count || (at == 0 && /^(\/\/go:build .*)?$/) { next }
    { sub(/Copyright 20[0-9][0-9] /, "Copyright 2026 "); if ($0 == header[at]) at++; else bad = 1 }
    END { close_file() }' hack/boilerplate.go.txt)
[ -z "$wrong" ] && exit
echo "$wrong"
echo "licence header missing or different; fix by adding hack/boilerplate.go.txt at the top" >&2
exit 1
