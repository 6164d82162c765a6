/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/validation"
	shown "sigs.k8s.io/jobset/test/integration/examples/manifest"
	"sigs.k8s.io/jobset/test/largest"
)

// names are the fields that a client knows: of an object, or of the objects of a list. Of a field without names it knows all.
type names map[string]names

// namesOfV012 are those of a JobSet in JobSet v0.12. Templates are types of Kubernetes.
var namesOfV012 = names{
	"apiVersion": nil, "kind": nil, "metadata": nil,
	"spec": {
		"coordinator": nil, "managedBy": nil, "network": nil, "startupPolicy": nil, "successPolicy": nil, "suspend": nil,
		"ttlSecondsAfterFinished": nil, "volumeClaimPolicies": nil,
		"failurePolicy":  {"maxRestarts": nil, "restartStrategy": nil, "rules": nil},
		"replicatedJobs": {"name": nil, "groupName": nil, "template": nil, "replicas": nil, "dependsOn": nil},
	},
}

// trip returns what a client with these types writes of what it read.
func (n names) trip(value any) any {
	switch value := value.(type) {
	case map[string]any:
		known := maps.Clone(value)
		for key, inner := range known {
			if only, ok := n[key]; n != nil && !ok {
				delete(known, key)
			} else {
				known[key] = only.trip(inner)
			}
		}
		return known
	case []any:
		known := make([]any, len(value))
		for i := range value {
			known[i] = n.trip(value[i])
		}
		return known
	}
	return value
}

