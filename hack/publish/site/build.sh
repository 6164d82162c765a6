#!/usr/bin/env bash
# Builds the site into bin/site. A warning of hugo is an error: a link to a page that is not
# there, a file that cannot be included, a picture without text that stands for it.
#
#   hack/publish/site/build.sh           builds
#   hack/publish/site/build.sh serve     builds, serves on SITE_PORT and builds again when a file changes
set -euo pipefail
cd "$(dirname "$0")/../../.."

hack/build-tool.sh hugo
hugo="$PWD/bin/tools/hugo"
if [ "${1:-}" = serve ]; then
  exec "$hugo" server --source site --noBuildLock --port "${SITE_PORT:-1313}" --renderToMemory --navigateToChanged
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"$hugo" --source site --cleanDestinationDir --printPathWarnings --noBuildLock >"$log" 2>&1 || status=1
! grep -E "^(WARN|ERROR)" "$log" | sed "s|$PWD/||g" >&2 || status=1
if [ "$status" != 0 ]; then
  grep -vE '^(WARN|ERROR)' "$log" >&2 || true
  echo "fix the above in site/; site/README.md describes what a page may contain" >&2
  exit 1
fi
echo "built bin/site: $(find bin/site -name '*.html' | wc -l | tr -d ' ') pages, $(du -sk bin/site | cut -f1) KiB"
