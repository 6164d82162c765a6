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
	"io"
	"os"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/test/process"
)

// What JobSets cost while nothing happens, with and without faultTolerance, and what the manager makes of
// the heartbeats of the nodes below them.

const (
	// resting is how long JobSets that run are watched.
	resting = time.Minute
	// sickLabel is what the manager looks for.
	sickLabel = "autopilot.ibm.com/gpuhealth"
)

// atRest is one row of the table.
type atRest struct {
	// id names it in the table of figures.
	id, what string
	used     processUse
	took     time.Duration
}

func (r atRest) requests() (total int) {
	for _, n := range r.used.Requests {
		total += n
	}
	return total
}

func restCommand() func(context.Context) error {
	var o startOptions
	o.Flags()
	flag.IntVar(&o.jobSets, "jobsets", 1000, "number of JobSets at rest, with and without faultTolerance")
	flag.IntVar(&o.nodes, "nodes", 5000, "number of nodes whose heartbeats are measured")
	flag.StringVar(&o.history, "history", "", historyHelp)
	return func(ctx context.Context) error {
		b, err := newStartBench(ctx, o)
		if err != nil {
			return err
		}
		rows, err := b.rest(ctx)
		printRest(os.Stdout, rows)
		if err := errors.Join(err, b.stop()); err != nil {
			return err
		}
		command := fmt.Sprintf("make bench-rest BENCH_JOBSETS=%d BENCH_NODES=%d", o.jobSets, o.nodes)
		return history(o.history).add(ctx, command, figuresOfRest(rows))
	}
}

// rest measures JobSets of a Job and a Pod each, spread over the nodes.
func (b *startBench) rest(ctx context.Context) ([]atRest, error) {
	if err := atOnce(b.nodes, func(i int) error { return b.makeNode(ctx, i) }); err != nil {
		return nil, fmt.Errorf("creating %d nodes: %w", b.nodes, err)
	}
	var rows []atRest
	for _, tolerant := range []bool{false, true} {
		more, err := b.restOf(ctx, tolerant)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (b *startBench) restOf(ctx context.Context, tolerant bool) (rows []atRest, err error) {
	m, err := b.startManager(ctx, "--tolerant")
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, m.stop(), b.cleanUp(context.WithoutCancel(ctx)))
	}()
	measure := func(id, what string, do func() error) error {
		used, took, err := m.window("", do)
		rows = append(rows, atRest{id, what, used, took})
		fmt.Printf("%s: %.2f s CPU, %d passes, %v requests in %.0f s\n", what, used.CPU.Seconds(), used.Passes, used.Requests, took.Seconds())
		return err
	}
	id, name := fmt.Sprint(b.jobSets), "without faultTolerance"
	if tolerant {
		id, name = "tolerant."+id, "with faultTolerance"
	} else if err := measure("none", "no JobSets", pauseOf(ctx, resting)); err != nil {
		return rows, err
	}
	if err := atOnce(b.jobSets, func(i int) error { return b.bringOneUp(ctx, i, tolerant) }); err != nil {
		return rows, fmt.Errorf("bringing up %d JobSets: %w", b.jobSets, err)
	}
	if err := m.settles(ctx); err != nil {
		return rows, err
	}
	if err := measure(id, fmt.Sprintf("%d JobSets that run, %s", b.jobSets, name), pauseOf(ctx, resting)); err != nil {
		return rows, err
	}
	if !tolerant {
		return rows, nil
	}
	beats := fmt.Sprintf("%d heartbeats of nodes", b.nodes)
	if err := measure(fmt.Sprintf("heartbeats.%d", b.nodes), beats, func() error { return atOnce(b.nodes, func(i int) error { return b.beat(ctx, i) }) }); err != nil {
		return rows, err
	}
	if passes := rows[len(rows)-1].used.Passes; passes > 0 {
		return rows, fmt.Errorf("%s made %d passes, want none", beats, passes)
	}
	err = measure("mark", "one node marked", func() error { return errors.Join(b.mark(ctx, 0), pauseOf(ctx, quietAtFirst)()) })
	if passes := rows[len(rows)-1].used.Passes; err == nil && passes == 0 {
		err = errors.New("a mark made no pass, so that heartbeats made none says nothing")
	}
	return rows, err
}

