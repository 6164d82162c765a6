#!/usr/bin/env bash
# Builds a release from the commit that is checked out, without Docker and without pushing anything.
#
#   hack/release/build.sh VERSION DIRECTORY
#
#   IMAGE_REPO        prefix of the images: IMAGE_REPO/manager, IMAGE_REPO/agent
#   RELEASE_URL       where the files can be downloaded afterwards; the krew manifest names it
#   PLUGIN_PLATFORMS  what the kubectl plugin is built for
#
# The same commit, variables and version of Go give the same bytes, whoever builds where: see
# hack/release/verify.sh. DIRECTORY must be empty or missing, so that SHA256SUMS lists nothing else.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=${1:-} directory=${2:-}
repo=${IMAGE_REPO:-jobset}
# Files of images and archives are for everybody, and sorted in one way.
umask 022
export LC_ALL=C TZ=UTC

die() { echo "hack/release/build.sh: $*" >&2; exit 1; }
step() { echo "$(date +%H:%M:%S) $*"; }

[ -n "$directory" ] || die "usage: hack/release/build.sh VERSION DIRECTORY"
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || die "VERSION is \"$version\"; write it as v0.13.0 or v0.13.0-rc.1"
[ -z "$(git status --porcelain)" ] || die "the checkout differs from its commit; commit or remove what git status lists"
[ -z "$(ls -A "$directory" 2>/dev/null)" ] || die "$directory is not empty"
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
commit=$(git rev-parse HEAD)
time=$(git log -1 --format=%ct)
site=$(sed -n 's|^baseURL: \(.*\)|\1|p' site/hugo.yaml)
url=${RELEASE_URL:-${site}releases/$version}
plugin_platforms=${PLUGIN_PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Nothing of the caller's environment may change a binary.
unset GOEXPERIMENT GOAMD64 GOARM64 GODEBUG GOOS GOARCH
. hack/goenv.sh
package=$(go list ./pkg/version)
ldflags="-s -w -X $package.GitVersion=$version -X $package.GitCommit=$commit -X $package.AgentImage=$repo/agent:$version"
build() { go build -ldflags "$ldflags" -o "$1" "$2"; }

step "tools"
go build -o "$work/" ./hack/release ./hack/offline-kind/cmd/mkimage
hack/build-tool.sh kustomize
hack/build-tool.sh helm
"$work/release" notes -out="$directory/release-notes.md" -version="$version" CHANGELOG.md

for arch in amd64 arm64; do
  step "manager, agent and supervisor for linux/$arch"
  for program in manager agent supervisor; do
    GOOS=linux GOARCH=$arch build "$directory/jobset-$program-linux-$arch" "./cmd/$program"
  done
done
plugins=()
for platform in $plugin_platforms; do
  step "kubectl-jobset for $platform"
  name=kubectl-jobset-${platform/\//-}
  mkdir "$work/$name"
  GOOS=${platform%/*} GOARCH=${platform#*/} build "$work/$name/kubectl-jobset" ./cmd/kubectl-jobset
  plugins+=("$name")
done

step "licences and bills of materials"
"$work/release" licences -out="$directory/THIRD-PARTY-LICENSES" "$directory"/jobset-* "$work"/kubectl-jobset-*/kubectl-jobset
bill() { "$work/release" sbom -out="$directory/$1.spdx.json" -time="$time" -version="$version" "${@:2}"; }
for program in manager agent supervisor; do
  bill "jobset-$program" "$directory/jobset-$program-linux-"{amd64,arm64}
done
bill kubectl-jobset "$work"/kubectl-jobset-*/kubectl-jobset

step "images"
install -m 0644 LICENSE "$work/LICENSE" # the image keeps modes, and git gives files that of the umask
image() {
  local name=$1
  shift
  "$work/mkimage" -oci -arch amd64,arm64 -created "$time" -out "$directory/jobset-$name.oci.tar" -tag "$repo/$name:$version" \
    -label "org.opencontainers.image.version=$version" -label "org.opencontainers.image.revision=$commit" \
    -label "org.opencontainers.image.licenses=Apache-2.0" \
    -file "$work/LICENSE=/licenses/LICENSE" -file "$directory/THIRD-PARTY-LICENSES=/licenses/THIRD-PARTY-LICENSES" \
    -file "$directory/jobset-$name-linux-{arch}=/$name" -entrypoint "/$name" -user 65532:65532 "$@"
}
image manager
image agent -file "$directory/jobset-supervisor-linux-{arch}=/supervisor"

step "kubectl plugin"
for name in "${plugins[@]}"; do
  cp LICENSE "$directory/THIRD-PARTY-LICENSES" cmd/kubectl-jobset/kubectl_complete-jobset "$work/$name"
  "$work/release" archive -out="$directory/$name.tar.gz" -time="$time" "$work/$name"
done
"$work/release" krew -out="$directory/krew-jobset.yaml" -version="$version" -url="$url" -homepage="$site" "$directory"/kubectl-jobset-*.tar.gz

step "manifests"
# A copy names the images of the release where config/ names those of a development build.
cp -R config "$work/config"
sed "s|newName: jobset/manager|newName: $repo/manager|; s|newTag: dev|newTag: $version|" \
  config/components/manager/kustomization.yaml >"$work/config/components/manager/kustomization.yaml"
for file in components/manager/controller_manager_config.yaml components/certmanager/kustomization.yaml; do
  sed "s|agentImage: jobset/agent:dev|agentImage: $repo/agent:$version|" "config/$file" >"$work/config/$file"
done
bin/tools/kustomize build "$work/config/default" >"$directory/manifests.yaml"
for kustomization in config/prometheus config/grafana config/overlays/*; do
  bin/tools/kustomize build "$work/$kustomization" >"$directory/manifests-$(basename "$kustomization").yaml"
done
! grep -n "jobset/manager:dev\|jobset/agent:dev" "$directory"/manifests*.yaml || die "these manifests name images of a development build"

step "chart"
# helm writes the time into its archive, so the files are packed again.
hack/publish/chart/package.sh "$version" "$repo/manager" "" "$work/chart" >/dev/null
mkdir "$work/files"
tar -xzf "$work/chart/jobset-${version#v}.tgz" -C "$work/files"
"$work/release" archive -out="$directory/jobset-${version#v}.tgz" -time="$time" "$work/files"
bin/tools/helm template jobset "$directory/jobset-${version#v}.tgz" --set controller.featureGates.InPlaceRestart=true >"$work/rendered.yaml"
for image in manager agent; do
  grep -q "\"$repo/$image:$version\"" "$work/rendered.yaml" || die "the chart does not install $repo/$image:$version"
done

cat >>"$directory/release-notes.md" <<NOTES

## Files

Built from commit $commit with $(go env GOVERSION). SHA256SUMS has the checksum of each file; \`make release VERSION=$version\` with the
same commit, variables and version of Go gives the same bytes.

| file | contents |
|---|---|
| \`manifests*.yaml\` | what \`kubectl apply --server-side -f\` installs: \`manifests.yaml\`, or the one of an overlay |
| \`jobset-${version#v}.tgz\` | the Helm chart |
| \`jobset-manager.oci.tar\`, \`jobset-agent.oci.tar\` | the images \`$repo/manager:$version\` and \`$repo/agent:$version\` for amd64 and arm64, as OCI layouts |
| \`jobset-*-linux-*\` | the programs in the images |
| \`kubectl-jobset-*.tar.gz\`, \`krew-jobset.yaml\` | the kubectl plugin, and its manifest for krew |
| \`*.spdx.json\` | the Go modules in each program, with their licences (SPDX 2.3) |
| \`THIRD-PARTY-LICENSES\` | the texts of these licences |
NOTES
(cd "$directory" && sha256sum -- * >"$work/SHA256SUMS" && cp "$work/SHA256SUMS" .)
[ -n "${RELEASE_URL:-}" ] || echo "RELEASE_URL is not set, so the krew manifest points to $url" >&2
step "$version is in $directory: $(wc -l <"$directory/SHA256SUMS") files and SHA256SUMS"
