/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
)

const (
	// quietAtFirst is how long a new controller is left alone before anything is measured.
	quietAtFirst = 2 * time.Second
	// idleFor is how long an idle controller is watched to learn what it uses anyway.
	idleFor = 10 * time.Second
	// saysReady is how long the status may take to say that all Jobs are ready, once they are.
	saysReady = 2 * time.Minute
)

// startBench is an API server with nothing in it, and a client that no limit holds back.
type startBench struct {
	startOptions
	client client.Client
	plane  *cluster.Cluster
	dir    string
}

type startOptions struct {
	cluster.Programs
	jobs         sizes
	repeat, rate int
	profiles     string
	history      string
	// jobSets and nodes: measure what so many JobSets cost at rest, above so many nodes.
	jobSets, nodes int
}

func startCommand() func(context.Context) error {
	o := startOptions{jobs: sizes{100, 500, 1000, 2000}}
	o.Flags()
	flag.Var(&o.jobs, "jobs", "numbers of Jobs to measure")
	flag.IntVar(&o.repeat, "repeat", 3, "how often each number is measured; the median counts")
	flag.IntVar(&o.rate, "rate", 100, "status updates of Jobs per second, the same for all numbers of Jobs")
	flag.StringVar(&o.profiles, "profiles", "", "directory for CPU and allocation profiles; taking them costs CPU")
	flag.StringVar(&o.history, "history", "", historyHelp)
	return func(ctx context.Context) error {
		if o.repeat < 1 || o.rate < 1 {
			return errors.New("--repeat and --rate must be at least 1")
		}
		b, err := newStartBench(ctx, o)
		if err != nil {
			return err
		}
		results, err := b.measureAll(ctx)
		if err := errors.Join(err, b.stop()); err != nil {
			return err
		}
		medians := mediansOf(results)
		printTable(os.Stdout, medians)
		return errors.Join(judge(os.Stdout, medians), history(o.history).add(ctx, o.command(), figuresOfStart(medians)))
	}
}

// command is how this run is repeated.
func (o *startOptions) command() string {
	return fmt.Sprintf("make bench BENCH_JOBS='%s' BENCH_REPEAT=%d BENCH_RATE=%d", o.jobs.String(), o.repeat, o.rate)
}

func newStartBench(ctx context.Context, o startOptions) (_ *startBench, err error) {
	if err := o.Absolute("bench"); err != nil {
		return nil, err
	}
	b := &startBench{startOptions: o}
	if b.dir, err = os.MkdirTemp("", "jobset-bench-"); err != nil {
		return nil, fmt.Errorf("making a directory for logs: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.stop())
		}
	}()
	if o.profiles != "" {
		if err := os.MkdirAll(o.profiles, 0o755); err != nil {
			return nil, fmt.Errorf("making the directory for profiles: %w", err)
		}
	}
	b.plane, err = cluster.Start(cluster.Options{
		Assets: o.Assets, Root: o.Root, Dir: b.dir, Webhooks: &envtest.WebhookInstallOptions{},
	})
	if err != nil {
		return nil, err
	}
	if b.client, err = b.plane.NewClient(); err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: benchNamespace}}
	if err := b.client.Create(ctx, namespace); err != nil {
		return nil, fmt.Errorf("creating the namespace: %w", err)
	}
	return b, nil
}

func (b *startBench) stop() error {
	var err error
	if b.plane != nil {
		err = b.plane.Stop()
	}
	return errors.Join(err, os.RemoveAll(b.dir))
}

// measureAll measures all numbers of Jobs, and then all again: what disturbs the
// machine for a while disturbs all of them.
func (b *startBench) measureAll(ctx context.Context) ([]startUp, error) {
	var results []startUp
	for i := range b.repeat {
		for _, jobs := range b.jobs {
			r, err := b.measure(ctx, jobs)
			if err != nil {
				return nil, fmt.Errorf("measuring %d Jobs: %w", jobs, err)
			}
			fmt.Printf("repeat %d of %d, %d Jobs: %.2f s CPU, %.1f MiB in %.0f objects, %.0f passes, %.0f s\n",
				i+1, b.repeat, jobs, r.cpu.Seconds(), r.bytes/(1<<20), r.allocs, r.passes, r.took.Seconds())
			results = append(results, r)
		}
	}
	return results, nil
}