// written encodes a JobSet, with what the schema fills in.
func written(t *testing.T, js map[string]any) string {
	t.Helper()
	spec := js["spec"].(map[string]any)
	for _, job := range spec["replicatedJobs"].([]any) {
		job := job.(map[string]any)
		if job["replicas"] == nil || job["replicas"] == 0.0 { // types of Go leave a zero out
			job["replicas"] = 1
		}
		if job["groupName"] == nil {
			job["groupName"] = "default"
		}
	}
	text, err := json.Marshal(js)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// updated returns what is stored after an update, but for the form of its JSON, and the warnings.
func updated(t *testing.T, object, stored string) (*jobset.JobSet, []string) {
	t.Helper()
	d := jobSetDefaulter{gates: everyGate, decoder: admission.NewDecoder(scheme(t))}
	resp := mutateJobSets(scheme(t), d)(t.Context(), request(admissionv1.Update, object, stored))
	if !resp.Allowed {
		t.Fatalf("not allowed: %v", resp.Result)
	}
	kept := leftOutOf([]byte(object), []byte(stored), everyGate)
	js := read(t, string(kept.into([]byte(object))))
	d.keep(js, read(t, stored))
	return js, resp.Warnings
}

// TestEveryExampleIsKept: a queue that knows what v0.12 knew writes the list of ReplicatedJobs of every example, and nothing changes.
func TestEveryExampleIsKept(t *testing.T) {
	files, err := shown.Walk("../..", "examples", "config/samples")
	if err != nil {
		t.Fatal(err)
	}
	elastic := 0
	for _, file := range files {
		for _, document := range file.Documents {
			created := &jobset.JobSet{}
			if err := json.Unmarshal(document, created); err != nil || created.Kind != jobset.Kind {
				continue
			}
			t.Run("W20b: "+file.Path, func(t *testing.T) {
				Default(created, everyGate)
				stored := fields(t, created)
				before := written(t, stored)
				tripped := namesOfV012.trip(stored).(map[string]any)["spec"].(map[string]any)["replicatedJobs"]
				stored["spec"].(map[string]any)["replicatedJobs"] = tripped

				got, warnings := updated(t, written(t, stored), before)

				if diff := cmp.Diff(read(t, before), got); diff != "" {
					t.Errorf("JobSet (-stored +updated):\n%s", diff)
				}
				bounded := strings.Contains(before, `"elastic":{`)
				if bounded {
					elastic++
				}
				if bounded != (len(warnings) == 1) || len(warnings) > 1 {
					t.Errorf("elastic: %t, warnings %q", bounded, warnings)
				}
			})
		}
	}
	if elastic < 3 {
		t.Errorf("%d examples have a field that v0.12 lacks", elastic)
	}
}

const twoJobs = `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js"},"spec":{"suspend":SUSPEND,"replicatedJobs":[
	{"name":"a","groupName":"g","replicas":0,"template":{"metadata":{},"spec":{"parallelism":2,"completions":2,"completionMode":"Indexed","template":{"metadata":{"labels":{"l":"1"}},
		"spec":{"restartPolicy":"Never","nodeSelector":{"pool":"gold"},"containers":[{"name":"c","image":"i","command":["c"],"env":[{"name":"E","value":"1"}]},{"name":"d","image":"i"}],"volumes":[{"name":"v","hostPath":{"path":"/v","type":""}}]}}}}},
	{"name":"b","groupName":"default","replicas":1,"elastic":{"minInstances":1,"maxInstances":3},"dependsOn":[{"name":"a","status":"Ready"}],
		"template":{"spec":{"parallelism":2,"completions":2,"completionMode":"Indexed","template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}]}}`

func TestWhatAnUpdateLeavesOut(t *testing.T) {
	pods := func(js *jobset.JobSet) *jobset.ReplicatedJob { return &js.Spec.ReplicatedJobs[0] }
	for name, tc := range map[string]struct {
		suspended, suspends bool
		// change pairs what is written of the list with what is written instead.
		change []string
		// want is what is stored that was not; nil if nothing is.
		want     func(js *jobset.JobSet)
		warnings []string
	}{
		"W20b: elastic is kept": {
			change:   []string{`"elastic":{"minInstances":1,"maxInstances":3},`, ``},
			warnings: []string{"its stored value is kept: spec.replicatedJobs[1].elastic; to remove it, "},
		},
		"W20b: so is a part of it": {
			change:   []string{`,"maxInstances":3`, ``},
			warnings: []string{": spec.replicatedJobs[1].elastic.maxInstances;"},
		},
		"W20b: so are zero replicas, which arrive as one": {
			change:   []string{`"replicas":0`, `"replicas":1`},
			warnings: []string{"spec.replicatedJobs[0].replicas: is 1, the value of a field that is left out, and may not change, so the stored 0 is kept"},
		},
		"W20b: and a group, which arrives as the default": {
			change:   []string{`"groupName":"g"`, `"groupName":"default"`},
			warnings: []string{"spec.replicatedJobs[0].groupName: is default, the value of a field that is left out, and may not change, so the stored g is kept"},
		},
		"W20b: other replicas are a change": {
			change: []string{`"replicas":0`, `"replicas":2`},
			want:   func(js *jobset.JobSet) { pods(js).Replicas = 2 },
		},
		"W20b: fields of containers are kept, by name": {
			change:   []string{`,"command":["c"],"env":[{"name":"E","value":"1"}]`, ``},
			warnings: []string{": spec.replicatedJobs[0].template.spec.template.spec.containers[0].command, spec.replicatedJobs[0].template.spec.template.spec.containers[0].env;"},
		},
		"W20b: an entry of a list that is left out is a change": {
			change: []string{`,{"name":"d","image":"i"}`, ``},
			want: func(js *jobset.JobSet) {
				spec := &pods(js).Template.Spec.Template.Spec
				spec.Containers = spec.Containers[:1]
			},
		},
		"W20b: what is written is a change": {
			change: []string{`"minInstances":1`, `"minInstances":2`},
			want:   func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].Elastic.MinInstances = 2 },
		},
		"W20b W84: what a queue may remove is removed": {
			suspended: true, suspends: true,
			change: []string{`"nodeSelector":{"pool":"gold"},`, ``, `"labels":{"l":"1"}`, ``, `"elastic":{"minInstances":1,"maxInstances":3},`, ``},
			want: func(js *jobset.JobSet) {
				pods(js).Template.Spec.Template.Labels, pods(js).Template.Spec.Template.Spec.NodeSelector = nil, nil
			},
			warnings: []string{": spec.replicatedJobs[1].elastic;"},
		},
		"W20b W87: also by the update that suspends": {
			suspends: true, change: []string{`"template":{"metadata":{"labels":{"l":"1"}},`, `"template":{`},
			want: func(js *jobset.JobSet) {
				pods(js).Template.Spec.Template.Labels, js.Spec.Suspend = nil, ptr.To(true)
			},
		},
		"W20b: while it runs, what a queue had added is kept": {
			change:   []string{`"nodeSelector":{"pool":"gold"},`, ``},
			warnings: []string{": spec.replicatedJobs[0].template.spec.template.spec.nodeSelector;"},
		},
		"W20b: nor of what Go writes where there is nothing": {
			change: []string{`,"type":""`, ``},
		},
		"W20a W20b: nobody is told of what is filled in": {
			change: []string{`"completionMode":"Indexed",`, ``, `"restartPolicy":"Never",`, ``, `"metadata":{},`, ``},
		},
	} {
		t.Run(name, func(t *testing.T) {
			suspend := map[bool]string{false: "false", true: "true"}
			stored := strings.Replace(twoJobs, "SUSPEND", suspend[tc.suspended], 1)
			object := strings.NewReplacer(append(tc.change, "SUSPEND", suspend[tc.suspends])...).Replace(twoJobs)
			want := read(t, stored)
			if tc.want != nil {
				tc.want(want)
			}

			got, warnings := updated(t, object, stored)

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("JobSet (-want +got):\n%s", diff)
			}
			if len(warnings) != len(tc.warnings) || len(warnings) > 0 && !strings.Contains(warnings[0], tc.warnings[0]) {
				t.Errorf("warnings %q, want %q", warnings, tc.warnings)
			}
			if refused := len(validation.Update(read(t, stored), got, everyGate)) > 0; refused != (tc.want != nil && !tc.suspends) {
				t.Errorf("refused: %t", refused)
			}
		})
	}
}

