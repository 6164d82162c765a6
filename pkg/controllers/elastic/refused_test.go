/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/testshell"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/facts"
)

func TestPodsThatTheJobControllerIsSlowToReplaceAreNotRefused(t *testing.T) {
	failed := func(failures string, finalizers ...string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{batchv1.JobIndexFailureCountAnnotation: failures}, Finalizers: finalizers},
			Status:     corev1.PodStatus{Phase: corev1.PodFailed},
		}
	}
	waiting, replaced := failed("2", batchv1.JobTrackingFinalizer), failed("5")
	for name, tc := range map[string]struct {
		perIndex *int32
		failed   int32
		pods     []*corev1.Pod
		want     time.Duration
	}{
		"P108a: no Pod has failed":                                    {want: 0},
		"P108a: of a Job that counts all indexes, six":                {failed: 6, pods: []*corev1.Pod{waiting}, want: 320 * time.Second},
		"P108a: more than can be":                                     {failed: 1<<31 - 1, want: 10 * time.Minute},
		"P170: of one that counts each index, six of other indexes":   {perIndex: ptr.To[int32](math.MaxInt32), failed: 6, want: 0},
		"P170: the third of an index":                                 {perIndex: ptr.To[int32](math.MaxInt32), failed: 6, pods: []*corev1.Pod{failed("0", batchv1.JobTrackingFinalizer), waiting}, want: 40 * time.Second},
		"P170: a Failed Pod that has lost its finalizer was replaced": {perIndex: ptr.To[int32](math.MaxInt32), failed: 6, pods: []*corev1.Pod{replaced}, want: 0},
	} {
		job := &batchv1.Job{Spec: batchv1.JobSpec{BackoffLimitPerIndex: tc.perIndex}, Status: batchv1.JobStatus{Failed: tc.failed}}
		if got := replacedAfter(job, membersOf(tc.pods)); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// assemblesAt4 is a group of 6 that assembles, and ran with 4 before.
func assemblesAt4(js *jobset.JobSet, _ *batchv1.Job) {
	js.Status.DeprecatedEpoch = ptr.To[int32](1)
	js.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "w", Elastic: &jobset.ElasticSize{
		Current: 4, Desired: 6, LastResizeTime: ptr.To(metav1.NewTime(testshell.Now.Add(-3 * time.Minute)))}}}
}

// TestRefusedPods: a group goes back to the size it ran with if the scheduler refuses more (P108a). What it learned is in the
// status before its size changes, and in no annotation.
func TestRefusedPods(t *testing.T) {
	const said = "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules"
	unscheduled := func(changes ...func(*corev1.Pod)) []client.Object {
		pods := boundPods("a", "n", 6)
		for _, pod := range pods {
			pod.SetCreationTimestamp(metav1.NewTime(testshell.Now.Add(-time.Hour)))
		}
		for _, pod := range pods[4:] {
			pod := pod.(*corev1.Pod)
			pod.Spec.NodeName, pod.CreationTimestamp = "", metav1.NewTime(testshell.Now.Add(-2*time.Minute))
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: said}}
			for _, change := range changes {
				change(pod)
			}
		}
		return pods
	}
	back := func(message string) []string {
		return []string{"update status JobSet a", "patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 6 to 4 Pods: 2 of its 6 Pods have been refused for more than 2m0s (" +
			message + "): it goes back to 4, with which it last ran, and more are tried after 2026-03-14T12:05:00Z, or when a node comes"}
	}
	ceiling := func(message string) *jobset.ElasticCeiling {
		return &jobset.ElasticCeiling{Size: 4, Refusals: 1, RefusedTime: metav1.NewTime(testshell.Now), RetryTime: metav1.NewTime(testshell.Now.Add(5 * time.Minute)), Nodes: 1, Message: message}
	}
	const missing = "2 do not exist, and the events of Job a-w-0 show why"
	for name, tc := range map[string]struct {
		pods   []client.Object
		before func(*autoscaler)
		record []string
		want   *jobset.ElasticCeiling
	}{
		"P108a: what the scheduler refuses": {unscheduled(), nil, back(said), ceiling(said)},
		"P108a: not before its time":        {unscheduled(func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(testshell.Now.Add(-time.Minute)) }), nil, nil, nil},
		"P108a: nor what it did not see":    {unscheduled(func(pod *corev1.Pod) { pod.Status.Conditions = nil }), nil, nil, nil},
		"P108a: Pods that do not exist, as with a quota, count from the first round that missed them": {unscheduled()[:4], func(a *autoscaler) {
			remembers(a, memory{missing: testshell.Now.Add(-2 * time.Minute)})
		}, back(missing), ceiling(missing)},
		"P108a: which is this one": {unscheduled()[:4], nil, nil, nil},
		"P108a: Pods that terminate keep their indexes": {unscheduled(func(pod *corev1.Pod) {
			pod.DeletionTimestamp, pod.Finalizers = ptr.To(metav1.NewTime(testshell.Now)), []string{batchv1.JobTrackingFinalizer}
		}), nil, nil, nil},
		"P108a: Pods of another Job count for nothing": {append(unscheduled()[:4], boundPods("b", "", 2)...), nil, nil, nil},
		"P108a: room that a plan has since a moment only": {unscheduled(), func(a *autoscaler) {
			remembers(a, memory{noRoom: testshell.Now.Add(-time.Minute)})
		}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			objects := append(append([]client.Object{gpuNode("n", "6")}, scaled("a", 6, 1, assemblesAt4)...), tc.pods...)
			s := testshell.New(t, objects...)
			for _, pod := range tc.pods {
				s.Cached(t, nil, pod.(*corev1.Pod))
			}
			a := newAutoscaler(s, Autoscaling{CooldownUp: 5 * time.Minute, ShrinkAfter: 2 * time.Minute, Accelerators: []corev1.ResourceName{someGPU}})
			if tc.before != nil {
				tc.before(a)
			}
			for _, record := range [][]string{tc.record, nil} { // a second round changes nothing
				round(t, s, a)
				s.Record.Expect(t, record...)
			}
			js := &jobset.JobSet{}
			if err := s.Fake.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, js); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, js.Status.ReplicatedJobsStatus[0].Elastic.Ceiling); diff != "" {
				t.Errorf("P108a: ceiling (-want +got):\n%s", diff)
			}
			var got string
			if c := apimeta.FindStatusCondition(js.Status.Conditions, string(jobset.JobSetElasticWaiting)); c != nil {
				got = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
			}
			want := ""
			if tc.want != nil {
				want = "False ElasticRefused: ReplicatedJob w: more than 4 Pods were refused (" + tc.want.Message + "), and more are tried after 2026-03-14T12:05:00Z, or when a node comes"
			}
			if got != want {
				t.Errorf("P108a: condition %q, want %q", got, want)
			}
		})
	}
}

