#!/usr/bin/env bash
# Every kustomization renders without a warning, and the install has exactly the
# objects listed in hack/install-objects.txt, because users and other programs rely
# on their names. Components cannot be rendered alone, so some kustomization must
# use each. Everything that a Deployment mounts exists or is created by a
# Certificate. No component replaces a configuration that the user supplied.
set -euo pipefail
cd "$(dirname "$0")/.."
. hack/verified.sh
unchanged config 'test/*.yaml' examples hack/install-objects.txt hack/build-tool.sh hack/tools/go.mod

hack/build-tool.sh kustomize
work=$(mktemp -d)
own=$(mktemp -d bin/kustomize-own.XXXXXX) # in the repository: kustomize takes relative paths only
trap 'rm -rf "$work" "$own"' EXIT
status=0

# Secrets and ConfigMaps that Pods of a rendered file mount, but that are not in it.
mounted() {
  awk '
    /^---/ { kind = "" }
    /^kind: / { kind = $2 }
    /^metadata:/ { meta = 1; next }
    /^[a-z]/ { meta = 0 }
    meta && /^  name: / { there[$2] = 1 }
    /^  secretName: / { there[$2] = 1 }
    kind == "Deployment" && /^      volumes:/ { volumes = 1 }
    kind != "Deployment" { volumes = 0 }
    volumes && (/^          secretName: / || /^          name: /) { wanted[$2] = 1 }
    END { for (name in wanted) if (!(name in there)) print name }' "$1"
}

while read -r file; do
  dir=$(dirname "$file")
  if grep -q '^kind: Component$' "$file"; then
    if ! grep -rqE --include=kustomization.yaml "^- (\.\./)+components/$(basename "$dir")\$" config; then
      echo "nothing uses $dir, so nothing tests it; add it to a kustomization under config/overlays" >&2
      status=1
    fi
    continue
  fi
  if ! bin/tools/kustomize build "$dir" >"$work/out" 2>"$work/err" || [ -s "$work/err" ]; then
    cat "$work/err"
    echo "$dir does not render without warnings; check with: bin/tools/kustomize build $dir" >&2
    status=1
  fi
  case $dir in ./config/components/*) continue ;; esac # parts of an install
  dangling=$(mounted "$work/out")
  if [ -n "$dangling" ]; then
    echo "$dir mounts objects that it does not contain: $dangling" >&2
    status=1
  fi
done < <(find . \( -path ./bin -o -path ./.git \) -prune -o -name kustomization.yaml -print | sort)

# Renders a kustomization with its own configuration, and the argument as one more line.
with_own_configuration() {
  printf 'featureGates: {OfTheUser: true}\n' >"$own/controller_manager_config.yaml"
  cat >"$own/kustomization.yaml" <<EOF
resources: [../../config/default]
$1
configMapGenerator:
- name: jobset-manager-config
  namespace: jobset-system
  behavior: replace
  files: [controller_manager_config.yaml]
  options: {disableNameSuffixHash: true}
EOF
  bin/tools/kustomize build "$own" 2>&1 || true
}
case $(with_own_configuration "") in
*OfTheUser*) ;;
*)
  echo "config/default ignores a configuration that the user supplies; see config/components/manager" >&2
  status=1
  ;;
esac
case $(with_own_configuration "components: [../../config/components/certmanager]") in
*OfTheUser* | *"testing value /data/controller_manager_config.yaml failed"*) ;;
*)
  echo "config/components/certmanager silently replaces a configuration that the user supplied; its patch must first test for the default one" >&2
  status=1
  ;;
esac

# One line per object: kind, namespace (or -), name.
objects() {
  bin/tools/kustomize build "$1" | awk '
    function flush() { if (kind != "") print kind, (namespace == "" ? "-" : namespace), name; kind = name = namespace = ""; meta = 0 }
    /^---/ { flush(); next }
    /^kind:/ { kind = $2 }
    /^[a-zA-Z]/ { meta = ($1 == "metadata:") }
    meta && /^  name:/ { name = $2 }
    meta && /^  namespace:/ { namespace = $2 }
    END { flush() }' | LC_ALL=C sort
}
if ! diff -u hack/install-objects.txt <(objects config/default); then
  echo "the objects of config/default changed; if that is intended, edit hack/install-objects.txt" >&2
  status=1
fi
[ "$status" != 0 ] || passed
exit "$status"
