/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// planBytes is how many bytes a plan allocates. Its tests are not parallel: Go counts the bytes of the whole process.
func planBytes(in Input) (Plan, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	plan := Make(in)
	runtime.ReadMemStats(&after)
	return plan, after.TotalAlloc - before.TotalAlloc
}

func hostileCluster(nodes int) Input {
	in := Input{Accelerators: []corev1.ResourceName{gpu}, Now: time.Unix(1_000_000, 0)}
	for i := range nodes {
		in.Nodes = append(in.Nodes, Node{Name: fmt.Sprintf("node-%03d", i), Usable: true, Allocatable: Resources{
			gpu: 8, corev1.ResourceCPU: 96_000, corev1.ResourceMemory: 1 << 40, corev1.ResourcePods: 110}})
	}
	return in
}

func TestPendingInstancesCostNothing(t *testing.T) {
	plan := func(size int32) (Plan, uint64) {
		in := hostileCluster(2)
		asks := func(name string, least, most, size int32, started bool) Job {
			return Job{Key: Key{"ns", name, "w"}, Min: least, Max: most, Size: size, Started: started, Request: Resources{gpu: 1}}
		}
		in.Jobs = []Job{asks("greedy", 1, size, size, true), asks("greedy-too", 1, size, size, true), asks("new", 4, 4, 4, false)}
		for i := range int32(16) {
			job := &in.Jobs[i%2]
			job.Bound = append(job.Bound, Instance{i / 2, in.Nodes[i/8].Name})
		}
		return planBytes(in)
	}
	few, least := plan(1000)
	many, most := plan(1 << 17)
	if most > least+least/4 {
		t.Errorf("C385: a plan costs %d bytes with 131072 instances pending, want about as many as with 1000: %d", most, least)
	}
	for i := range few.Decisions {
		if few.Decisions[i].State != many.Decisions[i].State {
			t.Errorf("C385: %s is %s, and with 1000 instances pending %s", few.Decisions[i].Key, many.Decisions[i].State, few.Decisions[i].State)
		}
	}
}

func TestNamesOfResourcesCostNothing(t *testing.T) {
	plan := func(names int) (Plan, uint64) {
		in := hostileCluster(200)
		request := Resources{corev1.ResourceCPU: 1000}
		for i := range names {
			request[corev1.ResourceName(fmt.Sprintf("example.com/r%d", i))] = 1
		}
		in.Jobs = []Job{
			{Key: Key{"ns", "hostile", "w"}, Min: 1, Max: 9, Size: 1, Request: request},
			{Key: Key{"ns", "other", "w"}, Min: 1, Max: 9, Size: 1, Request: Resources{corev1.ResourceCPU: 1000}},
		}
		return planBytes(in)
	}
	few, least := plan(1)
	many, most := plan(10_000)
	if most > least+1<<20 {
		t.Errorf("C386: a plan costs %d bytes with 10000 names that no node has, want about as many as with one: %d", most, least)
	}
	for i, want := range []State{Overcommits, Grows} {
		if few.Decisions[i].State != want || many.Decisions[i].State != want {
			t.Errorf("C386: %s %s and %s, want %s", few.Decisions[i].Key, few.Decisions[i].State, many.Decisions[i].State, want)
		}
	}
}
