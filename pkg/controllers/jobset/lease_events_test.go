/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// leaseOf is the Lease of a Pod with an epoch, and pairs of annotations and their values.
func leaseOf(pod *corev1.Pod, epoch string, more ...string) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: facts.LeaseName(pod.Name), Namespace: pod.Namespace, Annotations: map[string]string{jobset.EpochKey: epoch},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
	}}
	for i := 0; i < len(more); i += 2 {
		lease.Annotations[more[i]] = more[i+1]
	}
	return lease
}

// leased is a shell with two workers that run at epoch 1, of which the Leases say so and the Pods nothing. The map has the Leases.
func leased(t *testing.T) (s *shell, js *jobset.JobSet, job *batchv1.Job, leases map[string]*facts.Lease) {
	t.Helper()
	js, job = workers()
	leases = map[string]*facts.Lease{}
	s = newShell(t, js, job)
	s.reporting = func(key string) *facts.Lease { return leases[key] }
	cached(t, s, []*batchv1.Job{job})
	reports(t, s, job, "", "")
	inLeases(leases, job, "1", "1")
	passes(t, s)
	s.Record.Expect(t, writesStatus)
	return s, js, job, leases
}

// inLeases has the Pods of a Job report these epochs in their Leases; without one there is no Lease.
func inLeases(leases map[string]*facts.Lease, job *batchv1.Job, epochs ...string) {
	for index, epoch := range epochs {
		pod := builders.MakePod(job, index).Obj()
		key := pod.Namespace + "/" + facts.LeaseName(pod.Name)
		delete(leases, key)
		if epoch != "" {
			leases[key] = facts.OfLease(leaseOf(pod, epoch))
		}
	}
}

func TestAGroupThatReportsInLeases(t *testing.T) {
	t.Parallel()
	expect := func(t *testing.T, s *shell, js *jobset.JobSet, want [3]int32) {
		t.Helper()
		passes(t, s)
		if diff := cmp.Diff(want, epochsOf(t, s, js)); diff != "" {
			t.Errorf("D, S, charged (-want +got):\n%s", diff)
		}
	}
	t.Run("P152: it restarts in place, and a Lease that is deleted on the way delays the lift", func(t *testing.T) {
		t.Parallel()
		s, js, job, leases := leased(t)
		expect(t, s, js, [3]int32{0, 1, 0})
		inLeases(leases, job, "2", "1")
		expect(t, s, js, [3]int32{1, 1, 1})
		inLeases(leases, job, "", "2")
		expect(t, s, js, [3]int32{1, 1, 1})
		inLeases(leases, job, "2", "2")
		expect(t, s, js, [3]int32{1, 2, 1})
	})
	t.Run("P152: so it does where one of two reports on its Pod, and old reports of Pods hide nothing", func(t *testing.T) {
		t.Parallel()
		s, js, job, leases := leased(t)
		reports(t, s, job, "1", "2")
		expect(t, s, js, [3]int32{1, 1, 1})
		inLeases(leases, job, "2", "1")
		expect(t, s, js, [3]int32{1, 2, 1})
		reports(t, s, job, "9", "2") // of a status that was lost
		inLeases(leases, job, "3", "")
		expect(t, s, js, [3]int32{2, 2, 2})
	})
	t.Run("P152: a new leader that has no Leases yet breaks nothing", func(t *testing.T) {
		t.Parallel()
		s, js, _, leases := leased(t)
		s.memory = newMemory()
		clear(leases)
		expect(t, s, js, [3]int32{0, 1, 0})
	})
	t.Run("P151: the Lease of an earlier Pod of that name counts for nothing", func(t *testing.T) {
		t.Parallel()
		s, js, _, leases := leased(t)
		for _, lease := range leases {
			lease.Of, lease.Reported = "earlier", facts.Reported{Epoch: 2}
		}
		expect(t, s, js, [3]int32{0, 1, 0})
	})
	t.Run("P22, P152: a Pod is joined with the Lease that it has now, and neither changes", func(t *testing.T) {
		t.Parallel()
		s, js, job, leases := leased(t)
		joined := func() *facts.Member {
			in, err := s.gather(t.Context(), stored(t, s, js))
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(in.Pods[job.UID], func(pod *facts.Member) bool { return pod.Index == 0 })
			return in.Pods[job.UID][at]
		}
		if first := joined(); first.Reported.Epoch != 1 {
			t.Errorf("joined into %+v", first.Reported)
		}
		inLeases(leases, job, "2")
		if second := joined(); second.Reported.Epoch != 2 {
			t.Errorf("the Lease that changed: %+v", second.Reported)
		}
		cached(t, s, nil, builders.MakePod(job, 0).Phase(corev1.PodFailed).Obj())
		if third := joined(); third.Phase != corev1.PodFailed || third.Reported.Epoch != 2 {
			t.Errorf("the Pod that changed: %+v", third)
		}
		if pod := s.pods.Named("ns", "js-w-0-0"); pod.Reported.Epoch != 0 {
			t.Errorf("the Pod of the cache has the report of its Lease: %+v", pod)
		}
		clear(leases)
		if last := joined(); last.Reported.Epoch != 0 {
			t.Errorf("without a Lease: %+v", last.Reported)
		}
	})
}

