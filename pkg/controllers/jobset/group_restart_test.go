/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/event"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const (
	writesStatus = "update status JobSet js"
	breaks       = "event Warning InPlaceRestartStarted Reconciling: worker pod js-w-0-0 restarted, its exit code was not seen; all workers of epoch 1 restart in place"
)

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
			before, after := facts.Of(builders.MakePod(job, i).Epoch("1").Obj()), facts.Of(builders.MakePod(job, i).Epoch("2").Phase(corev1.PodFailed).Obj())
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
