/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestABypassDoesNotEndUnseen(t *testing.T) {
	t.Parallel()
	seen := func(js *jobset.JobSet) {
		js.Status.Conditions = append(js.Status.Conditions, builders.Condition(jobset.JobSetInPlaceRestartDisabled, true, "DisabledByAnnotation", "m", time.Now()))
	}
	for name, tc := range map[string]struct {
		change func(old, new *jobset.JobSet)
		off    bool
		want   string
	}{
		"P34b: the annotation is removed before anybody saw it": {func(_, _ *jobset.JobSet) {}, false, "wait until condition InPlaceRestartDisabled is True"},
		"P34b: a manager has seen it":                           {func(old, _ *jobset.JobSet) { seen(old) }, false, ""},
		"P34b: it gets another value": {func(_, new *jobset.JobSet) {
			new.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: "false"}
		}, false, ""},
		"P34b: the JobSet has ended":        {func(old, _ *jobset.JobSet) { old.Status.TerminalState = string(jobset.JobSetCompleted) }, false, ""},
		"P34b: the JobSet is being deleted": {func(old, _ *jobset.JobSet) { old.DeletionTimestamp = ptr.To(metav1.Now()) }, false, ""},
		"P34b: another controller manages it": {func(old, new *jobset.JobSet) {
			old.Spec.ManagedBy, new.Spec.ManagedBy = ptr.To("a.io/b"), ptr.To("a.io/b")
		}, false, ""},
		"P34b: it has another strategy": {func(old, new *jobset.JobSet) {
			old.Spec.FailurePolicy.RestartStrategy, new.Spec.FailurePolicy.RestartStrategy = jobset.Recreate, jobset.Recreate
		}, false, ""},
		"P34b: the gate is off": {func(_, _ *jobset.JobSet) {}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 1).ReplicatedJob(builders.MakeReplicatedJob("w")).Obj()
			new := old.DeepCopy()
			old.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: ""}
			tc.change(old, new)
			errs := Update(old, new, gates.Set{InPlaceRestart: !tc.off})
			switch {
			case tc.want == "" && len(errs) > 0:
				t.Errorf("refused: %v", errs)
			case tc.want != "" && (len(errs) != 1 || errs[0].Field != "metadata.annotations[jobset.sigs.k8s.io/disable-in-place-restart]" || !strings.Contains(errs[0].Detail, tc.want)):
				t.Errorf("%v, want that it says %q", errs, tc.want)
			}
		})
	}
}
