/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestTheWireNamesAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		jobSetGroupVersion:  jobset.GroupVersion.String(),
		jobSetNameKey:       jobset.JobSetNameKey,
		epochKey:            jobset.EpochKey,
		disableKey:          jobset.DisableInPlaceRestartKey,
		strategyInPlace:     string(jobset.InPlaceRestart),
		conditionDisabled:   string(jobset.JobSetInPlaceRestartDisabled),
		conditionTrue:       string(metav1.ConditionTrue),
		initialEventsEndKey: metav1.InitialEventsAnnotationKey,
	} {
		if got != want {
			t.Errorf("the agent says %q, the API %q", got, want)
		}
	}
}

func TestAJobSetDecodedInPartSaysWhatTheTypedOneSays(t *testing.T) {
	t.Parallel()
	conditions := func(status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{
			{Type: string(jobset.JobSetRestarting), Status: metav1.ConditionTrue},
			{Type: string(jobset.JobSetInPlaceRestartDisabled), Status: status},
		}
	}
	policy := func(strategy jobset.JobSetRestartStrategy) jobset.JobSetSpec {
		return jobset.JobSetSpec{FailurePolicy: &jobset.FailurePolicy{RestartStrategy: strategy, MaxRestarts: 3}}
	}
	meta := func(annotations map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: "train", UID: "u", Annotations: annotations}
	}
	deleted := meta(nil)
	deleted.DeletionTimestamp = ptr.To(metav1.Unix(1, 0))
	for name, tc := range map[string]struct {
		jobSet jobset.JobSet
		want   JobSet
	}{
		"nothing is set":      {jobset.JobSet{}, JobSet{Exists: true}},
		"O57: Recreate":       {jobset.JobSet{ObjectMeta: meta(nil), Spec: policy(jobset.Recreate)}, JobSet{Exists: true, UID: "u"}},
		"P34: InPlaceRestart": {jobset.JobSet{ObjectMeta: meta(nil), Spec: policy(jobset.InPlaceRestart)}, JobSet{Exists: true, UID: "u", InPlace: true}},
		"being deleted":       {jobset.JobSet{ObjectMeta: deleted}, JobSet{Exists: true, UID: "u", Deleting: true}},
		"P34, O57: any value of the annotation": {
			jobset.JobSet{ObjectMeta: meta(map[string]string{jobset.DisableInPlaceRestartKey: ""})},
			JobSet{Exists: true, UID: "u", DisabledByAnnotation: true},
		},
		"P34: other annotations": {jobset.JobSet{ObjectMeta: meta(map[string]string{"a": "b"})}, JobSet{Exists: true, UID: "u"}},
		"P34: the condition is True": {
			jobset.JobSet{Status: jobset.JobSetStatus{Conditions: conditions(metav1.ConditionTrue)}}, JobSet{Exists: true, DisabledByGate: true},
		},
		"P34: the condition is False": {
			jobset.JobSet{Status: jobset.JobSetStatus{Conditions: conditions(metav1.ConditionFalse)}}, JobSet{Exists: true},
		},
		"the epochs": {
			jobset.JobSet{Status: jobset.JobSetStatus{DeprecatedEpoch: ptr.To[int32](3), SyncedEpoch: ptr.To[int32](4), InPlaceRestarts: 9}},
			JobSet{Exists: true, Deprecated: 3, Synced: 4},
		},
		"a negative epoch is none": {
			jobset.JobSet{Status: jobset.JobSetStatus{DeprecatedEpoch: ptr.To[int32](-3), SyncedEpoch: ptr.To[int32](-4)}}, JobSet{Exists: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(tc.jobSet)
			if err != nil {
				t.Fatal(err)
			}
			var object wireJobSet
			if err := json.Unmarshal(text, &object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, object.jobSet()); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheReportNamesNothingButItsAnnotation(t *testing.T) {
	t.Parallel()
	got, err := epochPatch(7)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"7"}}}`; string(got) != want {
		t.Errorf("patch %s, want %s", got, want)
	}
}
