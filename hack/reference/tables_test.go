/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/component-base/featuregate"
)

// wantError fails unless an error says what it should; nothing wanted means no error.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("error = %v, want %q in it", err, want)
	}
}

func TestKeyTables(t *testing.T) {
	t.Parallel()
	const keys = `
		// AKey holds a.
		const AKey = "jobset.sigs.k8s.io/a"
		// BKey is beside AKey.
		const BKey = "alpha.jobset.sigs.k8s.io/b"
		const other = "example.com/c"`
	use := keyUse{"g", "label", "Pods", "somebody"}
	tests := map[string]struct {
		source    string
		uses      map[string]keyUse
		want      string
		wantError string
	}{
		"each key has a row, in the order of the code, and is called by its value": {
			source: keys,
			uses:   map[string]keyUse{"AKey": use, "BKey": use},
			want: "| key | what | on | set by | meaning |\n|---|---|---|---|---|\n" +
				"| `jobset.sigs.k8s.io/a` | label | Pods | somebody | Holds a. |\n" +
				"| `alpha.jobset.sigs.k8s.io/b` | label | Pods | somebody | Beside jobset.sigs.k8s.io/a. |",
		},
		"a key of the code that the table misses": {
			source: keys, uses: map[string]keyUse{"AKey": use},
			wantError: "nothing is known about the key alpha.jobset.sigs.k8s.io/b; add BKey to keyUses",
		},
		"a key of the table that the code misses": {
			source: keys, uses: map[string]keyUse{"AKey": use, "BKey": use, "CKey": use},
			wantError: "has CKey, which the code has not; remove it",
		},
		"a key without a comment": {
			source: `const AKey = "jobset.sigs.k8s.io/a"`, uses: map[string]keyUse{"AKey": use},
			wantError: "constant AKey has no comment; add a comment",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := keyTables([]*source{parse(t, tc.source)}, tc.uses)
			wantError(t, err, tc.wantError)
			if diff := cmp.Diff(tc.want, got["g"]); diff != "" {
				t.Errorf("keyTables() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConditionTables(t *testing.T) {
	t.Parallel()
	const types = `
		type JobSetConditionType string
		// Good: all is well.
		const Good JobSetConditionType = "Good"`
	const reasons = `const (
		FineReason = "Fine"
		RuleReasonPrefix = "Rule_"
	)`
	tests := map[string]struct {
		types, wantTypes, wantStates, wantError string
		uses                                    []conditionUse
	}{
		"conditions and their states": {
			types:     types,
			uses:      []conditionUse{{"Good", "True", "FineReason", "Now."}, {"Good", "False", "RuleReasonPrefix", "Then."}},
			wantTypes: "| condition | meaning while True |\n|---|---|\n| `Good` | All is well. |",
			wantStates: "| condition | status | reason | when |\n|---|---|---|---|\n" +
				"| `Good` | True | `Fine` | Now. |\n| `Good` | False | `Rule_<rule>` | Then. |",
		},
		"a condition of the code that no row has": {
			types: types, wantError: "no state of condition Good is known; add some to conditionUses",
		},
		"a reason that the code has not": {
			types: types, uses: []conditionUse{{"Good", "True", "GoneReason", ""}}, wantError: "has Good with GoneReason, which the code has not",
		},
		"a condition that the code has not": {
			types: types, uses: []conditionUse{{"Bad", "True", "FineReason", ""}}, wantError: "has Bad with FineReason, which the code has not",
		},
		"a condition without a comment": {
			types: "type JobSetConditionType string\nconst Good JobSetConditionType = \"Good\"", wantError: "constant Good has no comment",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := conditionTables(parse(t, tc.types), parse(t, reasons), tc.uses)
			wantError(t, err, tc.wantError)
			if diff := cmp.Diff([]string{tc.wantTypes, tc.wantStates}, []string{got["types"], got["states"]}); diff != "" {
				t.Errorf("conditionTables() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReasonsAreComplete(t *testing.T) {
	t.Parallel()
	err := checkReasons(parse(t, `const NewReason = "New"`))
	wantError(t, err, "nothing is known about reason New; add NewReason")
	wantError(t, checkReasons(parse(t, `const NewMessage = "new"`)), "")
	_, err = eventTable(parse(t, ""), []eventUse{{"GoneReason", normal, ""}})
	wantError(t, err, "have GoneReason, which the code has not; remove it")
}

func TestAgentTables(t *testing.T) {
	t.Parallel()
	src := parse(t, `const (
		envPort = "PORT"
		envName = "NAME"
		defaultPort = 8080
		exitSetting = 64
	)`)
	variables := []variable{{"envName", true, "", "Who."}, {"envPort", false, "defaultPort", "Where."}}
	got, err := environmentTable(src, variables)
	wantError(t, err, "")
	want := "| variable | required | default | meaning |\n|---|---|---|---|\n| `NAME` | yes |  | Who. |\n| `PORT` | no | `8080` | Where. |"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environmentTable() (-want +got):\n%s", diff)
	}
	_, err = environmentTable(src, variables[:1])
	wantError(t, err, "nothing is known about the variable PORT; add envPort to variables")
	_, err = environmentTable(src, append(variables, variable{constant: "envGone"}))
	wantError(t, err, "has envGone, which api has not; remove it")

	got, err = exitTable(src, []exit{{"exitSetting", "`%s`", "Wrong.", "Waits."}})
	wantError(t, err, "")
	if !strings.HasSuffix(got, "\n| `64` | Wrong. | Waits. |") {
		t.Errorf("exitTable() = %s, want a row for 64", got)
	}
	_, err = exitTable(src, nil)
	wantError(t, err, "nothing is known about exit code exitSetting")
}

func TestRightsTable(t *testing.T) {
	t.Parallel()
	got, err := rightsTable([]byte("kind: ClusterRole\nrules:\n- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [patch]\n"))
	wantError(t, err, "")
	if want := "| API group | resource | verbs |\n|---|---|---|\n| core | `pods` | `patch` |"; got != want {
		t.Errorf("rightsTable() = %s, want %s", got, want)
	}
	_, err = rightsTable([]byte("kind: ClusterRole\n"))
	wantError(t, err, "allows nothing")
}

func TestGateTable(t *testing.T) {
	t.Parallel()
	specs := map[featuregate.Feature]featuregate.FeatureSpec{
		"AllAlpha": {PreRelease: featuregate.Alpha},
		"New":      {PreRelease: featuregate.Alpha},
		"Old":      {Default: true, LockToDefault: true},
	}
	got, err := gateTable(parse(t, "const (\n// New allows more.\nNew Feature = \"New\"\n// Old does all.\nOld Feature = \"Old\"\n)"), specs)
	wantError(t, err, "")
	want := "| gate | stage | default | meaning |\n|---|---|---|---|\n| `New` | alpha | `false` | Allows more. |\n| `Old` | GA | `true`, locked | Does all. |"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gateTable() (-want +got):\n%s", diff)
	}
	_, err = gateTable(parse(t, "const New Feature = \"New\""), specs)
	wantError(t, err, "feature gate New has no constant with a comment; add a comment")
}

func TestFlagTable(t *testing.T) {
	t.Parallel()
	got, err := flagTable("  -config string\n    \tFile. (default \"x\")\n  -version\n    \tPrint it\n    \tand exit.\n")
	wantError(t, err, "")
	want := "| flag | value | meaning |\n|---|---|---|\n| `--config` | string | File. (default \"x\") |\n| `--version` | bool | Print it and exit. |"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flagTable() (-want +got):\n%s", diff)
	}
	_, err = flagTable("  -mute\n    \t\n")
	wantError(t, err, "flag --mute of the manager says nothing about itself")
	_, err = flagTable("Usage of manager:\n")
	wantError(t, err, "says nothing about flags")
}

func TestDefaultsAreThoseOfTheComments(t *testing.T) {
	t.Parallel()
	src := func(says string) *source {
		return parse(t, "type A struct {\n\t// b is b. Default: "+says+".\n\tB string `json:\"b\"`\n}")
	}
	tests := map[string]struct{ says, set, wantError string }{
		"the same":           {says: "8", set: "`8`"},
		"in quotes":          {says: `":8"`, set: "`:8`"},
		"the same duration":  {says: "10m", set: "`10m0s`"},
		"another":            {says: "9", set: "`8`", wantError: "the comment of field B of A says default \"9\", the code sets `8`; correct one of them"},
		"no default in code": {says: "empty"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defaults := map[string]string{}
			if tc.set != "" {
				defaults["A.B"] = tc.set
			}
			wantError(t, checkDefaults(src(tc.says), defaults), tc.wantError)
		})
	}
}

func TestMetricsOf(t *testing.T) {
	t.Parallel()
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "a_total", Help: `Says "a"`}, []string{"x", "y"})
	histogram := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "a_seconds", Help: "Time", Buckets: []float64{0.5, 2}})
	registry := prometheus.NewRegistry()
	registry.MustRegister(counter, histogram, prometheus.NewGauge(prometheus.GaugeOpts{Name: "b", Help: "Other"}))
	got, err := metricsOf(registry, registry, "a_")
	wantError(t, err, "")
	want := []metric{
		{name: "a_seconds", kind: "histogram", help: "Time", buckets: []float64{0.5, 2}},
		{name: "a_total", kind: "counter", help: `Says "a"`, labels: []string{"x", "y"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(metric{})); diff != "" {
		t.Errorf("metricsOf() (-want +got):\n%s", diff)
	}

	registry.MustRegister(prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "a_gauge", Help: "Now"}, []string{"x"}))
	_, err = metricsOf(registry, registry, "a_")
	wantError(t, err, "metric a_gauge has no samples that tell its type")

	registry = prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "a_total"}))
	_, err = metricsOf(registry, registry, "a_")
	wantError(t, err, "metric a_total has no help text; give it one")
}