// measure brings up one JobSet in front of a manager of its own.
func (b *startBench) measure(ctx context.Context, jobs int) (_ startUp, err error) {
	m, err := b.startManager(ctx)
	if err != nil {
		return startUp{}, err
	}
	defer func() {
		err = errors.Join(err, m.stop(), b.cleanUp(context.WithoutCancel(ctx)))
	}()
	if err := process.Pause(ctx, quietAtFirst); err != nil {
		return startUp{}, err
	}
	idle, idled, err := m.window("", func() error { return process.Pause(ctx, idleFor) })
	if err != nil {
		return startUp{}, err
	}
	used, took, err := m.window(fmt.Sprintf("jobs-%d", jobs), func() error { return b.bringUp(ctx, jobs) })
	if err != nil {
		return startUp{}, err
	}
	return resultOf(jobs, took, used, idled, idle), nil
}

// bringUp creates a JobSet, plays the Job controller, and waits until the status says that all is ready.
func (b *startBench) bringUp(ctx context.Context, jobs int) error {
	js := newJobSet(jobs)
	if err := b.client.Create(ctx, js); err != nil {
		return fmt.Errorf("creating the JobSet: %w", err)
	}
	h := hand{client: b.client, tick: time.NewTicker(time.Second / time.Duration(b.rate))}
	defer h.tick.Stop()
	for _, state := range []string{activeState, readyState} {
		for index := range jobs {
			if err := h.writes(ctx, js, index, state); err != nil {
				return err
			}
		}
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, saysReady, true, func(ctx context.Context) (bool, error) {
		if err := b.client.Get(ctx, client.ObjectKeyFromObject(js), js); err != nil {
			return false, err
		}
		statuses := js.Status.ReplicatedJobsStatus
		return len(statuses) == 1 && int(statuses[0].Ready) == jobs, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until all Jobs are ready, %+v: %w", js.Status.ReplicatedJobsStatus, err)
	}
	return nil
}

// cleanUp deletes what a run left, so that the next has nothing to list. No garbage collector runs.
func (b *startBench) cleanUp(ctx context.Context) error {
	everything := []client.DeleteAllOfOption{client.InNamespace(benchNamespace), client.PropagationPolicy(metav1.DeletePropagationBackground), client.GracePeriodSeconds(0)}
	for _, kind := range []client.Object{&jobset.JobSet{}, &batchv1.Job{}, &corev1.Service{}, &corev1.Pod{}} {
		if err := b.client.DeleteAllOf(ctx, kind, everything...); err != nil {
			return fmt.Errorf("deleting what the run left: %w", err)
		}
	}
	return nil
}

const (
	benchNamespace = "bench"
	replicatedJob  = "workers"
)

// newJobSet is a JobSet as the defaulting webhook, which does not run here, would leave it.
func newJobSet(jobs int) *jobset.JobSet {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Name: "bench", Namespace: benchNamespace},
		Spec: jobset.JobSetSpec{ReplicatedJobs: []jobset.ReplicatedJob{{
			Name:     replicatedJob,
			Replicas: int32(jobs),
			Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Parallelism: ptr.To[int32](1),
				Completions: ptr.To[int32](1),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:      "worker",
					Image:     "worker",
					Args:      []string{"train"},
					Env:       []corev1.EnvVar{{Name: "LEVEL", Value: "info"}},
					Resources: corev1.ResourceRequirements{Requests: limits, Limits: limits},
				}}}},
			}},
		}}},
	}
	webhooks.Default(js, gates.Set{InPlaceRestart: true})
	return js
}

// What becomes of a Job, as the Job controller would write it.
const (
	activeState = "active"
	readyState  = "ready"
)

// hand plays the Job controller, one status update at each tick.
type hand struct {
	client client.Client
	tick   *time.Ticker
}

// writes the status of one Job as soon as the Job exists.
func (h *hand) writes(ctx context.Context, js *jobset.JobSet, index int, state string) error {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: js.Namespace, Name: placement.JobName(js.Name, replicatedJob, index)}}
	status := fmt.Sprintf(`{"status":{"active":1,"ready":0,"startTime":%q}}`, time.Now().UTC().Format(time.RFC3339))
	if state == readyState {
		status = `{"status":{"ready":1}}`
	}
	deadline := time.Now().Add(saysReady)
	for {
		select {
		case <-h.tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := h.client.Status().Patch(ctx, job, client.RawPatch(types.MergePatchType, []byte(status)))
		if err == nil {
			return nil
		}
		if !apierrors.IsNotFound(err) || time.Now().After(deadline) {
			return fmt.Errorf("playing the Job controller: making Job %s %s: %w", job.Name, state, err)
		}
	}
}