// TestWhatIsRememberedEndsWithItsJobSet: Pods are missing since the first round that missed them while their JobSet is planned (P108a).
func TestWhatIsRememberedEndsWithItsJobSet(t *testing.T) {
	key := elastic.Key{Namespace: "ns", JobSet: "a", ReplicatedJob: "w"}
	suspended := func(suspend bool) func(*testing.T, *testshell.API) {
		return func(t *testing.T, s *testshell.API) {
			js := testshell.Stored(t, s.Fake, &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}})
			js.Spec.Suspend = &suspend
			if err := s.Fake.Update(t.Context(), js); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := func(t *testing.T, s *testshell.API) {
		for _, object := range scaled("a", 6, 1, assemblesAt4, func(js *jobset.JobSet, job *batchv1.Job) {
			js.UID, job.OwnerReferences[0].UID = "again", "again"
		}) {
			if err := errors.Join(s.Fake.Delete(t.Context(), object), s.Fake.Create(t.Context(), object)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, changes := range map[string][]func(*testing.T, *testshell.API){
		"P108a: it is suspended, and resumes":             {suspended(true), suspended(false)},
		"P108a: it is deleted, and created again at once": {again},
	} {
		t.Run(name, func(t *testing.T) {
			s := testshell.New(t, append(append(scaled("a", 6, 1, assemblesAt4), gpuNode("n", "6")), boundPods("a", "n", 4)...)...)
			for _, pod := range boundPods("a", "n", 4) {
				s.Cached(t, nil, pod.(*corev1.Pod))
			}
			a := newAutoscaler(s, Autoscaling{ShrinkAfter: 2 * time.Minute, Accelerators: []corev1.ResourceName{someGPU}})
			round(t, s, a)
			remembers(a, memory{reported: "reported", resized: testshell.Now, lacking: testshell.Now, noRoom: testshell.Now})
			s.Clock.SetTime(testshell.Now.Add(time.Hour))
			for _, change := range changes {
				change(t, s)
				round(t, s, a)
			}
			s.Record.Expect(t)
			got := *a.known[key]
			if want := (memory{jobSet: got.jobSet, missing: s.Clock.Now(), started: got.started}); got != want {
				t.Errorf("remembered is %+v, want that Pods are missing since now, and nothing of what is gone", got)
			}
		})
	}
}

// remembers gives a planner the memory of JobSet a.
func remembers(a *autoscaler, of memory) {
	of.jobSet = "a"
	a.known = map[elastic.Key]*memory{{Namespace: "ns", JobSet: "a", ReplicatedJob: "w"}: &of}
}

// TestUnboundPodsWake: a Pod that waits for a node starts a round if its group waits for it (P108a).
func TestUnboundPodsWake(t *testing.T) {
	for name, tc := range map[string]struct {
		deprecated int32
		want       bool
	}{
		"P108a: a group that assembles": {1, true},
		"P108b: not one that runs":      {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			objects := scaled("a", 2, 1, func(js *jobset.JobSet, _ *batchv1.Job) { js.Status.DeprecatedEpoch = &tc.deprecated })
			s := testshell.New(t, objects...)
			a := newAutoscaler(s, Autoscaling{})
			if _, _, err := a.gather(t.Context()); err != nil {
				t.Fatal(err)
			}
			a.podAppears(facts.Of(boundPods("a", "", 1)[0].(*corev1.Pod)))
			if got := len(a.wake) > 0; got != tc.want {
				t.Errorf("a round starts: %t, want %t", got, tc.want)
			}
		})
	}
}

func membersOf(pods []*corev1.Pod) (members []*facts.Member) {
	for _, pod := range pods {
		members = append(members, facts.Of(pod))
	}
	return members
}
