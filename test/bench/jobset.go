/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const (
	benchAgent = "bench-restart"
	jobSetName = "training"
	// enough restarts for any run.
	maxRestarts = 1000
)

// jobSetOf is the JobSet that is measured: the same workers, with what each strategy and mode needs.
func jobSetOf(s scenario, jobs, workers int32) *jobset.JobSet {
	policy := &jobset.FailurePolicy{RestartStrategy: s.strategy, MaxRestarts: maxRestarts}
	job := batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
		Parallelism: ptr.To(workers),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "worker", Image: workerImage}},
		}},
	}}
	if s.mode == jobset.ProcessMode {
		job.Spec.Template.Spec.Containers[0].Command = []string{"/worker"}
	}
	if s.inPlace() {
		policy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: s.mode}
		if s.watched {
			policy.InPlaceRestart.Progress = &jobset.ProgressPolicy{StartSeconds: ptr.To[int32](600), StallSeconds: ptr.To[int32](60)}
		}
	} else {
		// What a user who wants fast restarts writes: the first failure counts.
		job.Spec.BackoffLimit = ptr.To[int32](0)
		job.Spec.Completions = ptr.To(workers)
		job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	return &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: jobSetName},
		Spec: jobset.JobSetSpec{
			FailurePolicy:  policy,
			ReplicatedJobs: []jobset.ReplicatedJob{{Name: "workers", Replicas: jobs, Template: job}},
		},
	}
}

// counters are the numbers of a JobSet that tell of restarts.
type counters struct{ deprecated, synced, restarts int32 }

type sighting struct {
	at time.Time
	counters
}

// watched is the JobSet as a watch shows it.
type watched struct {
	client client.WithWatch
	mu     sync.Mutex
	seen   []sighting
	ended  bool
	// synced is the epoch of each JobSet, jobsReady the number of Jobs of the latest that are ready.
	synced    map[string]int32
	jobsReady int
}

func (p *plane) watchJobSet(ctx context.Context) (*watched, error) {
	c, err := p.NewClient()
	if err != nil {
		return nil, err
	}
	w := &watched{client: c, synced: map[string]int32{}}
	events, err := c.Watch(ctx, &jobset.JobSetList{}, client.InNamespace(corev1.NamespaceDefault))
	if err != nil {
		return nil, fmt.Errorf("watching JobSets: %w", err)
	}
	go func() {
		defer events.Stop()
		for event := range events.ResultChan() {
			js, ok := event.Object.(*jobset.JobSet)
			if !ok {
				continue
			}
			now := sighting{time.Now(), counters{
				deprecated: ptr.Deref(js.Status.DeprecatedEpoch, 0), synced: ptr.Deref(js.Status.SyncedEpoch, 0), restarts: js.Status.Restarts,
			}}
			w.mu.Lock()
			if n := len(w.seen); n == 0 || w.seen[n-1].counters != now.counters {
				w.seen = append(w.seen, now)
			}
			w.synced[js.Name], w.jobsReady = now.synced, 0
			for _, jobs := range js.Status.ReplicatedJobsStatus {
				w.jobsReady += int(jobs.Ready)
			}
			w.mu.Unlock()
		}
		w.mu.Lock()
		w.ended = true
		w.mu.Unlock()
	}()
	return w, nil
}

// now returns the counters as they are.
func (w *watched) now() counters {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) == 0 {
		return counters{}
	}
	return w.seen[len(w.seen)-1].counters
}

// epochs returns the synced epoch of each JobSet.
func (w *watched) epochs() map[string]int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.synced)
}

// ready returns how many Jobs are ready, if there is only one JobSet.
func (w *watched) ready() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobsReady
}

// first returns when the counters were first as wanted.
func (w *watched) first(wanted func(counters) bool) (time.Time, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		if wanted(s.counters) {
			return s.at, true, nil
		}
	}
	if w.ended {
		return time.Time{}, false, errors.New("the watch of the JobSet has ended")
	}
	return time.Time{}, false, nil
}

func await(ctx context.Context, what string, within time.Duration, met func() (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, within, true, func(context.Context) (bool, error) { return met() })
	if err != nil {
		return fmt.Errorf("waiting until %s: %w", what, err)
	}
	return nil
}
