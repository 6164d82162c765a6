/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// recreated is a manifest with all that Default fills in left out.
const recreated = `
spec:
  failurePolicy: {maxRestarts: 1, rules: [{action: FailJobSet}]}
  volumeClaimPolicies: [{}]
  replicatedJobs:
  - name: workers
    template: {spec: {template: {spec: {containers: [{name: worker, image: worker}]}}}}
`

// TestFormOfAnUpdate: what a client wrote otherwise is stored as it was, if it means the same.
func TestFormOfAnUpdate(t *testing.T) {
	const frame = `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js"},"spec":{"suspend":SUSPEND,"replicatedJobs":[{"name":"w","replicas":1,
		"template":{"spec":{"completionMode":"Indexed","template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"IMAGE"RESOURCES}]}}}}}]}}`
	form := func(suspend, image, resources string) string {
		return strings.NewReplacer("SUSPEND", suspend, "IMAGE", image, "RESOURCES", resources).Replace(frame)
	}
	const stored = `,"resources":{"limits":{"gpu":"1"}}`
	hook := mutateJobSets(scheme(t), jobSetDefaulter{decoder: admission.NewDecoder(scheme(t))})
	for name, tc := range map[string]struct {
		update  string
		patched bool
	}{
		"W20a: a number that is written otherwise": {form("true", "i", `,"resources":{"limits":{"gpu":1}}`), true},
		"W20a: beside a change of another field":   {form("false", "i", `,"resources":{"limits":{"gpu":1}}`), true},
		"W20a: what is the same needs nothing":     {form("false", "i", stored), false},
		"W20a: a field of a later version may be what changed": {
			strings.Replace(form("true", "i", `,"resources":{"limits":{"gpu":1}}`), `"replicas":1`, `"replicas":1,"later":2`, 1), false,
		},
		"W20a: a change is stored as it is, to refuse": {form("true", "other", stored), false},
	} {
		t.Run(name, func(t *testing.T) {
			resp := hook(t.Context(), request(admissionv1.Update, tc.update, form("true", "i", stored)))
			if !resp.Allowed || len(resp.Patches) > 0 != tc.patched {
				t.Fatalf("got %v", resp)
			}
			if !tc.patched {
				return
			}
			list, ok := resp.Patches[0].Value.(json.RawMessage)
			if len(resp.Patches) != 1 || resp.Patches[0].Path != "/spec/replicatedJobs" || !ok || !strings.Contains(string(list), `"gpu":"1"`) {
				t.Errorf("patches %v", resp.Patches)
			}
		})
	}
}

// TestKeepOfEveryJobSet: whatever its strategy, a manifest that is applied again changes nothing (W20a).
func TestKeepOfEveryJobSet(t *testing.T) {
	job := func(js *jobset.JobSet) *batchv1.JobSpec { return &js.Spec.ReplicatedJobs[0].Template.Spec }
	for name, tc := range map[string]struct {
		manifest string // recreated if empty
		// older is made to what is stored, change to the manifest that is applied next, want to what is stored.
		older, change, want func(js *jobset.JobSet)
	}{
		"W20a: the manifest is no change": {},
		"W20a: a policy that is taken away becomes its default": {
			older:  func(js *jobset.JobSet) { js.Spec.Network.Subdomain = "ring" },
			change: func(js *jobset.JobSet) { js.Spec.Network = nil },
			want:   func(js *jobset.JobSet) { js.Spec.Network.Subdomain = "" },
		},
		"W20a: so does a part of it": {
			older:  func(js *jobset.JobSet) { js.Spec.Network.EnableDNSHostnames = ptr.To(false) },
			change: func(js *jobset.JobSet) { js.Spec.Network = &jobset.Network{} },
			want:   func(js *jobset.JobSet) { js.Spec.Network.EnableDNSHostnames = ptr.To(true) },
		},
		"W20a: a field of a Job that is left out is kept, whatever its value": {
			older: func(js *jobset.JobSet) {
				job(js).CompletionMode, job(js).Template.Spec.RestartPolicy = ptr.To(batchv1.NonIndexedCompletion), corev1.RestartPolicyNever
			},
		},
		"W20a: what is written is a change": {
			change: func(js *jobset.JobSet) { job(js).CompletionMode = ptr.To(batchv1.NonIndexedCompletion) },
			want:   func(js *jobset.JobSet) { job(js).CompletionMode = ptr.To(batchv1.NonIndexedCompletion) },
		},
		"W20a: defaults that an older version did not set stay unset": {
			older: func(js *jobset.JobSet) {
				js.Spec = *read(t, recreated).Spec.DeepCopy()
			},
		},
		"W20a: a failure policy that is added gets no names, and is refused": {
			older:  func(js *jobset.JobSet) { js.Spec.FailurePolicy = nil },
			change: func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{} },
			want:   func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{} },
		},
		"W20a P51: neither does a gate that was turned off since": {manifest: tenLines},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := tc.manifest
			if manifest == "" {
				manifest = recreated
			}
			stored, got := read(t, manifest), read(t, manifest)
			Default(stored, gates.Set{InPlaceRestart: true, ElasticJobSet: true})
			for _, step := range []struct {
				change func(*jobset.JobSet)
				js     *jobset.JobSet
			}{{tc.older, stored}, {tc.change, got}} {
				if step.change != nil {
					step.change(step.js)
				}
			}
			want := stored.DeepCopy()
			if tc.want != nil {
				tc.want(want)
			}
			Keep(got, stored)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("JobSet (-want +got):\n%s", diff)
			}
		})
	}
}