func pauseOf(ctx context.Context, d time.Duration) func() error {
	return func() error { return process.Pause(ctx, d) }
}

// settles waits until the manager makes no passes any more.
func (m *measured) settles(ctx context.Context) error {
	for range 12 {
		used, _, err := m.window("", pauseOf(ctx, 5*time.Second))
		if err != nil || used.Passes == 0 {
			return err
		}
	}
	return errors.New("the manager still makes passes a minute after the last change")
}

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

// makeNode creates a node and its lease, as a kubelet does.
func (b *startBench) makeNode(ctx context.Context, i int) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: map[string]string{corev1.LabelHostname: nodeName(i)}}}
	if err := b.client.Create(ctx, node); err != nil {
		return err
	}
	return b.client.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: nodeName(i)}})
}

// beat reports the status of a node, and renews its lease.
func (b *startBench) beat(ctx context.Context, i int) error {
	now := time.Now().UTC()
	status := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":%q}]}}`, now.Format(time.RFC3339))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}}
	if err := b.client.Status().Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, []byte(status))); err != nil {
		return err
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: nodeName(i)}}
	renewed := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, now.Format(metav1.RFC3339Micro))
	return b.client.Patch(ctx, lease, client.RawPatch(types.MergePatchType, []byte(renewed)))
}

// mark says that the GPUs of a node are sick.
func (b *startBench) mark(ctx context.Context, i int) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}}
	label := fmt.Sprintf(`{"metadata":{"labels":{%q:"EVICT"}}}`, sickLabel)
	return b.client.Patch(ctx, node, client.RawPatch(types.MergePatchType, []byte(label)))
}

// bringOneUp creates a JobSet, and plays all others until its Pod runs on a node and its Job is ready.
func (b *startBench) bringOneUp(ctx context.Context, i int, tolerant bool) error {
	js := newJobSet(1)
	js.Name = fmt.Sprintf("bench-%04d", i)
	if tolerant {
		js.Spec.FaultTolerance = &jobset.FaultTolerance{}
	}
	if err := b.client.Create(ctx, js); err != nil {
		return err
	}
	h := hand{client: b.client, tick: time.NewTicker(20 * time.Millisecond)}
	defer h.tick.Stop()
	job, err := h.begins(ctx, js)
	if err != nil {
		return err
	}
	if err := b.runs(ctx, podOf(job, job.Name+"-0", nodeName(i%max(1, b.nodes)))); err != nil {
		return err
	}
	return h.writes(ctx, js, 0, readyState)
}

// begins says that the only Job of a JobSet is active, as soon as it exists, and returns it.
func (h *hand) begins(ctx context.Context, js *jobset.JobSet) (*batchv1.Job, error) {
	if err := h.writes(ctx, js, 0, activeState); err != nil {
		return nil, err
	}
	job := &batchv1.Job{}
	return job, h.client.Get(ctx, types.NamespacedName{Namespace: js.Namespace, Name: placement.JobName(js.Name, replicatedJob, 0)}, job)
}

// podOf is a Pod of a Job, bound to a node.
func podOf(job *batchv1.Job, name, node string) *corev1.Pod {
	template := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name, pod.Spec.NodeName = job.Namespace, name, node
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	return pod
}

// runs creates a Pod that runs at once.
func (b *startBench) runs(ctx context.Context, pod *corev1.Pod) error {
	if err := b.client.Create(ctx, pod); err != nil {
		return err
	}
	return b.client.Status().Patch(ctx, pod, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`)))
}

// figuresOfRest are the CPU of the manager.
func figuresOfRest(rows []atRest) (figures []figure) {
	for _, r := range rows {
		figures = append(figures, figure{"bench.rest." + r.id, r.used.CPU.Seconds(), fmt.Sprintf("s CPU in %.0f s", r.took.Seconds()), "n=1"})
	}
	return figures
}

// printRest prints what was measured at rest.
func printRest(w io.Writer, rows []atRest) {
	fmt.Fprintln(w)
	row(w, "", "seconds", "CPU s", "passes", "requests")
	rule(w, 5)
	for _, r := range rows {
		row(w, r.what, whole(r.took.Seconds()), two(r.used.CPU.Seconds()), r.used.Passes, r.requests())
	}
}
