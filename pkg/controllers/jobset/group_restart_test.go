/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const (
	writesStatus = "update status JobSet js"
	breaks       = "event Warning InPlaceRestartStarted Reconciling: worker pod js-w-0-0 restarted, its exit code was not seen; all workers of epoch 1 restart in place"
)

// lifts returns the record of the event at the end of a group restart.
func lifts(workers, epoch int, seconds float64) string {
	return fmt.Sprintf("event Normal InPlaceRestartCompleted Reconciling: %d workers restarted in place: epoch %d, %.1f seconds", workers, epoch, seconds)
}

// epochsOf returns D, S and the charged restarts from the status.
func epochsOf(t *testing.T, s *shell, js *jobset.JobSet) [3]int32 {
	t.Helper()
	status := stored(t, s, js).Status
	return [3]int32{ptr.Deref(status.DeprecatedEpoch, 0), ptr.Deref(status.SyncedEpoch, 0), status.InPlaceRestarts + status.RestartsCountTowardsMax}
}

func passes(t *testing.T, s *shell) {
	t.Helper()
	if _, err := pass(t, s); err != nil {
		t.Fatal(err)
	}
}

// reports adds the Pods of a Job to the cache, with these epochs; "" means no epoch.
func reports(t *testing.T, s *shell, job *batchv1.Job, epochs ...string) {
	t.Helper()
	for index, epoch := range epochs {
		pod := builders.MakePod(job, index)
		if epoch != "" {
			pod.Epoch(epoch)
		}
		cached(t, s, nil, pod.Obj())
	}
}

// running returns a shell whose cache shows two workers that run at epoch 1, with the status written.
func running(t *testing.T) (*shell, *jobset.JobSet, *batchv1.Job) {
	t.Helper()
	js, job := workers()
	s := newShell(t, js, job)
	cached(t, s, []*batchv1.Job{job})
	reports(t, s, job, "1", "1")
	passes(t, s)
	s.Record.Expect(t, writesStatus)
	return s, js, job
}

func TestPodsOfOthers(t *testing.T) {
	t.Parallel()
	stranger := func(job *batchv1.Job, name, epoch string) *corev1.Pod {
		return builders.MakePod(job, 1).Name(name).Epoch(epoch).Change(func(pod *corev1.Pod) { pod.OwnerReferences = nil }).Obj()
	}
	t.Run("C270: copies of a Pod with all its labels neither break the group nor complete it nor spend its budget", func(t *testing.T) {
		t.Parallel()
		s, js, job := running(t)
		for name, epoch := range map[string]string{"next": "2", "far": "999999", "text": "x"} {
			cached(t, s, nil, stranger(job, name, epoch))
		}
		passes(t, s)
		s.Record.Expect(t)
		reports(t, s, job, "2", "1")
		passes(t, s)
		s.Record.Expect(t, writesStatus, breaks)
		passes(t, s)
		if diff := cmp.Diff([3]int32{1, 1, 1}, epochsOf(t, s, js)); diff != "" {
			t.Errorf("a stranger in the slot that is missing (-want +got):\n%s", diff)
		}
		if err := s.pods.Store.Delete(stranger(job, "next", "2")); err != nil {
			t.Fatal(err)
		}
		reports(t, s, job, "2", "2")
		passes(t, s)
		if diff := cmp.Diff([3]int32{1, 2, 1}, epochsOf(t, s, js)); diff != "" {
			t.Errorf("all members are back (-want +got):\n%s", diff)
		}
	})
}

