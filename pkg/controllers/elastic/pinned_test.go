/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/testshell"
	"sigs.k8s.io/jobset/pkg/elastic"
)

// TestSizesBesideFinishedJobs: beside a Job that is done, a change of size would recreate everything (P101b).
func TestSizesBesideFinishedJobs(t *testing.T) {
	complete := batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}
	for name, tc := range map[string]struct {
		other batchv1.JobStatus
		// awaited: the workers wait for the other to complete. recreates: they do not restart in place.
		awaited, recreates bool
		want               int32
	}{
		"P101b: beside a role that runs it grows":                        {batchv1.JobStatus{}, false, false, 6},
		"P101b: beside one that is Complete it does not":                 {complete, false, false, 2},
		"P101b: nor beside one with an index that is done":               {batchv1.JobStatus{CompletedIndexes: "0"}, false, false, 2},
		"P101b: one that the others waited for does not matter":          {complete, true, false, 6},
		"P101b: nor does any to a JobSet that does not restart in place": {complete, false, true, 6},
	} {
		t.Run(name, func(t *testing.T) {
			objects := scaled("a", 2, 1, func(js *jobset.JobSet, job *batchv1.Job) {
				other := jobset.ReplicatedJob{Name: "other", Replicas: 1}
				if js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, other); tc.awaited {
					js.Spec.ReplicatedJobs[0].DependsOn = []jobset.DependsOn{{Name: "other", Status: jobset.DependencyComplete}}
				}
				if tc.recreates {
					js.Spec.FailurePolicy = nil
				}
			})
			other := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "a-other-0", UID: types.UID("other"), Labels: map[string]string{jobset.JobSetUIDKey: "a", jobset.ReplicatedJobNameKey: "other"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(objects[0], jobset.GroupVersion.WithKind(jobset.Kind))},
			}, Status: tc.other}
			if got := sizeAfterRound(t, append(append(objects, other, gpuNode("n", "6")), boundPods("a", "n", 2)...)); got != tc.want {
				t.Errorf("size %d, want %d", got, tc.want)
			}
		})
	}
}

// sizeAfterRound returns the size of JobSet a after a round.
func sizeAfterRound(t *testing.T, objects []client.Object) int32 {
	t.Helper()
	s := testshell.New(t, objects...)
	a := newAutoscaler(s, Autoscaling{CooldownUp: 5 * time.Minute, Accelerators: []corev1.ResourceName{someGPU}})
	round(t, s, a)
	js := &jobset.JobSet{}
	if err := s.Fake.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, js); err != nil {
		t.Fatal(err)
	}
	return *js.Spec.ReplicatedJobs[0].Template.Spec.Completions
}

// TestHeld: a user keeps the sizes of a JobSet as they are, and reads why nothing changes (P111).
func TestHeld(t *testing.T) {
	hold := func(js *jobset.JobSet, _ *batchv1.Job) { js.Annotations = map[string]string{jobset.ElasticHoldKey: ""} }
	js := scaled("a", 2, 1, hold)
	s := testshell.New(t, append(append(js, gpuNode("n", "6")), boundPods("a", "n", 2)...)...)
	a := newAutoscaler(s, Autoscaling{Accelerators: []corev1.ResourceName{someGPU}})
	rounds := func(held bool, size int32, reason string) {
		t.Helper()
		for range 2 {
			round(t, s, a)
		}
		got := &jobset.JobSet{}
		if err := s.Fake.Get(t.Context(), client.ObjectKeyFromObject(js[0]), got); err != nil {
			t.Fatal(err)
		}
		if n := *got.Spec.ReplicatedJobs[0].Template.Spec.Completions; n != size {
			t.Errorf("held %t: size %d, want %d", held, n, size)
		}
		if c := apimeta.FindStatusCondition(got.Status.Conditions, string(jobset.JobSetElasticWaiting)); c == nil || c.Status != metav1.ConditionFalse || c.Reason != reason {
			t.Errorf("held %t: condition %+v, want False because of %s", held, c, reason)
		}
		delete(got.Annotations, jobset.ElasticHoldKey)
		if err := s.Fake.Update(t.Context(), got); err != nil {
			t.Fatal(err)
		}
	}
	rounds(true, 2, constants.ElasticHeldReason)
	rounds(false, 6, constants.ElasticRoomFoundReason)
}

