#!/usr/bin/env bash
# Runs config/components/prometheus/rules_test.yaml with promtool: each alert
# fires when it should, and only then.
set -euo pipefail
cd "$(dirname "$0")/.."

hack/build-tool.sh promtool
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The spec of a PrometheusRule is a file of rules.
sed '1,/^spec:$/d; s/^  //' config/components/prometheus/rules.yaml >"$work/rules.yaml"
cp config/components/prometheus/rules_test.yaml "$work"
bin/tools/promtool check rules "$work/rules.yaml"
bin/tools/promtool test rules "$work/rules_test.yaml"
