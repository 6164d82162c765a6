/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// manifest holds a field that this version does not know, and explicit zeros.
const manifest = `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js"},"spec":{
	"fromTheFuture":{"a":1},
	"failurePolicy":{"maxRestarts":0,"rules":[]},
	"replicatedJobs":[{"name":"w","groupName":"default","replicas":0,"template":{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}}]}}`

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := jobset.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func request(op admissionv1.Operation, object, old string) admission.Request {
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: op, Object: runtime.RawExtension{Raw: []byte(object)}}}
	if old != "" {
		req.OldObject.Raw = []byte(old)
	}
	return req
}

func TestMutating(t *testing.T) {
	hook := mutateJobSets(scheme(t), jobSetDefaulter{decoder: admission.NewDecoder(scheme(t))})
	t.Run("W8: the patch adds defaults and removes nothing", func(t *testing.T) {
		resp := hook.Handle(t.Context(), request(admissionv1.Create, manifest, ""))
		if !resp.Allowed {
			t.Fatalf("not allowed: %v", resp.Result)
		}
		added := map[string]any{}
		for _, p := range resp.Patches {
			if p.Operation != "add" {
				t.Errorf("the patch must only add: %s", p.Json())
			}
			added[p.Path] = p.Value
		}
		want := map[string]any{
			"/spec/successPolicy": map[string]any{"operator": "All"},
			"/spec/startupPolicy": map[string]any{"startupPolicyOrder": "AnyOrder"},
			"/spec/network":       map[string]any{"enableDNSHostnames": true, "publishNotReadyAddresses": true},
			"/spec/replicatedJobs/0/template/spec/completionMode":                       "Indexed",
			"/spec/replicatedJobs/0/template/spec/template/spec/restartPolicy":          "OnFailure",
			"/spec/replicatedJobs/0/template/metadata":                                  map[string]any{},
			"/spec/replicatedJobs/0/template/spec/template/metadata":                    map[string]any{},
			"/spec/replicatedJobs/0/template/spec/template/spec/containers/0/resources": map[string]any{},
			"/status": map[string]any{"restarts": float64(0)},
		}
		if diff := cmp.Diff(want, added); diff != "" {
			t.Errorf("additions (-want +got):\n%s", diff)
		}
	})
	t.Run("W21: defaulting never rejects", func(t *testing.T) {
		nonsense := `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","spec":{"replicatedJobs":[{"name":"","replicas":-1}],
			"managedBy":"","startupPolicy":{"startupPolicyOrder":"Backwards"},"failurePolicy":{"maxRestarts":-1,"rules":[{"action":"Ignore"}]}}}`
		if resp := hook.Handle(t.Context(), request(admissionv1.Create, nonsense, "")); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
	})
	t.Run("P60: a warning says why the mode is what it is", func(t *testing.T) {
		defaulter := jobSetDefaulter{gates: gates.Set{InPlaceRestart: true}, decoder: admission.NewDecoder(scheme(t))}
		inPlace := strings.Replace(manifest, `"maxRestarts":0`, `"restartStrategy":"InPlaceRestart"`, 1)
		hook := mutateJobSets(scheme(t), defaulter)
		resp := hook.Handle(t.Context(), request(admissionv1.Create, inPlace, ""))
		if !resp.Allowed || len(resp.Warnings) != 1 || !strings.HasPrefix(resp.Warnings[0], "spec.failurePolicy.inPlaceRestart.mode: is Container, ") ||
			!strings.Contains(resp.Warnings[0], "containers[0].command of container c is missing") {
			t.Errorf("allowed %t, warnings %q", resp.Allowed, resp.Warnings)
		}
		withCommand := strings.Replace(inPlace, `{"name":"c"}`, `{"name":"c","command":["c"]}`, 1)
		if resp := hook.Handle(t.Context(), request(admissionv1.Create, withCommand, "")); !resp.Allowed || len(resp.Warnings) > 0 {
			t.Errorf("P60: where process mode is possible: allowed %t, warnings %q", resp.Allowed, resp.Warnings)
		}
	})
	t.Run("P59: an update of a JobSet that names no mode, by whatever manifest, gives it none", func(t *testing.T) {
		defaulter := jobSetDefaulter{gates: gates.Set{InPlaceRestart: true}, decoder: admission.NewDecoder(scheme(t))}
		written := strings.Replace(strings.Replace(manifest, `"maxRestarts":0`, `"restartStrategy":"InPlaceRestart"`, 1),
			`{"name":"c"}`, `{"name":"c","command":["c"]}`, 1)
		var js jobset.JobSet
		if err := json.Unmarshal([]byte(written), &js); err != nil {
			t.Fatal(err)
		}
		Default(&js, defaulter.gates)
		js.Spec.FailurePolicy.InPlaceRestart = nil
		stored, err := json.Marshal(&js)
		if err != nil {
			t.Fatal(err)
		}
		for _, sent := range []string{written, string(stored)} {
			resp := mutateJobSets(scheme(t), defaulter).Handle(t.Context(), request(admissionv1.Update, sent, string(stored)))
			if !resp.Allowed || len(resp.Warnings) > 0 {
				t.Errorf("got %v", resp)
			}
			for _, p := range resp.Patches {
				if strings.HasPrefix(p.Path, "/spec/failurePolicy") {
					t.Errorf("a patch of the failure policy: %s", p.Json())
				}
			}
		}
	})
	t.Run("P171: when lost workers are replaced, by the configuration", func(t *testing.T) {
		withCommand := strings.Replace(manifest, `{"name":"c"}`, `{"name":"c","command":["c"]}`, 1)
		with := func(policy string) string {
			return strings.Replace(withCommand, `"maxRestarts":0`, `"restartStrategy":"InPlaceRestart","inPlaceRestart":`+policy, 1)
		}
		stalls, none, container := with(`{"mode":"Process","progress":{"stallSeconds":7}}`), with(`{"mode":"Process"}`), with(`{"mode":"Container"}`)
		own := with(`{"mode":"Process","lostNode":{"replaceAfterSeconds":0}}`)
		seconds := func(n int32) *jobset.LostNodePolicy { return &jobset.LostNodePolicy{ReplaceAfterSeconds: &n} }
		for name, tc := range map[string]struct {
			written, stored  string
			configured, want *jobset.LostNodePolicy
		}{
			"a JobSet that does not say it gets it":           {written: none, configured: seconds(30), want: seconds(30)},
			"in container mode, too":                          {written: container, configured: seconds(30), want: seconds(30)},
			"one that says never keeps that":                  {written: own, configured: seconds(30), want: seconds(0)},
			"one with another strategy gets none":             {written: withCommand, configured: seconds(30)},
			"by deadlines, if it has them":                    {written: stalls, configured: &jobset.LostNodePolicy{}, want: &jobset.LostNodePolicy{}},
			"and none if it has none":                         {written: none, configured: &jobset.LostNodePolicy{}},
			"an update of a JobSet without it leaves it so":   {written: none, stored: none, configured: seconds(30)},
			"an update that leaves it out does not remove it": {written: none, stored: own, configured: seconds(30), want: seconds(30)},
			"without a default an update may":                 {written: none, stored: own},
		} {
			t.Run(name, func(t *testing.T) {
				defaulter := jobSetDefaulter{gates: gates.Set{InPlaceRestart: true}, decoder: admission.NewDecoder(scheme(t)), lostNode: tc.configured}
				req := request(admissionv1.Create, tc.written, "")
				if tc.stored != "" {
					req = request(admissionv1.Update, tc.written, tc.stored)
				}
				var js jobset.JobSet
				if err := json.Unmarshal([]byte(tc.written), &js); err != nil {
					t.Fatal(err)
				}
				if err := defaulter.Default(admission.NewContextWithRequest(t.Context(), req), &js); err != nil {
					t.Fatal(err)
				}
				var got *jobset.LostNodePolicy
				if js.Spec.FailurePolicy.InPlaceRestart != nil {
					got = js.Spec.FailurePolicy.InPlaceRestart.LostNode
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("lostNode (-want +got):\n%s", diff)
				}
			})
		}
	})
	t.Run("P121: deadlines of the configuration", func(t *testing.T) {
		withCommand := strings.Replace(manifest, `{"name":"c"}`, `{"name":"c","command":["c"]}`, 1)
		with := func(policy string) string { return strings.Replace(withCommand, `"maxRestarts":0`, policy, 1) }
		none, container := with(`"restartStrategy":"InPlaceRestart"`), with(`"restartStrategy":"InPlaceRestart","inPlaceRestart":{"mode":"Container"}`)
		own := with(`"restartStrategy":"InPlaceRestart","inPlaceRestart":{"mode":"Process","progress":{"stallSeconds":7}}`)
		empty := with(`"restartStrategy":"InPlaceRestart","inPlaceRestart":{"mode":"Process","progress":{}}`)
		without := with(`"restartStrategy":"InPlaceRestart","inPlaceRestart":{"mode":"Process"}`)
		for name, tc := range map[string]struct {
			written, stored string
			on              bool
			want            *jobset.ProgressPolicy
		}{
			"a JobSet that names none gets them":                            {written: none, on: true, want: &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](60)}},
			"one that names some keeps them":                                {written: own, on: true, want: &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](7)}},
			"one that wants none keeps that":                                {written: empty, on: true, want: &jobset.ProgressPolicy{}},
			"one in container mode, which has no supervisor, gets none":     {written: container, on: true},
			"one with another strategy gets none":                           {written: withCommand, on: true},
			"without the gate there are none":                               {written: none},
			"an update of a JobSet without them leaves it so":               {written: none, stored: without, on: true},
			"an update that leaves them out does not take them away":        {written: none, stored: own, on: true, want: &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](60)}},
			"an update that changes them does, and so does one of an empty": {written: empty, stored: own, on: true, want: &jobset.ProgressPolicy{}},
		} {
			t.Run(name, func(t *testing.T) {
				configured := &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](60)}
				defaulter := jobSetDefaulter{gates: gates.Set{InPlaceRestart: tc.on}, decoder: admission.NewDecoder(scheme(t)), progress: configured}
				req := request(admissionv1.Create, tc.written, "")
				if tc.stored != "" {
					req = request(admissionv1.Update, tc.written, tc.stored)
				}
				var js jobset.JobSet
				if err := json.Unmarshal([]byte(tc.written), &js); err != nil {
					t.Fatal(err)
				}
				if err := defaulter.Default(admission.NewContextWithRequest(t.Context(), req), &js); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, workerpod.ProgressOf(js.Spec.FailurePolicy)); diff != "" {
					t.Errorf("progress (-want +got):\n%s", diff)
				}
			})
		}
	})
	t.Run("W20a: an update of a JobSet without defaults is left alone", func(t *testing.T) {
		resp := hook.Handle(t.Context(), request(admissionv1.Update, manifest, manifest))
		if !resp.Allowed || len(resp.Patches) > 0 {
			t.Errorf("got %v", resp)
		}
	})
}

