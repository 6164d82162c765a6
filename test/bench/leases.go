/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/test/process"
)

// mostCollected is how many Leases lose their Pod at most: the garbage collector is not fast.
const mostCollected = 1000

// manyLeases measures what a manager needs at its start for the Leases of so many agents, by starting it before they are there and
// after, and how long those of a group are left behind.
func (b *bench) manyLeases(ctx context.Context, p *plane) error {
	g, err := p.prepare(ctx, scenario{strategy: jobset.InPlaceRestart, mode: jobset.ProcessMode, limits: tunedLimits.name, delays: noDelays, workers: 1})
	if err != nil {
		return err
	}
	defer g.abandon()
	owners, err := p.createOwners(ctx)
	if err != nil {
		return err
	}
	collected := min(mostCollected, b.leases)
	starts := func() error {
		if err := p.restartManager(ctx, inLeases); err != nil {
			return err
		}
		return process.Pause(ctx, settling) // the list is long read by then
	}
	for _, happens := range []struct {
		what, replaces string
		do             func() error
	}{
		{"the manager starts without Leases", "manager", starts},
		{fmt.Sprintf("%d Leases are created", b.leases), "", func() error {
			return atOnce(b.leases, func(i int) error {
				owner := owners[0]
				if i < collected {
					owner = owners[1]
				}
				return p.createLease(ctx, owner, i)
			})
		}},
		{fmt.Sprintf("the manager starts with %d Leases", b.leases), "manager", starts},
		{fmt.Sprintf("%d Leases lose their Pod, until the garbage collector with default limits has deleted them", collected), "kube-controller", func() error {
			if err := errors.Join(p.startControllers(defaultLimits), process.Pause(ctx, warmingUp)); err != nil {
				return err
			}
			return p.collects(ctx, owners[1], b.leases-collected)
		}},
	} {
		if err := b.step(ctx, g, happens.what, b.leases, happens.replaces, happens.do); err != nil {
			return err
		}
		last := b.steps[len(b.steps)-1]
		fmt.Printf("    resident: manager %.1f MiB; requests of the manager for Leases: %d lists, %d watches\n", last.resided["manager"]/mebi,
			last.requests.of(managerClient, "list leases"), last.requests.of(managerClient, "watch leases"))
	}
	return nil
}

// createOwners creates two Pods that are never scheduled. The garbage collector lets their Leases be as long as they exist.
func (p *plane) createOwners(ctx context.Context) (owners [2]*corev1.Pod, err error) {
	if err := p.accountExists(ctx); err != nil {
		return owners, err
	}
	for i := range owners {
		owners[i], err = p.Client.CoreV1().Pods(corev1.NamespaceDefault).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("owner-%d", i)},
			Spec: corev1.PodSpec{
				NodeSelector: map[string]string{"no": "node"}, TerminationGracePeriodSeconds: ptr.To[int64](0),
				Containers: []corev1.Container{{Name: "worker", Image: workerImage}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return owners, fmt.Errorf("creating a Pod that owns Leases: %w", err)
		}
	}
	return owners, nil
}

// collects deletes a Pod and waits until only so many Leases are left.
func (p *plane) collects(ctx context.Context, owner *corev1.Pod, left int) error {
	if err := p.Client.CoreV1().Pods(corev1.NamespaceDefault).Delete(ctx, owner.Name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting the Pod that owns Leases: %w", err)
	}
	began := time.Now()
	err := await(ctx, "the Leases are gone", patience, func() (bool, error) {
		list, err := p.Client.CoordinationV1().Leases(corev1.NamespaceDefault).List(ctx, metav1.ListOptions{LabelSelector: jobset.JobSetUIDKey, ResourceVersion: "0"})
		if err != nil {
			return false, err
		}
		return len(list.Items) <= left, process.Pause(ctx, time.Second/2)
	})
	fmt.Printf("    gone %s s after their Pod\n", seconds(time.Since(began).Seconds()))
	return err
}

// createLease creates what an agent reports in, with an exit.
func (p *plane) createLease(ctx context.Context, owner *corev1.Pod, i int) error {
	exit, err := protocol.WorkerExit{Container: "worker", Epoch: 1, Exit: protocol.Exit{Code: 1, Time: metav1.Now().Time}}.Encode()
	if err != nil {
		return err
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name:            facts.LeaseName(fmt.Sprintf("%s-workers-%d-%d-abcde", jobSetName, i/1000, i%1000)),
		Labels:          map[string]string{jobset.JobSetUIDKey: "01234567-89ab-cdef-0123-456789abcdef"},
		Annotations:     map[string]string{jobset.EpochKey: "2", jobset.WorkerExitKey: exit},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: owner.Name, UID: owner.UID}},
	}}
	_, err = p.Client.CoordinationV1().Leases(corev1.NamespaceDefault).Create(ctx, lease, metav1.CreateOptions{})
	return err
}
