#!/usr/bin/env bash
# A check that has passed with the same inputs has nothing to check again. Sourced by
# verify scripts, which name all that they read; times do not count, only contents:
#
#   unchanged PATH...   ends the script with success if it passed with these contents before
#   passed              remembers that it did
set -euo pipefail

VERIFIED=$PWD/bin/verified/$(basename "$0" .sh)

# fingerprint PATH...: of the files that Git tracks or would, their names, the script and the Go version.
fingerprint() {
  {
    go env GOVERSION GOOS GOARCH
    git ls-files --cached --others --exclude-standard --deduplicate -z -- "hack/$(basename "$0")" hack/verified.sh hack/goenv.sh "$@" |
      while IFS= read -r -d '' file; do [ ! -f "$file" ] || sha256sum "$file"; done
  } | sha256sum
}

unchanged() {
  FINGERPRINT=$(fingerprint "$@")
  [ "$(cat "$VERIFIED" 2>/dev/null)" = "$FINGERPRINT" ] || return 0
  echo "passed with the same inputs before: bin/verified/$(basename "$VERIFIED")"
  exit 0
}

passed() {
  mkdir -p "$(dirname "$VERIFIED")"
  echo "$FINGERPRINT" >"$VERIFIED"
}
