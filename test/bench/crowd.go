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
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"golang.org/x/sync/errgroup"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/process"
)

const (
	// steady is how long JobSets are watched in which nothing happens.
	steady = time.Minute
	// lostGroups is how many groups lose a worker at once, or a tenth of all where there are fewer than ten times as many.
	lostGroups = 100
	// handsAtOnce is how many requests of ours are on their way at a time.
	handsAtOnce = 8
)

// crowd is many JobSets in one namespace, on the same nodes.
type crowd struct {
	*group
	count, each int
}

// manyJobSets measures many JobSets in process mode: their start, at rest, and what they do when 100 of them lose a worker,
// when the manager restarts, and when the API server does; or only the last.
func (b *bench) manyJobSets(ctx context.Context, p *plane, returnOnly bool) error {
	s := scenario{
		strategy: jobset.InPlaceRestart, mode: jobset.ProcessMode, limits: tunedLimits.name, delays: realDelays,
		flowControl: true, workers: b.jobSets * b.podsEach,
	}
	if err := p.useFlowControl(ctx, true); err != nil {
		return err
	}
	g, err := p.prepare(ctx, s)
	if err != nil {
		return err
	}
	defer g.abandon()
	c := &crowd{group: g, count: b.jobSets, each: b.podsEach}
	of := fmt.Sprintf("%d JobSets of %d workers", c.count, c.each)
	fmt.Println(of)
	type happening struct {
		what, replaces string
		do             func(context.Context) error
	}
	all := []happening{
		{"start of " + of, "", c.start},
		{fmt.Sprintf("%s at rest for %s", of, steady), "", func(ctx context.Context) error { return process.Pause(ctx, steady) }},
		{fmt.Sprintf("%s: nodes with workers of %d of them are lost", of, c.lost()), "", c.loseNodes},
		{of + ": the manager restarts, until it has looked at each", "manager", c.restartManager},
		{of + ": then one of them restarts", "", c.restartOne},
		{of + ": kube-apiserver is killed, until each agent watches again", "kube-apiserver", c.restartAPIServer},
		{of + ": then one of them restarts, again", "", c.restartOne},
	}
	if returnOnly {
		all = slices.Concat(all[:1], all[len(all)-2:])
	}
	for _, happens := range all {
		if err := c.quiet(ctx); err != nil {
			return err
		}
		if err := b.step(ctx, g, happens.what, s.workers, happens.replaces, func() error { return happens.do(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// start creates the JobSets and waits until all workers run, each group at an epoch of its own.
func (c *crowd) start(ctx context.Context) error {
	all := make([]*jobset.JobSet, c.count)
	for i := range all {
		all[i] = jobSetOf(c.scenario, 1, int32(c.each))
		all[i].Name = fmt.Sprintf("%s-%04d", jobSetName, i)
	}
	return c.create(ctx, all...)
}

func (c *crowd) lost() int { return min(lostGroups, max(1, c.count/10)) }

// loseNodes switches nodes off that hold workers of enough groups, and deletes their Pods, as a cluster does once it
// has given a node up. It waits until all these groups run again, at a later epoch.
func (c *crowd) loseNodes(ctx context.Context) error {
	was, hit := c.jobSet.epochs(), map[string]bool{}
	var gone []string
	for i, name := range c.nodes.names {
		if len(hit) >= c.lost() {
			break
		}
		cordon := []byte(`{"spec":{"unschedulable":true}}`)
		if _, err := c.Client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, cordon, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("cordoning node %s: %w", name, err)
		}
		pods, err := c.Client.CoreV1().Pods(corev1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
		if err != nil {
			return fmt.Errorf("listing the Pods of node %s: %w", name, err)
		}
		c.nodes.lose(i)
		for _, pod := range pods.Items {
			gone = append(gone, pod.Name)
			hit[pod.Labels[jobset.JobSetNameKey]] = true
		}
	}
	if len(hit) < c.lost() {
		return fmt.Errorf("all nodes together have workers of %d groups, want %d", len(hit), c.lost())
	}
	fmt.Printf("  %d Pods of %d groups are lost\n", len(gone), len(hit))
	if err := atOnce(len(gone), func(i int) error { return c.collect(ctx, gone[i]) }); err != nil {
		return fmt.Errorf("deleting the Pods of lost nodes: %w", err)
	}
	err := await(ctx, "all groups that were hit have restarted", patience, func() (bool, error) {
		is := c.jobSet.epochs()
		for name := range hit {
			if is[name] <= was[name] {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	return c.allRun(ctx)
}

// collect does what the garbage collector of Pods does to one on a node that is gone: one that still counted as running
// would keep the finalizer of its Job.
func (c *crowd) collect(ctx context.Context, pod string) error {
	pods := c.Client.CoreV1().Pods(corev1.NamespaceDefault)
	if _, err := pods.Patch(ctx, pod, types.MergePatchType, []byte(`{"status":{"phase":"Failed"}}`), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	return pods.Delete(ctx, pod, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
}

// restartManager stops the manager, starts another, and waits until that has looked as often as there are JobSets. Each is
// queued once at the start, and those that have nothing to do are not looked at again.
func (c *crowd) restartManager(ctx context.Context) error {
	if err := c.plane.restartManager(ctx, ""); err != nil {
		return err
	}
	return await(ctx, "the manager has looked at each JobSet", patience, func() (bool, error) {
		use, err := c.plane.manager.use(ctx)
		return int(use.wakes) >= c.count, err
	})
}

// restartOne makes a worker fail and waits until its group runs again.
func (c *crowd) restartOne(ctx context.Context) error {
	was := c.jobSet.epochs()
	failed, err := c.fleet.failOne()
	if err != nil {
		return err
	}
	return await(ctx, "the group of the worker runs again", patience, func() (bool, error) {
		n, _, _ := c.fleet.runningSince(failed)
		return n == c.each && !maps.Equal(was, c.jobSet.epochs()), nil
	})
}

// restartAPIServer kills kube-apiserver, starts it again, and waits until as many agents watch as there are.
func (c *crowd) restartAPIServer(ctx context.Context) error {
	began := time.Now()
	c.CrashAPIServer()
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	up := time.Since(began)
	log := &auditLog{file: c.plane.audit, read: c.audit.read}
	watching, back := 0, load{}
	err := await(ctx, "all agents watch again", patience, func() (bool, error) {
		counted, err := log.count(began, time.Now())
		watching += counted.of(agentClient, "watch jobsets")
		back.add(counted)
		return watching >= c.workers, errors.Join(err, process.Pause(ctx, time.Second/2))
	})
	if err != nil {
		return fmt.Errorf("%w: %d of %d do", err, watching, c.workers)
	}
	fmt.Printf("  kube-apiserver was up after %s s; until all agents watched: %s\n", seconds(up.Seconds()), back)
	watched, err := c.watchJobSet(ctx)
	if err != nil {
		return err
	}
	c.jobSet = watched
	return await(ctx, "we see all JobSets again", patience, func() (bool, error) { return len(c.jobSet.epochs()) == c.count, nil })
}

// load is what an API server was asked, by second.
type load struct {
	asked           map[int64]int
	refused, failed int
}

func (l *load) add(counted requests) {
	if l.asked == nil {
		l.asked = map[int64]int{}
	}
	for _, at := range counted.by {
		for _, moment := range at {
			l.asked[moment.Unix()]++
		}
	}
	for _, n := range counted.refused {
		l.refused += n
	}
	l.failed += counted.failed
}

func (l load) String() string {
	most := 0
	for _, n := range l.asked {
		most = max(most, n)
	}
	return fmt.Sprintf("%d requests in the busiest second, %d refused with 429, %d watches that failed otherwise", most, l.refused, l.failed)
}

// atOnce does a thing for each number below n, some at a time and in no order.
func atOnce(n int, do func(i int) error) error {
	var all errgroup.Group
	all.SetLimit(handsAtOnce)
	for _, i := range rand.Perm(n) {
		all.Go(func() error { return do(i) })
	}
	return all.Wait()
}
