/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation_test

import (
	"encoding/json"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/webhooks"
)

var everyGate = []gates.Set{{}, {InPlaceRestart: true, RestartJob: true, ElasticJobSet: true}}

// features are specs that together use most of the API.
var features = []string{
	`{}`,
	`replicatedJobs: [{name: w, replicas: 2, groupName: g, template: {spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: c}]}}}}}]
coordinator: {replicatedJob: w, jobIndex: 1, podIndex: 1}
network: {subdomain: net}
successPolicy: {operator: Any, targetReplicatedJobs: [w]}
managedBy: example.com/other`,
	`replicatedJobs:
- {name: a, groupName: default, template: {spec: {template: {}}}}
- {name: b, groupName: default, template: {spec: {template: {}}}, dependsOn: [{name: a, status: Ready}]}
failurePolicy: {maxRestarts: 3, rules: [{action: RestartJob, onJobFailureReasons: [DeadlineExceeded], onJobFailureMessagePatterns: ["a+"], targetReplicatedJobs: [b]}, {action: FailJobSet, name: mine}]}`,
	`replicatedJobs:
- {name: a, groupName: default, template: {metadata: {annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: rack}}, spec: {template: {spec: {containers: [{name: c, volumeMounts: [{name: data}]}]}}}}}
- {name: b, groupName: default, template: {spec: {completionMode: NonIndexed, template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, nodeSelector: {a: b}}}}}}
startupPolicy: {startupPolicyOrder: InOrder}
suspend: true
volumeClaimPolicies: [{templates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteMany]}}]}]`,
}

// seeds are JobSets in JSON: the samples of the repository, and features.
func seeds(f testing.TB) [][]byte {
	f.Helper()
	var out [][]byte
	paths, err := filepath.Glob("../../config/samples/jobset_*.yaml")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no samples: %v", err)
	}
	for _, path := range append(paths, "../../api/jobset/v1alpha2/testdata/every-field.yaml") {
		manifest, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, document := range strings.Split(string(manifest), "\n---\n") {
			out = append(out, toJSON(f, document))
		}
	}
	for _, spec := range features {
		out = append(out, toJSON(f, "metadata: {name: js, namespace: ns}\nspec:\n  "+strings.ReplaceAll(spec, "\n", "\n  ")))
	}
	return out
}

func toJSON(f testing.TB, document string) []byte {
	f.Helper()
	raw, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		f.Fatalf("%v in\n%s", err, document)
	}
	return raw
}

func FuzzCreate(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { creates(t, raw) })
}

// creates reports whether a manifest is admitted with all gates on.
func creates(t *testing.T, raw []byte) bool {
	t.Helper()
	js := &jobset.JobSet{}
	if json.Unmarshal(raw, js) != nil {
		return false
	}
	_ = validation.Create(js.DeepCopy(), gates.Set{}) // the webhook that sets defaults was bypassed
	webhooks.Default(js, gates.Set{InPlaceRestart: true})
	admitted := false
	for _, g := range everyGate {
		errs := validation.Create(js, g)
		_ = validation.ToStatusError(js, errs)
		_ = validation.ExistingClaims(js, map[string]validation.FoundClaim{})
		_ = validation.Warnings(js, g)
		if admitted = len(errs) == 0 && passesSchema(js); admitted {
			canBeRun(t, js.DeepCopy(), g)
		}
	}
	return admitted
}

// passesSchema stands for the checks of the API server, as far as they matter to canBeRun.
func passesSchema(js *jobset.JobSet) bool {
	names := sets.New[string]()
	for i := range js.Spec.ReplicatedJobs {
		rj := &js.Spec.ReplicatedJobs[i]
		if names.Has(rj.Name) || rj.Replicas < 0 {
			return false
		}
		names.Insert(rj.Name)
	}
	return len(utilvalidation.IsDNS1123Subdomain(js.Name)) == 0
}

// canBeRun checks that the controller can create the Jobs of an admitted JobSet.
func canBeRun(t *testing.T, js *jobset.JobSet, g gates.Set) {
	t.Helper()
	const most = 1000 // of Jobs that one input makes
	js.Status = jobset.JobSetStatus{}
	js.UID = "e3b0c442-98fc-1c14-9afb-f4c8996fb924"
	total := int64(0)
	builder := children.NewBuilder(js)
	for i := range js.Spec.ReplicatedJobs {
		rj := &js.Spec.ReplicatedJobs[i]
		replicas := rj.Replicas
		total += int64(replicas)
		if total > most {
			return
		}
		for _, index := range []int32{0, replicas - 1} {
			if index >= 0 && index < replicas {
				isJob(t, builder, rj, int(index))
			}
		}
	}
	if _, err := policy.Decide(policy.Input{JobSet: js, Gates: g, Now: time.Unix(1, 0)}); err != nil {
		t.Errorf("admitted, but the controller cannot decide: %v", err)
	}
}