func TestValidating(t *testing.T) {
	hook := admission.WithValidator(scheme(t), jobSetValidator{gates: gates.Set{InPlaceRestart: true}})
	invalid := strings.Replace(manifest, `"maxRestarts":0`, `"maxRestarts":-1`, 1)
	t.Run("W3, W4: a violation is answered with 422 Invalid and its cause", func(t *testing.T) {
		resp := hook.Handle(t.Context(), request(admissionv1.Create, invalid, ""))
		if resp.Allowed || resp.Result.Code != http.StatusUnprocessableEntity || resp.Result.Reason != "Invalid" {
			t.Fatalf("got %v", resp)
		}
		want := `JobSet.jobset.x-k8s.io "js" is invalid: spec.failurePolicy.maxRestarts: Invalid value: -1: must be >= 0`
		if diff := cmp.Diff(want, resp.Result.Message); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
		if causes := resp.Result.Details.Causes; len(causes) != 1 || causes[0].Field != "spec.failurePolicy.maxRestarts" {
			t.Errorf("causes: %v", causes)
		}
	})
	t.Run("W6: a valid JobSet is allowed without a warning", func(t *testing.T) {
		if resp := hook.Handle(t.Context(), request(admissionv1.Create, manifest, "")); !resp.Allowed || len(resp.Warnings) > 0 {
			t.Errorf("got %v", resp)
		}
	})
	t.Run("P42: warnings arrive, beside violations too", func(t *testing.T) {
		inPlace := strings.Replace(manifest, `"maxRestarts":0`, `"restartStrategy":"InPlaceRestart"`, 1)
		if resp := hook.Handle(t.Context(), request(admissionv1.Create, inPlace, "")); resp.Allowed || len(resp.Warnings) == 0 {
			t.Errorf("got %v", resp)
		}
	})
	t.Run("P44: an update by a client that drops explicit zeros is allowed", func(t *testing.T) {
		var typed jobset.JobSet
		if err := json.Unmarshal([]byte(manifest), &typed); err != nil {
			t.Fatal(err)
		}
		put, err := json.Marshal(&typed)
		if err != nil {
			t.Fatal(err)
		}
		if resp := hook.Handle(t.Context(), request(admissionv1.Update, string(put), manifest)); !resp.Allowed {
			t.Errorf("refused: %s", resp.Result.Message)
		}
	})
	t.Run("P44: failurePolicy is immutable", func(t *testing.T) {
		resp := hook.Handle(t.Context(), request(admissionv1.Update, invalid, manifest))
		if resp.Allowed || !strings.Contains(resp.Result.Message, "spec.failurePolicy: Invalid value: Value is immutable") {
			t.Errorf("got %v", resp)
		}
	})
	t.Run("W99: a deletion is allowed", func(t *testing.T) {
		if resp := hook.Handle(t.Context(), request(admissionv1.Delete, "", invalid)); !resp.Allowed {
			t.Errorf("got %v", resp)
		}
	})
}