// TestTheAnswerToAnUpdateThatLeavesSomethingOut: the patches of the defaults come after the one of the list to which they apply.
func TestTheAnswerToAnUpdateThatLeavesSomethingOut(t *testing.T) {
	hook := mutateJobSets(scheme(t), jobSetDefaulter{decoder: admission.NewDecoder(scheme(t))})
	stored := strings.Replace(twoJobs, "SUSPEND", "true", 1)
	object := strings.NewReplacer("SUSPEND", "true", `"pool":"gold"`, `"pool":"silver"`, `"elastic":{"minInstances":1,"maxInstances":3},`, ``).Replace(twoJobs)
	resp := hook(t.Context(), request(admissionv1.Update, object, stored))
	if !resp.Allowed || len(resp.Patches) == 0 || resp.PatchType == nil || *resp.PatchType != admissionv1.PatchTypeJSONPatch {
		t.Fatalf("got %v", resp)
	}
	list, ok := resp.Patches[0].Value.(json.RawMessage)
	if !ok || resp.Patches[0].Path != "/spec/replicatedJobs" || !strings.Contains(string(list), `"maxInstances":3`) || !strings.Contains(string(list), "silver") {
		t.Errorf("W20b: patches %v", resp.Patches)
	}
	for _, p := range resp.Patches[1:] {
		if p.Operation != "add" || !strings.HasPrefix(p.Path, "/spec/replicatedJobs/") && !strings.HasPrefix(p.Path, "/status") {
			t.Errorf("W20b: patch %s", p.Json())
		}
	}
}

func FuzzLeftOut(f *testing.F) {
	f.Add([]byte(strings.Replace(twoJobs, "SUSPEND", "true", 1)), []byte(strings.Replace(twoJobs, "SUSPEND", "false", 1)))
	f.Add([]byte(`{"spec":{"replicatedJobs":[{"name":"a","template":{"spec":[]}}]}}`), []byte(`{"spec":{"replicatedJobs":[{"name":"a","template":{"spec":{"a":[{}]}}}]}}`))
	f.Add([]byte(`{"spec":{"replicatedJobs":[{"name":"a","template":{"a":[{"name":{}}],"b":1}}]}}`), []byte(`{"spec":{"replicatedJobs":[{"name":"a","template":{"a":[{"name":{}}]}}]}}`))
	f.Add([]byte(`{"spec":{"replicatedJobs":[{"name":"a","template":{}},{"name":"a","template":{}}]}}`), []byte(`{"spec":{"replicatedJobs":[{"name":"a","template":{"a":[1]}}]}}`))
	f.Fuzz(func(t *testing.T, object, stored []byte) {
		kept := leftOutOf(object, stored, everyGate)
		whole := kept.into(object)
		if again := leftOutOf(whole, stored, everyGate); again.list != nil {
			t.Errorf("W20b: kept twice: %s, then %s", kept.list, again.list)
		}
	})
}

