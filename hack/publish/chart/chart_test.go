/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

func TestLint(t *testing.T) {
	version := chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	found := lint.AllWithKubeVersion(filepath.Join(repository, chartDir), nil, "jobset-system", &version)
	if len(found.Messages) == 0 {
		t.Error("the linter has not even missed the icon: it has not looked at the chart")
	}
	for _, message := range found.Messages {
		if message.Severity > support.InfoSev {
			t.Errorf("helm lint --strict: %s", message)
		}
	}
}

func TestChartMetadata(t *testing.T) {
	chart, err := loader.LoadDir(filepath.Join(repository, chartDir))
	if err != nil {
		t.Fatal(err)
	}
	meta := chart.Metadata
	if meta.APIVersion != "v2" || meta.Name != "jobset" || meta.Type != "application" || len(meta.Dependencies) > 0 {
		t.Errorf("API %s, name %s, type %s, dependencies %v", meta.APIVersion, meta.Name, meta.Type, meta.Dependencies)
	}
	if meta.AppVersion != "v"+meta.Version {
		t.Errorf("appVersion is %s, want the tag of version %s", meta.AppVersion, meta.Version)
	}
	for version, want := range map[string]bool{"v1.29.9": false, "v1.30.0": true, "v1.30.5-gke.100": true, "v1.36.3": true} {
		if got := chartutil.IsCompatibleRange(meta.KubeVersion, version); got != want {
			t.Errorf("Kubernetes %s is good enough: %t, want %t", version, got, want)
		}
	}
	if crds := chart.CRDObjects(); len(crds) != 1 || bytes.Contains(crds[0].File.Data, []byte("conversion:")) {
		t.Errorf("want one CRD, without conversion, got %d", len(crds))
	}
}

// Schema and values have the same names, on every level that is ours.
func TestSchemaKnowsExactlyTheValues(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository, chartDir, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	values, err := chartutil.ReadValuesFile(filepath.Join(repository, chartDir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if schema["$schema"] != "http://json-schema.org/draft-07/schema#" {
		t.Errorf("the schema is of %v, want draft 7", schema["$schema"])
	}
	for _, parentOnly := range []string{"global", "enabled"} {
		delete(schema["properties"].(map[string]any), parentOnly)
	}
	compareKeys(t, "", schema, values)
}

func compareKeys(t *testing.T, path string, schema, values map[string]any) {
	t.Helper()
	properties, ok := schema["properties"].(map[string]any)
	if !ok || path == "/certManager/issuerRef" { // a reference, empty by default
		return
	}
	if schema["additionalProperties"] != false {
		t.Errorf("%s: the schema lets in names that it does not know", path)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(values))); diff != "" {
		t.Errorf("%s: names (-schema +values):\n%s", path, diff)
	}
	for key, property := range properties {
		members, _ := values[key].(map[string]any)
		compareKeys(t, path+"/"+key, property.(map[string]any), members)
	}
}
