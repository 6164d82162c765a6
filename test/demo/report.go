/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// observed is a Pod and the process of its worker, at one time.
type observed struct {
	pod     corev1.Pod
	process int
}

func (d *demo) observe(ctx context.Context) ([]observed, error) {
	if err := d.view.look(ctx); err != nil {
		return nil, err
	}
	var all []observed
	for _, pod := range d.view.pods {
		process, _ := d.runtime.PID(pod.UID, workerContainer)
		if d.round.supervised {
			process = childOf(process)
		}
		all = append(all, observed{pod: pod, process: process})
	}
	return all, nil
}

// childOf is the first child of a process that any of its threads started, 0 if it has none.
func childOf(process int) (child int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", process))
	for _, thread := range threads {
		children, err := os.ReadFile(thread)
		if _, none := fmt.Sscan(string(children), &child); err == nil && none == nil {
			return child
		}
	}
	return 0
}

func (o *observed) epoch() string { return o.pod.Annotations[jobset.EpochKey] }

func (o *observed) restarts() int32 {
	if status := workerStatus(&o.pod); status != nil {
		return status.RestartCount
	}
	return 0
}

func (d *demo) printPods(before, after []observed) {
	fmt.Println()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	defer table.Flush() //nolint:errcheck // to a terminal
	fmt.Fprintln(table, "POD\tUID\tNODE\tEPOCH\tRESTARTS\tWORKER PROCESS")
	for i := range after {
		b, a := observed{}, &after[i]
		if i < len(before) {
			b = before[i]
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s -> %s\t%d -> %d\t%d -> %d\n",
			a.pod.Name, change(string(b.pod.UID), string(a.pod.UID)), change(b.pod.Spec.NodeName, a.pod.Spec.NodeName),
			b.epoch(), a.epoch(), b.restarts(), a.restarts(), b.process, a.process)
	}
}

func change(before, after string) string {
	if before == after {
		return after + " (same)"
	}
	return before + " -> " + after
}

func (d *demo) printEvents(ctx context.Context) error {
	var list eventsv1.EventList
	if err := d.view.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("listing events: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b eventsv1.Event) int {
		return cmp.Or(a.EventTime.Compare(b.EventTime.Time), cmp.Compare(a.Name, b.Name))
	})
	fmt.Println("\nEvents of the JobSet:")
	for i := range list.Items {
		if event := &list.Items[i]; event.Regarding.Kind == jobset.Kind && event.Regarding.Name == d.round.jobSet {
			fmt.Printf("  %-8s %-24s %s\n", event.Type, event.Reason, event.Note)
		}
	}
	return nil
}

// check returns everything that is not as it should be.
func (d *demo) check(before, after []observed) error {
	var errs []error
	expect := func(met bool, format string, args ...any) {
		if !met {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	expect(len(before) == workers && len(after) == workers, "there were %d Pods and are %d, not %d", len(before), len(after), workers)
	for i := range min(len(before), len(after)) {
		b, a := &before[i], &after[i]
		expect(b.pod.UID == a.pod.UID, "Pod %s became another Pod: UID %s, then %s", b.pod.Name, b.pod.UID, a.pod.UID)
		expect(b.pod.Spec.NodeName == a.pod.Spec.NodeName, "Pod %s moved from node %s to %s", b.pod.Name, b.pod.Spec.NodeName, a.pod.Spec.NodeName)
		expect(b.epoch() == "1" && a.epoch() == "2", "Pod %s went from epoch %q to %q, not from 1 to 2", a.pod.Name, b.epoch(), a.epoch())
		expect(a.process != 0 && a.process != b.process, "the worker of Pod %s was process %d and is %d", a.pod.Name, b.process, a.process)
	}
	restarts := d.view.jobSet.Status.InPlaceRestarts
	expect(restarts == 1, "status.inPlaceRestarts is %d, not 1", restarts)
	return errors.Join(errs...)
}
