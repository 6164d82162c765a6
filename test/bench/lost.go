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
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/webhooks"
)

// What it costs the manager to replace workers on lost nodes (P172 to P174): one group, each worker on a node of its own. No kubelet
// runs, so no Lease is ever renewed: that of a node on which a worker has reported is not read. Agents and the Job controller are played.

const (
	lostAfter = 25 // replaceAfterSeconds
	lostNodes = 3
	// mostPatience is how long a restart may take.
	mostPatience = 10 * time.Minute
)

// lostGroup is the group, and which nodes are still to be lost.
type lostGroup struct {
	*startBench
	workers int
	js      *jobset.JobSet
	job     *batchv1.Job
	epoch   int
	// pods are the names by index; made counts all Pods that were created.
	pods []string
	made int
}

func lostCommand() func(context.Context) error {
	var o startOptions
	workers := 0
	o.Flags()
	flag.IntVar(&workers, "workers", 1000, "number of workers, each on a node of its own")
	flag.StringVar(&o.history, "history", "", historyHelp)
	return func(ctx context.Context) error {
		o.nodes = workers + 2*lostNodes
		b, err := newStartBench(ctx, o)
		if err != nil {
			return err
		}
		g := &lostGroup{startBench: b, workers: workers, pods: make([]string, workers)}
		rows, err := g.measure(ctx)
		printRest(os.Stdout, rows)
		if err := errors.Join(err, b.stop()); err != nil {
			return err
		}
		var figures []figure
		for _, r := range rows {
			figures = append(figures, figure{"bench.lost." + r.id, r.took.Seconds(), fmt.Sprintf("s, %d requests of the manager", r.requests()), "n=1"})
		}
		return history(o.history).add(ctx, fmt.Sprintf("make bench-lost BENCH_LOST_WORKERS=%d", workers), figures)
	}
}

func (g *lostGroup) measure(ctx context.Context) (rows []atRest, err error) {
	if err := atOnce(g.nodes, func(i int) error { return g.makeNode(ctx, i) }); err != nil {
		return nil, fmt.Errorf("creating %d nodes: %w", g.nodes, err)
	}
	m, err := g.startManager(ctx, "--in-place")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	if err := g.bringUp(ctx); err != nil {
		return nil, err
	}
	for _, happens := range []struct {
		id, what string
		lost     [][]int // workers of each restart
	}{
		{"none", "a worker fails", [][]int{nil}},
		{"at-once", fmt.Sprintf("%d nodes are lost at once", lostNodes), [][]int{{1, 2, 3}}},
		{"in-turns", fmt.Sprintf("%d nodes are lost one after the other", lostNodes), [][]int{{4}, {5}, {6}}},
	} {
		if err := m.settles(ctx); err != nil {
			return rows, err
		}
		used, took, err := m.window("", func() error {
			for _, lost := range happens.lost {
				if err := g.restart(ctx, lost); err != nil {
					return err
				}
			}
			return nil
		})
		rows = append(rows, atRest{happens.id, happens.what, used, took})
		fmt.Printf("%s: %.2f s CPU, %d passes, %v requests in %.1f s\n", happens.what, used.CPU.Seconds(), used.Passes, used.Requests, took.Seconds())
		if err != nil {
			return rows, fmt.Errorf("%s: %w", happens.what, err)
		}
	}
	return rows, nil
}

// bringUp creates the group, and plays all others until it runs.
func (g *lostGroup) bringUp(ctx context.Context) error {
	g.js = newJobSet(1)
	g.js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 100, RestartStrategy: jobset.InPlaceRestart, InPlaceRestart: &jobset.InPlaceRestartPolicy{
		Mode: jobset.ContainerMode, LostNode: &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](lostAfter)},
	}}
	spec := &g.js.Spec.ReplicatedJobs[0].Template.Spec
	spec.Parallelism, spec.Completions = ptr.To(int32(g.workers)), ptr.To(int32(g.workers))
	webhooks.Default(g.js, gates.Set{InPlaceRestart: true})
	if err := g.client.Create(ctx, g.js); err != nil {
		return fmt.Errorf("creating the JobSet: %w", err)
	}
	h := hand{client: g.client, tick: time.NewTicker(20 * time.Millisecond)}
	defer h.tick.Stop()
	var err error
	if g.job, err = h.begins(ctx, g.js); err != nil {
		return err
	}
	g.epoch = 1
	if err := atOnce(g.workers, func(i int) error { return g.start(ctx, i, i, 0) }); err != nil {
		return fmt.Errorf("starting %d workers: %w", g.workers, err)
	}
	return g.until(ctx, nil)
}

// start creates the Pod of an index on a node, whose agent reports at once.
func (g *lostGroup) start(ctx context.Context, index, node, try int) error {
	pod := podOf(g.job, fmt.Sprintf("%s-%d-%d", g.job.Name, index, try), nodeName(node))
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	pod.Annotations[jobset.EpochKey] = strconv.Itoa(g.epoch)
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	g.pods[index] = pod.Name
	return g.runs(ctx, pod)
}

// restart is a worker that fails, whose peers all report the next epoch but for those on nodes that are lost with it, until all run again.
func (g *lostGroup) restart(ctx context.Context, lost []int) error {
	g.epoch++
	if err := g.report(ctx, 0); err != nil {
		return err
	}
	waits := map[int]bool{0: true}
	for _, index := range lost {
		waits[index] = true
	}
	err := atOnce(g.workers, func(i int) error {
		if waits[i] {
			return nil
		}
		return g.report(ctx, i)
	})
	if err != nil {
		return fmt.Errorf("reporting: %w", err)
	}
	return g.until(ctx, lost)
}

func (g *lostGroup) report(ctx context.Context, index int) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: benchNamespace, Name: g.pods[index]}}
	return g.client.Patch(ctx, pod, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d"}}}`, jobset.EpochKey, g.epoch)))
}

// until waits until all run at the epoch, and replaces the Pods of these indexes once they have Failed, on nodes that are not in use.
func (g *lostGroup) until(ctx context.Context, lost []int) error {
	was := &jobset.JobSet{}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, mostPatience, true, func(ctx context.Context) (bool, error) {
		for _, index := range lost {
			if err := g.replace(ctx, index); err != nil {
				return false, err
			}
		}
		err := g.client.Get(ctx, client.ObjectKeyFromObject(g.js), was)
		return err == nil && int(ptr.Deref(was.Status.SyncedEpoch, 0)) == g.epoch, err
	})
	if err != nil {
		return fmt.Errorf("waiting for epoch %d, status %+v: %w", g.epoch, was.Status, err)
	}
	if n := len(was.Status.LostNodes); n != g.made {
		return fmt.Errorf("%d nodes are lost, and the status has %d", g.made, n)
	}
	return nil
}

// replace plays the Job controller: a Pod that Failed has a successor, and then goes.
func (g *lostGroup) replace(ctx context.Context, index int) error {
	pod := &corev1.Pod{}
	if err := g.client.Get(ctx, types.NamespacedName{Namespace: benchNamespace, Name: g.pods[index]}, pod); err != nil || pod.Status.Phase != corev1.PodFailed {
		return client.IgnoreNotFound(err)
	}
	g.made++
	if err := g.start(ctx, index, g.workers+g.made-1, g.made); err != nil {
		return err
	}
	return client.IgnoreNotFound(g.client.Patch(ctx, pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
}
