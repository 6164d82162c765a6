#!/usr/bin/env bash
# The configuration that config/ installs names the agent that is released with its
# manager: the image beside the manager's, with the same tag. So does kubectl jobset inject.
set -euo pipefail
cd "$(dirname "$0")/.."

kustomization=config/components/manager/kustomization.yaml
manager=$(sed -n 's/^  newName: //p' "$kustomization"):$(sed -n 's/^  newTag: //p' "$kustomization")
want=${manager/%\/manager:*/\/agent:${manager##*:}}
status=0
for file in config/components/manager/controller_manager_config.yaml config/components/certmanager/kustomization.yaml pkg/version/version.go; do
  found=$(sed -n 's/^ *agentImage: //p; s/^\tAgentImage = "\(.*\)"/\1/p' "$file" | sort -u)
  [ "$found" = "$want" ] || {
    echo "$file names the agent \"$found\", and the manager of $kustomization is $manager; set $want" >&2
    status=1
  }
done
exit "$status"