func isJob(t *testing.T, builder *children.Builder, rj *jobset.ReplicatedJob, index int) {
	t.Helper()
	job := builder.Job(rj, index)
	if messages := utilvalidation.IsDNS1035Label(job.Name); len(messages) > 0 {
		t.Errorf("admitted, but the Job would be named %q: %v", job.Name, messages)
	}
	ours := map[string]string{}
	for key, value := range job.Labels {
		if strings.Contains(key, "jobset.sigs.k8s.io/") {
			ours[key] = value
		}
	}
	errs := metav1validation.ValidateLabels(ours, field.NewPath("metadata", "labels"))
	errs = append(errs, metav1validation.ValidateLabels(job.Spec.Template.Labels, field.NewPath("spec", "template", "metadata", "labels"))...)
	if len(errs) > 0 {
		t.Errorf("admitted, but the Job would have wrong labels: %v", errs)
	}
}

func FuzzUpdate(f *testing.F) {
	all := seeds(f)
	for i := range all {
		f.Add(all[i], all[(i+1)%len(all)])
		f.Add(all[i], all[i])
	}
	f.Fuzz(func(t *testing.T, rawOld, rawNew []byte) { updates(t, rawOld, rawNew) })
}

func updates(t *testing.T, rawOld, rawNew []byte) {
	t.Helper()
	old, updated := &jobset.JobSet{}, &jobset.JobSet{}
	if json.Unmarshal(rawOld, old) != nil || json.Unmarshal(rawNew, updated) != nil {
		return
	}
	// Unchanged, and written back by a typed client.
	written, err := json.Marshal(old)
	if err != nil {
		return
	}
	back := &jobset.JobSet{}
	if err := json.Unmarshal(written, back); err != nil {
		return
	}
	for _, g := range everyGate {
		_ = validation.ToStatusError(updated, validation.Update(old, updated, g))
		if errs := validation.Update(old, old.DeepCopy(), g); len(errs) > 0 {
			t.Errorf("an update without a change is refused: %v", errs)
		}
		if errs := validation.Update(old, back, g); len(errs) > 0 {
			t.Errorf("a typed client cannot write back what it read: %v", errs)
		}
	}
}

// TestMutatedManifests does what the fuzz targets do, but changes manifests by
// fields instead of bytes, so that most of them can be decoded.
func TestMutatedManifests(t *testing.T) {
	const seed, rounds = 467, 600
	choose := rand.New(rand.NewSource(seed))
	all := seeds(t)
	admitted := 0
	for round := range rounds {
		raw := all[choose.Intn(len(all))]
		mutated := mutate(t, choose, raw)
		if creates(t, mutated) {
			admitted++
		}
		updates(t, raw, mutated)
		updates(t, mutated, raw)
		if t.Failed() {
			t.Fatalf("seed %d, round %d: %s", seed, round, mutated)
		}
	}
	if admitted < rounds/20 {
		t.Errorf("only %d of %d manifests were admitted: this tests too little", admitted, rounds)
	}
}

// words are values that some rule checks.
var words = []string{"", "a", "b", "w", "-a", "a-", "A", "a.b", "data", "1", strings.Repeat("x", 50), "failurePolicyRule0",
	"Indexed", "NonIndexed", "Never", "Always", "OnFailure", "Ready", "Complete", "InOrder", "AnyOrder", "Any", "All",
	"FailJobSet", "RestartJob", "RestartJobSet", "InPlaceRestart", "Recreate", "Retain", "Failed", "a/b", "rack"}

var numbers = []float64{0, 1, 2, 3, -1, 11, 1025, 1 << 20, 1<<31 - 1}

// mutate changes one to three fields of a manifest: to another word or number,
// to the value of another field, or to nothing.
func mutate(t *testing.T, choose *rand.Rand, raw []byte) []byte {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	for range 1 + choose.Intn(3) {
		places := placesIn(tree)
		if len(places) == 0 {
			break
		}
		place := places[choose.Intn(len(places))]
		other := places[choose.Intn(len(places))].get()
		switch value := place.get(); {
		case choose.Intn(6) == 0:
			place.set(nil)
		case reflect.TypeOf(value) == reflect.TypeOf(other) && choose.Intn(2) == 0:
			place.set(copied(t, other))
		default:
			switch value := value.(type) {
			case string:
				place.set(words[choose.Intn(len(words))])
			case float64:
				place.set(numbers[choose.Intn(len(numbers))])
			case bool:
				place.set(!value)
			case []any:
				if len(value) > 0 {
					place.set(append(value, copied(t, value[0])))
				}
			}
		}
	}
	mutated, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return mutated
}

func copied(t *testing.T, value any) (out any) {
	t.Helper()
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// place is a field of an object, or an element of a list.
type place struct {
	get func() any
	set func(any)
}

// placesIn lists the fields of a tree in a stable order.
func placesIn(node any) []place {
	var out []place
	switch n := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(n)) {
			out = append(out, place{get: func() any { return n[key] }, set: func(v any) { n[key] = v }})
			out = append(out, placesIn(n[key])...)
		}
	case []any:
		for i := range n {
			out = append(out, place{get: func() any { return n[i] }, set: func(v any) { n[i] = v }})
			out = append(out, placesIn(n[i])...)
		}
	}
	return out
}
