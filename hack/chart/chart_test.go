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
	"strings"
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
		t.Errorf("O126: API %s, name %s, type %s, dependencies %v", meta.APIVersion, meta.Name, meta.Type, meta.Dependencies)
	}
	if meta.AppVersion != "v"+meta.Version {
		t.Errorf("O460: appVersion is %s, want the tag of version %s", meta.AppVersion, meta.Version)
	}
	for version, want := range map[string]bool{"v1.29.9": false, "v1.30.0": true, "v1.30.5-gke.100": true, "v1.36.3": true} {
		if got := chartutil.IsCompatibleRange(meta.KubeVersion, version); got != want {
			t.Errorf("Kubernetes %s is good enough: %t, want %t", version, got, want)
		}
	}
	if crds := chart.CRDObjects(); len(crds) != 1 || bytes.Contains(crds[0].File.Data, []byte("conversion:")) {
		t.Errorf("O126, O509: want one CRD, without conversion, got %d", len(crds))
	}
}

func TestSchemaRefuses(t *testing.T) {
	tests := map[string]struct {
		values string
		want   []string
	}{
		"a name with a typing error":                {`replica: 2`, []string{"replica"}},
		"a name on the wrong level":                 {`controller: {enable: true}`, []string{"/controller", "enable"}},
		"a name deep down":                          {`controller: {leaderElection: {enabled: true}}`, []string{"/controller/leaderElection", "enabled"}},
		"a number as text":                          {`controller: {replicas: two}`, []string{"/controller/replicas"}},
		"a fraction of a replica":                   {`controller: {replicas: 1.5}`, []string{"/controller/replicas"}},
		"a feature gate that is neither on nor off": {`controller: {featureGates: {InPlaceRestart: "yes"}}`, []string{"/controller/featureGates/InPlaceRestart"}},
		"an old version of TLS":                     {`controller: {tls: {minVersion: VersionTLS11}}`, []string{"/controller/tls/minVersion"}},
		"a limit of no requests":                    {`controller: {clientConnection: {qps: 0}}`, []string{"/controller/clientConnection/qps"}},
		"a port out of range":                       {`webhook: {port: 70000}`, []string{"/webhook/port"}},
		"a failure policy that does not exist":      {`webhook: {failurePolicy: fail}`, []string{"/webhook/failurePolicy"}},
		"an address without a port":                 {`metrics: {bindAddress: localhost}`, []string{"/metrics/bindAddress"}},
		"a pull policy that does not exist":         {`image: {pullPolicy: Sometimes}`, []string{"/image/pullPolicy"}},
		"a pull secret that is only a name":         {`image: {pullSecrets: [mine]}`, []string{"/image/pullSecrets/0"}},
		"a probe that asks something else":          {`controller: {livenessProbe: {exec: {command: [true]}}}`, []string{"/controller/livenessProbe", "exec"}},
		"a label that is a number":                  {`commonLabels: {year: 2026}`, []string{"/commonLabels/year"}},
		"a namespace that is none":                  {`agentAccess: {enable: true, namespaces: [Team_A]}`, []string{"/agentAccess/namespaces/0"}},
		"flow control that is half on":              {`flowControl: {enable: "yes"}`, []string{"/flowControl/enable"}},
		"null in place of what has to be":           {`controller: {replicas: null}`, []string{"replicas"}},
		"a cipher suite that is none":               {`controller: {tls: {cipherSuites: [AES]}}`, []string{"/controller/tls/cipherSuites/0"}},
		"a whole block of another kind":             {`certManager: true`, []string{"certManager"}},
		"a budget that is neither number nor share": {`controller: {podDisruptionBudget: {minAvailable: most}}`, []string{"/controller/podDisruptionBudget/minAvailable"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := release{values: tc.values}.files(t)
			wantError(t, err, tc.want...)
		})
	}
}

// What a parent chart passes down, whether asked to or not.
func TestSchemaAcceptsBeingASubchart(t *testing.T) {
	if _, err := (release{values: `{global: {registry: example.com}, enabled: true}`}).files(t); err != nil {
		t.Error(err)
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

func TestReadmeListsEveryValue(t *testing.T) {
	settings, err := readSettings(filepath.Join(repository, chartDir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(repository, chartDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(settings) < 50 {
		t.Errorf("values.yaml has %d values, and has had more", len(settings))
	}
	for _, s := range settings {
		if row := "| `" + s.path + "` | `" + s.value + "` |"; !strings.Contains(string(readme), row) {
			t.Errorf("README.md has no row %s", row)
		}
	}
}

func TestReadSettings(t *testing.T) {
	tests := map[string]struct {
		text    string
		want    []setting
		wantErr string
	}{
		"a comment is a row, and a value without one a group": {
			text: "# About the file.\n\n# One,\n# and more.\na: {x: 1}\nb:\n  # Two.\n  c: []\n",
			want: []setting{{path: "a", comment: "One, and more.", value: `{"x":1}`}, {path: "b.c", comment: "Two.", value: "[]"}},
		},
		"a value that nobody explains is an error": {text: "b:\n  c: 1\n", wantErr: "b.c has no comment"},
		"an empty group is a value":                {text: "b: {}\n", wantErr: "b has no comment"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "values.yaml")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readSettings(file)
			if tc.wantErr != "" {
				wantError(t, err, tc.wantErr)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(setting{})); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	notes := func(r release) string {
		t.Helper()
		files, err := r.files(t)
		if err != nil {
			t.Fatal(err)
		}
		return files["jobset/templates/NOTES.txt"]
	}
	text := notes(release{name: "training", namespace: "batch"})
	for _, want := range []string{
		"--namespace batch deployment/training-jobset-controller",
		"kubectl port-forward --namespace batch service/training-jobset-metrics-service 8443:8443",
		"kubectl apply --server-side --force-conflicts",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("O164, O511: the notes lack %q:\n%s", want, text)
		}
	}
	if text := notes(release{values: `metrics: {bindAddress: "0"}`}); strings.Contains(text, "port-forward") {
		t.Errorf("the notes show the way to metrics that do not exist:\n%s", text)
	}
	if text := notes(release{values: `agentAccess: {enable: true}`}); !strings.Contains(text, "create rolebinding jobset-agent") {
		t.Errorf("the notes do not say how namespaces get the account of the agents:\n%s", text)
	}
}