// TestAPlanOfWhatHasChangedIsNotCarriedOut: a user who holds the sizes between the plan and its write keeps them, and all annotations (P107, P111).
func TestAPlanOfWhatHasChangedIsNotCarriedOut(t *testing.T) {
	s := testshell.New(t, append(append(scaled("a", 2, 1), gpuNode("n", "6")), boundPods("a", "n", 2)...)...)
	key, planned, stored := client.ObjectKey{Namespace: "ns", Name: "a"}, &jobset.JobSet{}, &jobset.JobSet{}
	if err := s.Fake.Get(t.Context(), key, planned); err != nil {
		t.Fatal(err)
	}
	held := planned.DeepCopy()
	held.Annotations = map[string]string{jobset.ElasticHoldKey: "", "note": "mine"}
	if err := s.Fake.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	patch, err := resizePatch(planned, []elastic.Decision{{Key: elastic.Key{ReplicatedJob: "w"}, Size: 6}}, []int{0}, testshell.Now)
	if err != nil {
		t.Fatal(err)
	}
	refused := s.Fake.Patch(t.Context(), planned.DeepCopy(), client.RawPatch(types.JSONPatchType, patch))
	if err := s.Fake.Get(t.Context(), key, stored); err != nil {
		t.Fatal(err)
	}
	if !apierrors.IsConflict(refused) || len(stored.Annotations) != 2 || *stored.Spec.ReplicatedJobs[0].Template.Spec.Completions != 2 {
		t.Errorf("error %v, annotations %v, size %d", refused, stored.Annotations, *stored.Spec.ReplicatedJobs[0].Template.Spec.Completions)
	}
}

// TestAutoscalerYields: a size that somebody changed meanwhile is left alone, and the next round plans it again.
func TestAutoscalerYields(t *testing.T) {
	refused := apierrors.NewInvalid(jobset.GroupVersion.WithKind(jobset.Kind).GroupKind(), "a", field.ErrorList{field.Invalid(field.NewPath("spec"), 6, "no")})
	for name, tc := range map[string]struct {
		version string
		refused error
	}{
		"P107: what has changed is no error":                    {"1", nil},
		"P107: what a schema, policy or webhook refuses is one": {"999", refused},
	} {
		t.Run(name, func(t *testing.T) {
			js := scaled("a", 2, 1)[0].(*jobset.JobSet)
			s := testshell.New(t, js)
			s.Fail = func(string) error { return tc.refused }
			a := newAutoscaler(s, Autoscaling{})
			stale := []elastic.Job{{Key: elastic.Key{Namespace: "ns", JobSet: "a", ReplicatedJob: "w"}, Size: 5}}
			js.ResourceVersion = tc.version
			err := a.change(t.Context(), js, stale, []elastic.Decision{{Key: stale[0].Key, Size: 6, Desired: 6}}, &verdicts{})
			if !errors.Is(err, tc.refused) {
				t.Errorf("error %v, want %v", err, tc.refused)
			}
			s.Record.Expect(t, "patch JobSet a")
			if got := *testshell.Stored(t, s.Fake, js).Spec.ReplicatedJobs[0].Template.Spec.Completions; got != 2 {
				t.Errorf("P107: size %d, want 2 as it was", got)
			}
		})
	}
}

func TestAChangeOfOneSizeCoolsTheWholeJobSet(t *testing.T) {
	ago := func(d time.Duration) time.Time { return testshell.Now.Add(-d) }
	jobs := []elastic.Job{{}, {Resized: ago(time.Minute)}, {Resized: ago(time.Hour)}}
	shareResized(jobs)
	for i := range jobs {
		if !jobs[i].JobSetResized.Equal(ago(time.Minute)) {
			t.Errorf("P107: job %d cools from %s on, want a minute ago", i, jobs[i].JobSetResized)
		}
	}
	if !jobs[0].Resized.IsZero() || !jobs[2].Resized.Equal(ago(time.Hour)) {
		t.Errorf("P108a: the times of the jobs themselves have changed: %v", jobs)
	}
}