// TestATemplateIsNeeded: an update without the template of a ReplicatedJob is refused (W31), whatever the stored one is.
func TestATemplateIsNeeded(t *testing.T) {
	stored := `{"spec":{"replicatedJobs":[{"name":"a","elastic":{"minInstances":1},"template":{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}}]}}`
	for object, want := range map[string]string{
		`{"spec":{"replicatedJobs":[{"name":"a"}]}}`:                                              `[{"elastic":{"minInstances":1},"name":"a"}]`,
		`{"spec":{"replicatedJobs":[{"name":"a","template":{"spec":{"template":{"spec":{}}}}}]}}`: `[{"elastic":{"minInstances":1},"name":"a","template":{"spec":{"template":{"spec":{}}}}}]`,
	} {
		if kept := leftOutOf([]byte(object), []byte(stored), everyGate); string(kept.list) != want {
			t.Errorf("W20b, W31: %s", kept.list)
		}
	}
}

// TestTheLargestListsAreMergedInTime: a queue writes the whole list of each JobSet that it admits.
func TestTheLargestListsAreMergedInTime(t *testing.T) {
	for name, js := range largest.JobSets() {
		t.Run("C382, W20b: "+name, func(t *testing.T) {
			stored := js.DeepCopy()
			for i := range stored.Spec.ReplicatedJobs {
				stored.Spec.ReplicatedJobs[i].Template.Labels = map[string]string{"kept": "yes"}
				js.Spec.ReplicatedJobs[i].Template.Labels = nil
			}
			object, before := fields(t, js), fields(t, stored)
			a, b := written(t, object), written(t, before)
			started := cpuTime(t)
			if kept := leftOutOf([]byte(a), []byte(b), gates.Set{}); len(stored.Spec.ReplicatedJobs) > 0 && len(kept.into([]byte(a))) <= len(a) {
				t.Error("nothing is kept")
			}
			if took := cpuTime(t) - started; took > 2*time.Second { // what copies a list for each of its entries takes minutes, the race detector one second
				t.Errorf("it took %s of a processor", took)
			} else {
				t.Logf("%s", took)
			}
		})
	}
}

// TestRemovedResources: with the gate, whoever may change requests and limits may remove them.
func TestRemovedResources(t *testing.T) {
	list := func(suspend bool, resources string) []byte {
		return fmt.Appendf(nil, `{"spec":{"suspend":%t,"replicatedJobs":[{"name":"a","template":{"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{%s}}]}}}}}]}}`, suspend, resources)
	}
	const limits, claims = `"limits":{"cpu":"1"}`, `"claims":[{"name":"gpu"}]`
	for name, tc := range map[string]struct {
		suspended bool
		off       bool
		stored    string
		kept      bool
	}{
		"W20b W144: limits that are left out while suspended are removed": {suspended: true, stored: limits},
		"W20b W144: they are kept while the JobSet runs":                  {stored: limits, kept: true},
		"W20b W144: they are kept with the gate off":                      {suspended: true, off: true, stored: limits, kept: true},
		"W20b W144: claims are kept":                                      {suspended: true, stored: claims, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			kept := leftOutOf(list(tc.suspended, ""), list(tc.suspended, tc.stored), gates.Set{MutablePodResourcesForSuspendedJobSets: !tc.off})
			if got := kept.list != nil; got != tc.kept {
				t.Errorf("kept %s", kept.list)
			}
		})
	}
}
