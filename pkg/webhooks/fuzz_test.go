/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func FuzzDefault(f *testing.F) {
	for _, seed := range []string{
		manifest,
		`{}`,
		`{"spec":{"replicatedJobs":[{"name":"a"},{"template":{"spec":{"completionMode":"NonIndexed","template":{"spec":{"restartPolicy":"Always"}}}}}]}}`,
		`{"spec":{"network":{"enableDNSHostnames":false},"successPolicy":{"operator":"Any"},"startupPolicy":{"startupPolicyOrder":"InOrder"}}}`,
		`{"spec":{"failurePolicy":{"rules":[{},{"name":"failurePolicyRule0"},{},{"name":"failurePolicyRule3"}]}}}`,
		`{"spec":{"volumeClaimPolicies":[{},{"retentionPolicy":{}},{"retentionPolicy":{"whenDeleted":"Retain"}}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		js := &jobset.JobSet{}
		if json.Unmarshal(raw, js) != nil {
			return
		}
		before := fields(t, js)
		if before == nil {
			return
		}
		Default(js, gates.Set{InPlaceRestart: true})
		if lost := firstLost("", before, fields(t, js)); lost != "" {
			t.Errorf("defaulting changed what the user set: %s", lost)
		}
		again := js.DeepCopy()
		Default(again, gates.Set{InPlaceRestart: true})
		if !apiequality.Semantic.DeepEqual(js, again) {
			t.Errorf("defaulting twice (-once +twice):\n%s", cmp.Diff(fields(t, js), fields(t, again)))
		}
	})
}

// fields returns a JobSet as decoded JSON, nil if it cannot be encoded.
func fields(t *testing.T, js *jobset.JobSet) (out map[string]any) {
	t.Helper()
	written, err := json.Marshal(js)
	if err != nil {
		return nil
	}
	if err := json.Unmarshal(written, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// firstLost finds something that is set before and not, or not the same, after.
func firstLost(path string, before, after any) string {
	switch b := before.(type) {
	case nil:
		return ""
	case string:
		if b == "" {
			return ""
		}
	case map[string]any:
		a, _ := after.(map[string]any)
		for key := range b {
			if lost := firstLost(path+"."+key, b[key], a[key]); lost != "" {
				return lost
			}
		}
		return ""
	case []any:
		a, _ := after.([]any)
		if len(a) != len(b) {
			return path
		}
		for i := range b {
			if lost := firstLost(path+"[]", b[i], a[i]); lost != "" {
				return lost
			}
		}
		return ""
	}
	if !reflect.DeepEqual(before, after) {
		return path
	}
	return ""
}