// TestALostWorkerMayReportInALease: a Pod that is read past the cache has the report of its Lease (P152).
func TestALostWorkerMayReportInALease(t *testing.T) {
	t.Parallel()
	s, js, job, _ := leased(t)
	if err := s.Fake.Create(t.Context(), builders.MakePod(job, 1).Obj()); err != nil {
		t.Fatal(err)
	}
	got, err := s.confirm(t.Context(), policy.Input{JobSet: js, Jobs: []*batchv1.Job{job}, Pods: map[types.UID][]*facts.Member{}}, &policy.Loss{Job: job, Indexes: []int64{1}})
	if err != nil || len(got.Pods[job.UID]) != 1 {
		t.Fatalf("error %v, Pods %v", err, got.Pods)
	}
	if epoch := got.Pods[job.UID][0].Reported.Epoch; epoch != 1 {
		t.Errorf("P152: the Pod that was read reports %d, want 1", epoch)
	}
}

func TestWhatALeaseWakes(t *testing.T) {
	t.Parallel()
	js, job := workers()
	recreate := js.DeepCopy()
	recreate.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
	pod := builders.MakePod(job, 0).Change(func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }).Obj()
	foreign, ahead := leaseOf(pod, "2"), leaseOf(pod, "2")
	foreign.OwnerReferences[0].UID = "another"
	ahead.Spec.HolderIdentity = ptr.To("h")
	unknown := leaseOf(builders.MakePod(job, 7).Obj(), "2")
	election := leaseOf(pod, "2")
	election.Name = "js-w-0-0"
	const failed = `{"container":"worker","epoch":1,"code":7,"time":"2026-03-14T12:00:00Z"}`
	for name, tc := range map[string]struct {
		js            *jobset.JobSet
		before, after *coordinationv1.Lease
		wakes         bool
		failure       *policy.Failure
	}{
		"P152: the first report wakes":                            {js, nil, leaseOf(pod, "1"), true, nil},
		"P152: another epoch wakes":                               {js, leaseOf(pod, "1"), leaseOf(pod, "2"), true, nil},
		"P152: so does one that is deleted":                       {js, leaseOf(pod, "1"), nil, true, nil},
		"P152: what is not read wakes no JobSet":                  {js, leaseOf(pod, "2"), ahead, false, nil},
		"P137, P152: nor does the progress of a worker":           {js, leaseOf(pod, "1"), leaseOf(pod, "1", jobset.ProgressKey, `{"epoch":1,"start":1}`), false, nil},
		"P66, P152: a worker that failed, with the next epoch":    {js, leaseOf(pod, "1"), leaseOf(pod, "2", jobset.WorkerExitKey, failed), true, &policy.Failure{Pod: "js-w-0-0", Container: "worker", ExitCode: 7, Node: "n1"}},
		"P66, P152: a report that was there before we looked":     {js, nil, leaseOf(pod, "2", jobset.WorkerExitKey, failed), true, nil},
		"P151: a Lease of another owner wakes no JobSet":          {js, nil, foreign, false, nil},
		"P151: one of a Pod that is not known wakes no JobSet":    {js, nil, unknown, false, nil},
		"P151: one with another name wakes no JobSet":             {js, nil, election, false, nil},
		"P22, P152: those of other strategies wake no JobSet":     {recreate, nil, leaseOf(pod, "2"), false, nil},
		"P12, P152: an epoch that is no report wakes as on a Pod": {js, leaseOf(pod, "1"), leaseOf(pod, "9"), true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, tc.js, job, pod)
			cached(t, s, nil, pod)
			handler := &podEvents{reader: s.Fake, memory: s.memory, gates: gates.Set{InPlaceRestart: true}, pods: s.pods}
			read := func(lease *coordinationv1.Lease) *facts.Lease {
				if lease == nil {
					return nil
				}
				return facts.OfLease(lease)
			}
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			handler.leaseChanged(t.Context(), read(tc.before), read(tc.after), queue)
			if got := queue.Len() > 0; got != tc.wakes {
				t.Errorf("wakes %v, want %v", got, tc.wakes)
			}
			if diff := cmp.Diff(tc.failure, s.memory.forJobSet(tc.js).firstFailure.in(1)); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
}

// seenLeases are Leases that can be read, or not.
type seenLeases bool

func (l seenLeases) Seen() bool { return bool(l) }

func (seenLeases) OnChange(func(before, after *facts.Lease)) {}

func TestAgentsReportInLeasesThatCanBeRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		leases agentLeases
		policy inForce
		grants bool
		want   workerpod.Injection
	}{
		"P150: Leases can be read":                     {leases: seenLeases(true), want: workerpod.Injection{LeaseReportsFrom: 256}},
		"P150: this manager may not, or not yet":       {leases: seenLeases(false)},
		"P150: this manager does not read them at all": {},
		"P153b: their policy is missing, so none is read, and this manager takes no rights back": {leases: seenLeases(true), policy: inForce{gap: "missing"},
			want: workerpod.Injection{LeaseReportsFrom: 256, LeasesUnread: true}},
		"P153b: their policy is missing, and this manager takes the rights back": {leases: seenLeases(true), policy: inForce{gap: "missing"}, grants: true,
			want: workerpod.Injection{LeaseReportsFrom: 256}},
		"P153b: it is not known, as when a manager starts": {leases: seenLeases(true), policy: inForce{unknown: true},
			want: workerpod.Injection{LeaseReportsFrom: 256}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &JobSetReconciler{leases: tc.leases, leasePolicy: &tc.policy, grants: tc.grants, injection: workerpod.Injection{LeaseReportsFrom: 256}}
			if diff := cmp.Diff(tc.want, r.injectionNow()); diff != "" {
				t.Errorf("injection (-want +got):\n%s", diff)
			}
		})
	}
}