func TestNonsenseStopsNoPass(t *testing.T) {
	t.Parallel()
	for _, nonsense := range []string{"abc", "-1", "4294967297"} {
		t.Run("C271: annotation "+nonsense+": the status is written, one event tells, and the report that follows counts", func(t *testing.T) {
			t.Parallel()
			js, job := workers()
			js.Status.SyncedEpoch = nil
			s := newShell(t, js, job)
			cached(t, s, []*batchv1.Job{job},
				builders.MakePod(job, 0).Name("old").Epoch(nonsense).Terminating(now.Add(time.Hour)).Obj(),
				builders.MakePod(job, 0).Name("failed").Epoch(nonsense).Phase(corev1.PodFailed).Counted().Obj())
			reports(t, s, job, nonsense, "1")
			passes(t, s)
			s.Record.Expect(t, "event Warning InvalidEpoch Reconciling: annotation jobset.sigs.k8s.io/epoch of Pod js-w-0-0 is \""+nonsense+
				"\", not a decimal number from 1 to 2147483647: it counts as not reported", writesStatus)
			if counts := stored(t, s, js).Status.ReplicatedJobsStatus; len(counts) != 1 {
				t.Errorf("the counts are not written: %v", counts)
			}
			passes(t, s)
			s.Record.Expect(t)
			reports(t, s, job, "1", "1")
			passes(t, s)
			if diff := cmp.Diff([3]int32{0, 1, 0}, epochsOf(t, s, js)); diff != "" {
				t.Errorf("D, S, charged (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingThatDecidesIsInMemory(t *testing.T) {
	t.Parallel()
	t.Run("C282: another controller takes over before each pass of a group restart", func(t *testing.T) {
		t.Parallel()
		s, js, job := running(t)
		next := func(want [3]int32, told ...string) {
			t.Helper()
			s.memory = newMemory()
			passes(t, s)
			s.Record.Expect(t, told...)
			if diff := cmp.Diff(want, epochsOf(t, s, js)); diff != "" {
				t.Errorf("D, S, charged (-want +got):\n%s", diff)
			}
		}
		next([3]int32{0, 1, 0})
		reports(t, s, job, "2", "1")
		next([3]int32{1, 1, 1}, writesStatus, breaks)
		next([3]int32{1, 1, 1})
		reports(t, s, job, "2", "2")
		next([3]int32{1, 2, 1}, writesStatus, lifts(2, 2, 2)) // by the condition, which all can read
		next([3]int32{1, 2, 1})
	})
}

// TestARestartIsShown is not parallel: metrics are process-wide.
func TestARestartIsShown(t *testing.T) {
	t.Run("C303: by a condition, two events, a counter, a histogram and the status", func(t *testing.T) {
		s, js, job := running(t)
		started, ended := measured(t, "jobset_in_place_restarts_total"), measured(t, "jobset_in_place_restart_duration_seconds")
		expect := func(inPlace int32, status, reason string, starts, ends float64) {
			t.Helper()
			now := stored(t, s, js).Status
			c := apimeta.FindStatusCondition(now.Conditions, string(jobset.JobSetRestarting))
			if c == nil || string(c.Status) != status || c.Reason != reason || now.InPlaceRestarts != inPlace {
				t.Errorf("inPlaceRestarts %d, condition %+v; want %d, %s %s", now.InPlaceRestarts, c, inPlace, status, reason)
			}
			if got := measured(t, "jobset_in_place_restarts_total") - started; got != starts {
				t.Errorf("the counter went up by %v, want %v", got, starts)
			}
			if got := measured(t, "jobset_in_place_restart_duration_seconds") - ended; got != ends {
				t.Errorf("the histogram went up by %v, want %v", got, ends)
			}
		}
		reports(t, s, job, "2", "1")
		passes(t, s)
		s.Record.Expect(t, writesStatus, breaks)
		expect(1, "True", "InPlaceRestart", 1, 0)
		reports(t, s, job, "2", "2")
		passes(t, s)
		s.Record.Expect(t, writesStatus, lifts(2, 2, 1))
		expect(1, "False", "WorkersSynced", 1, 1)
	})
}

// measured returns the value of a counter, or the number of observations of a histogram.
func measured(t *testing.T, name string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			one := family.GetMetric()[0]
			return one.GetCounter().GetValue() + float64(one.GetHistogram().GetSampleCount())
		}
	}
	t.Fatalf("no metric %s exists", name)
	return 0
}

// TestTheCostOfAGroupRestart counts the status writes, which every agent receives.
func TestTheCostOfAGroupRestart(t *testing.T) {
	t.Parallel()
	const jobs, seconds = 50, 5
	t.Run("C305: two epoch writes, and counts once a second, however many Jobs go down and come up", func(t *testing.T) {
		t.Parallel()
		js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(0, 1).
			ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(jobs).Workers(1)).Obj()
		s := newShell(t, js)
		shows := func(j int, ready int32, epoch string) {
			job := builders.MakeJob(js, "w", j).Counts(1, ready, 0).Obj()
			cached(t, s, []*batchv1.Job{job})
			reports(t, s, job, epoch)
		}
		ticks := func() { // twenty passes a second are all there are
			t.Helper()
			s.Clock.SetTime(s.Clock.Now().Add(passInterval))
			if _, err := s.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(js)}); err != nil {
				t.Fatal(err)
			}
		}
		for j := range jobs {
			shows(j, 1, "1")
		}
		ticks()
		s.Record.Expect(t, writesStatus)

		for step := range seconds * 20 { // first all go down, then all come up and report
			if j := step / 2; step%2 == 0 {
				shows((2*j)%jobs, int32(step/jobs), map[bool]string{true: "2", false: "1"}[step >= jobs || j == 0])
			} else {
				shows((2*j+1)%jobs, int32(step/jobs), map[bool]string{true: "2", false: "1"}[step >= jobs])
			}
			ticks()
		}
		if diff := cmp.Diff([3]int32{1, 2, 1}, epochsOf(t, s, js)); diff != "" {
			t.Fatalf("D, S, charged (-want +got):\n%s", diff)
		}
		writes := 0
		for _, entry := range s.Record.All() {
			if entry == writesStatus {
				writes++
			}
		}
		if most := 2 + seconds + 1; writes > most {
			t.Errorf("%d writes of the status, want at most %d; each Job was ready, not ready and ready again", writes, most)
		}
	})
}

func TestOtherJobSetsPayNothing(t *testing.T) {
	t.Parallel()
	js, job := workers()
	js.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
	s := newShell(t, js)
	cached(t, s, []*batchv1.Job{job})
	t.Run("C307: a thousand events of their Pods wake no JobSet", func(t *testing.T) {
		t.Parallel()
		queue := &woken{}
		handler := &podEvents{reader: s.Fake, memory: s.memory, gates: gates.Set{InPlaceRestart: true}}
		for i := range 1000 {
			before, after := builders.MakePod(job, i).Epoch("1").Obj(), builders.MakePod(job, i).Epoch("2").Phase(corev1.PodFailed).Obj()
			handler.Create(t.Context(), event.CreateEvent{Object: before}, queue)
			handler.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, queue)
			handler.Delete(t.Context(), event.DeleteEvent{Object: after}, queue)
		}
		if len(queue.after) > 0 {
			t.Errorf("woken: %v", queue.after)
		}
	})
	t.Run("C307: their passes read no Pods", func(t *testing.T) {
		t.Parallel()
		reports(t, s, job, "1", "2")
		in, err := s.gather(t.Context(), js)
		if err != nil || in.Pods != nil {
			t.Errorf("error %v, Pods %v, want none", err, in.Pods)
		}
	})
}
