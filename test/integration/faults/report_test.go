/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	. "github.com/onsi/ginkgo/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// table is faults in each mode against results.
type table map[entry]*row

type entry struct{ mode, fault string }

type row struct {
	injected, restarts int
	charged            int32
	// managers is how often a manager ended by itself.
	managers          int
	longest, shortest time.Duration
	result            string
}

func (t table) row(mode, fault string) *row {
	e := entry{mode, fault}
	if t[e] == nil {
		t[e] = &row{result: "ok"}
	}
	return t[e]
}

func (r *row) add(injected int, charged int32, took time.Duration, managers int) {
	r.injected += injected
	r.restarts++
	r.charged += charged
	r.managers += managers
	r.longest = max(r.longest, took)
	if r.shortest == 0 || took < r.shortest {
		r.shortest = took
	}
}

// report shows the table.
func (s *series) report() {
	AddReportEntry("faults and what became of them", s.text(), ReportEntryVisibilityAlways)
}

func (s *series) text() string {
	var text strings.Builder
	total := row{result: "ok"}
	lines := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(lines, "\nmode\tfault\tinjected\trestarts\tcharged\tshortest\tlongest\tmanagers lost\tresult\n")
	line := func(e entry, r *row) {
		_, _ = fmt.Fprintf(lines, "%s\t%s\t%d\t%d\t%d\t%.2f s\t%.2f s\t%d\t%s\n",
			e.mode, e.fault, r.injected, r.restarts, r.charged, r.shortest.Seconds(), r.longest.Seconds(), r.managers, r.result)
	}
	inOrder := func(a, b entry) int {
		return cmp.Or(strings.Compare(a.mode, b.mode), strings.Compare(a.fault, b.fault))
	}
	for _, e := range slices.SortedFunc(maps.Keys(s.table), inOrder) {
		r := s.table[e]
		line(e, r)
		if r.restarts > 0 {
			restarts := total.restarts + r.restarts
			total.add(r.injected, r.charged, r.longest, r.managers)
			total.shortest = min(total.shortest, r.shortest)
			total.restarts = restarts
		}
		if r.result != "ok" {
			total.result = r.result
		}
	}
	line(entry{"all", "all"}, &total)
	_ = lines.Flush()
	for _, g := range w.groups {
		_, _ = fmt.Fprintf(&text, "%s mode: %d workers; %d lifts, each with all reports before it; %d reports were in Leases\n", g.label(), workers, g.observer.Lifts(), g.observer.InLeases())
	}
	_, _ = fmt.Fprintf(&text, "seed %d\n", s.seed)
	return text.String()
}

// dump is all there is to know about a group that does not come back.
func (g *group) dump(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var text strings.Builder
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(&text, format+"\n", args...) }
	var js jobset.JobSet
	if err := g.client.Get(ctx, client.ObjectKey{Namespace: g.namespace(), Name: jobSetName}, &js); err != nil {
		say("JobSet: %v", err)
	}
	if status, err := yaml.Marshal(js.Status); err == nil {
		say("status of the JobSet:\n%s", status)
	}
	var pods corev1.PodList
	if err := g.client.List(ctx, &pods, client.InNamespace(g.namespace())); err != nil {
		say("Pods: %v", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		say("Pod %s %s epoch=%s deleted=%v %s", pod.Name, pod.Status.Phase, pod.Annotations[jobset.EpochKey], pod.DeletionTimestamp, containers(pod))
	}
	var leases coordinationv1.LeaseList
	if err := g.client.List(ctx, &leases, client.InNamespace(g.namespace())); err != nil {
		say("Leases: %v", err)
	}
	for i := range leases.Items {
		say("Lease %s epoch=%s", leases.Items[i].Name, leases.Items[i].Annotations[jobset.EpochKey])
	}
	running, epoch := g.players.Running()
	say("%d workers run, in epoch %d; leader: %s\n%s", running, epoch, g.proxy.Leader(), g.players)
	for _, violation := range slices.Concat(g.players.Violations(), g.observer.Violations()) {
		say("wrong: %s", violation)
	}
	for _, m := range g.managers {
		on, restarts := m.state()
		say("%s, on: %t, ended by itself %d times:\n%s", m.command.Name, on, restarts, m.log())
	}
	return text.String()
}

func containers(pod *corev1.Pod) string {
	var states []string
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		state := "running"
		switch {
		case c.State.Waiting != nil:
			state = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			state = fmt.Sprintf("exit %d", c.State.Terminated.ExitCode)
		}
		states = append(states, fmt.Sprintf("%s: %s (%d restarts)", c.Name, state, c.RestartCount))
	}
	return strings.Join(states, ", ")
}
