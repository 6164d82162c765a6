#!/usr/bin/env bash
# Makes a package of the chart whose default image is the given one. The
# repository stays as it is.
#
#   hack/publish/chart/package.sh VERSION IMAGE_REPOSITORY IMAGE_TAG DIRECTORY
#
# VERSION may be empty, for that of Chart.yaml, and may begin with v. With a
# version, appVersion is its tag, and an empty IMAGE_TAG stands for appVersion.
set -euo pipefail
cd "$(dirname "$0")/../../.."

version=${1#v} repository=$2 tag=$3 directory=$4
hack/build-tool.sh helm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R charts/jobset "$work"

# set_value KEY VALUE: each key is there once, in the block of the image.
set_value() {
  local values=$work/jobset/values.yaml
  [ "$(grep -c "^  $1:" "$values")" = 1 ] || { echo "values.yaml does not have exactly one line \"  $1:\"" >&2; exit 1; }
  sed "s|^  $1:.*|  $1: \"$2\"|" "$values" >"$values.new"
  mv "$values.new" "$values"
}
set_value repository "$repository"
set_value tag "$tag"

args=()
[ -z "$version" ] || args=(--version "$version" --app-version "v$version")
mkdir -p "$directory"
bin/tools/helm package "$work/jobset" --destination "$directory" ${args[@]+"${args[@]}"}
