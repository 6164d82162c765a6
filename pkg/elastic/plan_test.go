/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
)

const gpu corev1.ResourceName = "nvidia.com/gpu"

// nodesOf makes nodes with so many accelerators each, and with room enough for everything else.
func nodesOf(accelerators ...int64) []Node {
	var nodes []Node
	for i, count := range accelerators {
		nodes = append(nodes, Node{Name: fmt.Sprintf("node-%d", i), Usable: true,
			Allocatable: Resources{gpu: count, corev1.ResourceCPU: 100_000, corev1.ResourceMemory: 1 << 40, corev1.ResourcePods: 110}})
	}
	return nodes
}

// gpuJob is a job with one accelerator for each instance.
func gpuJob(name string, least, most, size int32) Job {
	return Job{Key: Key{"ns", name, "trainer"}, Min: least, Max: most, Size: size, Started: true,
		Request: Resources{gpu: 1, corev1.ResourceCPU: 1000}}
}

// on binds instances 0, 1, ... of a job to nodes.
func on(j Job, nodes ...int) Job {
	for index, node := range nodes {
		j.Bound = append(j.Bound, Instance{Index: int32(index), Node: fmt.Sprintf("node-%d", node)})
	}
	return j
}

func isNew(j Job) Job { j.Started = false; return j }

func asks(j Job, request Resources) Job { j.Request = request; return j }

type sizes map[string]string

// outcome is what a plan says of each job: size, then the desired size if that is another, and the state.
func outcome(plan Plan) sizes {
	got := sizes{}
	for _, d := range plan.Decisions {
		got[d.JobSet] = fmt.Sprintf("%d %s", d.Size, d.State)
		if d.Desired != d.Size {
			got[d.JobSet] = fmt.Sprintf("%d, desired %d %s", d.Size, d.Desired, d.State)
		}
	}
	return got
}

func repeated(node, times int) []int {
	nodes := make([]int, times)
	for i := range nodes {
		nodes[i] = node
	}
	return nodes
}

func planOf(nodes []Node, jobs ...Job) Input {
	return Input{Nodes: nodes, Jobs: jobs, Accelerators: []corev1.ResourceName{gpu}, Now: time.Unix(1_000_000, 0)}
}

func TestPlans(t *testing.T) {
	cpuOnly := Resources{corev1.ResourceCPU: 30_000, corev1.ResourceMemory: 1 << 30}
	for name, tc := range map[string]struct {
		in   Input
		want sizes
	}{
		"P103 P104: what is free is shared by those that have least": {
			planOf(nodesOf(8), on(gpuJob("a", 2, 6, 2), 0, 0), on(gpuJob("b", 2, 6, 2), 0, 0)),
			sizes{"a": "4 Grows", "b": "4 Grows"},
		},
		"P104: a minimum that fits takes from nobody": {
			planOf(nodesOf(8), on(gpuJob("a", 2, 6, 6), repeated(0, 6)...), isNew(gpuJob("b", 2, 6, 2))),
			sizes{"a": "6 Keeps", "b": "2 Keeps"},
		},
		"P104: the fullest gives until the minimum fits, and no more": {
			planOf(nodesOf(6), on(gpuJob("a", 2, 6, 6), repeated(0, 6)...), isNew(gpuJob("b", 2, 6, 2))),
			sizes{"a": "4 Gives", "b": "2 Keeps"},
		},
		"P104: a job whose minimum cannot be reached waits, and nobody is scaled": {
			planOf(nodesOf(8), on(gpuJob("a", 4, 8, 4), repeated(0, 4)...), on(gpuJob("b", 4, 8, 4), repeated(0, 4)...), isNew(gpuJob("c", 2, 4, 2))),
			sizes{"a": "4 Keeps", "b": "4 Keeps", "c": "2 Waits"},
		},
		// By hand: 2*2 + 2*1 = 6 of 8 are in use. Both scores are 0; b is first, since it asks for fewer
		// accelerators: b 3, 7 in use. Now a has the least score, 0 beside 0.25, and asks for 2 where 1 is
		// left, so it is out. b again: 4, and 8 are in use.
		"P104: of equal scores the smaller instances come first": {
			planOf(nodesOf(8), asks(on(gpuJob("a", 2, 6, 2), 0, 0), Resources{gpu: 2}), asks(on(gpuJob("b", 2, 6, 2), 0, 0), Resources{gpu: 1})),
			sizes{"a": "2 Keeps", "b": "4 Grows"},
		},
		"P104: of equal accelerators the smaller CPU request comes first, then the smaller memory request": {
			planOf(nodesOf(8), asks(on(gpuJob("a", 2, 6, 2), 0, 0), Resources{gpu: 1, corev1.ResourceCPU: 2000}),
				asks(on(gpuJob("b", 2, 6, 2), 0, 0), Resources{gpu: 1, corev1.ResourceCPU: 1000, corev1.ResourceMemory: 2}),
				asks(on(gpuJob("c", 2, 6, 2), 0, 0), Resources{gpu: 1, corev1.ResourceCPU: 1000, corev1.ResourceMemory: 1})),
			sizes{"a": "2 Keeps", "b": "3 Grows", "c": "3 Grows"},
		},
		"P104: of equal requests the first by namespace and name is served first": {
			planOf(nodesOf(5), on(gpuJob("b", 2, 6, 2), 0, 0), on(gpuJob("a", 2, 6, 2), 0, 0)),
			sizes{"a": "3 Grows", "b": "2 Keeps"},
		},
		"P104: a node that is lost shrinks nobody here, and what is pending there grows nobody": {
			planOf(nodesOf(6), on(gpuJob("a", 2, 8, 8), 0, 0, 0, 0, 0, 0, 9, 9)),
			sizes{"a": "8 Keeps"},
		},
		"P104: once the node is back the job grows again": {
			planOf(nodesOf(6, 2), on(gpuJob("a", 2, 8, 6), repeated(0, 6)...)),
			sizes{"a": "8 Grows"},
		},
		"P104: a new job counts only its Pods on usable nodes, and goes on with what fits": {
			planOf(nodesOf(3), isNew(on(gpuJob("a", 2, 6, 5), 0))),
			sizes{"a": "3 Fits"},
		},
		"P104: a new job that is larger than its minimum takes from nobody above it": {
			planOf(nodesOf(6), on(gpuJob("a", 2, 6, 4), repeated(0, 4)...), isNew(gpuJob("b", 2, 6, 6))),
			sizes{"a": "4 Keeps", "b": "2 Fits"},
		},
		"P104: room is made for a job that cannot change, and it never changes": {
			planOf(nodesOf(6), on(gpuJob("a", 2, 6, 6), repeated(0, 6)...), isNew(gpuJob("b", 3, 3, 3))),
			sizes{"a": "3 Gives", "b": "3 Keeps"},
		},
		"P105: a CPU job starts although its minimum does not fit, and nobody gives": {
			planOf(nodesOf(0), asks(on(gpuJob("a", 2, 3, 3), 0, 0, 0), cpuOnly), isNew(asks(gpuJob("b", 3, 4, 3), cpuOnly))),
			sizes{"a": "3 Keeps", "b": "3 Overcommits"},
		},
		"P105: CPU jobs give and take as GPU jobs do": {
			planOf(nodesOf(0), asks(on(gpuJob("a", 1, 3, 3), 0, 0, 0), cpuOnly), isNew(asks(gpuJob("b", 2, 4, 2), cpuOnly))),
			sizes{"a": "1 Gives", "b": "2 Keeps"},
		},
		"P106: an instance fits only if it fits on one node": {
			planOf(nodesOf(3, 3), asks(on(gpuJob("a", 1, 6, 1), 0), Resources{gpu: 2})),
			sizes{"a": "2 Grows"},
		},
		"P106: pending instances are placed before anybody grows": {
			planOf(nodesOf(4), on(gpuJob("a", 2, 6, 4), 0, 0), on(gpuJob("b", 1, 6, 1))),
			sizes{"a": "4 Keeps", "b": "1 Keeps"},
		},
		"P106: instances go to the tightest node, so that large ones still fit": {
			planOf(nodesOf(4, 1), on(gpuJob("a", 0, 2, 1)), asks(isNew(gpuJob("b", 1, 1, 1)), Resources{gpu: 4})),
			sizes{"a": "1 Keeps", "b": "1 Keeps"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outcome(Make(tc.in))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	plan := Make(planOf(nodesOf(7), on(gpuJob("a", 2, 6, 5), repeated(0, 5)...), isNew(gpuJob("b", 2, 6, 2)), isNew(gpuJob("c", 9, 9, 9))))
	want := []Decision{
		{Key: Key{"ns", "a", "trainer"}, State: Keeps, Size: 5, Desired: 5, Score: 0.75},
		{Key: Key{"ns", "b", "trainer"}, State: Keeps, Size: 2, Desired: 2, Score: -0.5},
		{Key: Key{"ns", "c", "trainer"}, State: Waits, Size: 9, Desired: 9, Score: 1,
			Because: "its minimum of 9 does not fit, nor would it if all others were at their minimums"},
	}
	if diff := cmp.Diff(want, plan.Decisions, cmpopts.IgnoreFields(Decision{}, "Limit")); diff != "" { // see TestLimits
		t.Errorf("decisions (-want +got):\n%s", diff)
	}

	plan = Make(planOf(nodesOf(6), on(gpuJob("a", 2, 6, 5), repeated(0, 5)...), isNew(on(gpuJob("b", 2, 6, 2)))))
	if diff := cmp.Diff("gave 1 instance to ns/b/trainer: score -0.50, ours 0.75", plan.Decisions[0].Because); diff != "" {
		t.Errorf("P104: reason of the giver (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Plan{Free: Resources{gpu: 0}, Assigned: Resources{gpu: 6}}, Plan{Free: plan.Free, Assigned: plan.Assigned}); diff != "" {
		t.Errorf("P104: accelerators (-want +got):\n%s", diff)
	}
}

func TestCapacity(t *testing.T) {
	zone := func(nodes []Node, zone string, rows ...int) []Node {
		for _, row := range rows {
			nodes[row].Labels = map[string]string{"zone": zone}
		}
		return nodes
	}
	change := func(in Input, change func(*Input)) Input { change(&in); return in }
	one := func(nodes []Node) Input { return planOf(nodes, on(gpuJob("a", 1, 20, 1), 0)) }
	for name, tc := range map[string]struct {
		in   Input
		want sizes
	}{
		"P106: nodes that are not ready or cordoned have nothing": {
			change(one(nodesOf(4, 4)), func(in *Input) { in.Nodes[1].Usable = false }), sizes{"a": "4 Grows"},
		},
		"P106: what other Pods request is not there": {
			change(one(nodesOf(4)), func(in *Input) { in.Nodes[0].Requested = Resources{gpu: 1} }), sizes{"a": "3 Grows"},
		},
		"P106: a resource other than the accelerator bounds an instance too": {
			change(one(nodesOf(4)), func(in *Input) { in.Nodes[0].Allocatable[corev1.ResourceCPU] = 2500 }), sizes{"a": "2 Grows"},
		},
		"P106: a node runs only so many Pods": {
			change(one(nodesOf(4)), func(in *Input) { in.Nodes[0].Allocatable[corev1.ResourcePods] = 3 }), sizes{"a": "3 Grows"},
		},
		"P106: what is reserved stays free, rounded up": {
			change(one(nodesOf(4, 4)), func(in *Input) { in.ReservePercent = 20 }), sizes{"a": "6 Grows"},
		},
		"P106: the node selector of a job bounds it": {
			change(one(zone(nodesOf(4, 4), "x", 0)), func(in *Input) { in.Jobs[0].Where.NodeSelector = map[string]string{"zone": "x"} }), sizes{"a": "4 Grows"},
		},
		"P106: so does its required affinity, of which one term has to match": {
			change(one(zone(zone(nodesOf(4, 4, 4), "x", 0), "y", 1)), func(in *Input) {
				in.Jobs[0].Where.Terms = []corev1.NodeSelectorTerm{{}, {MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: "zone", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"y"}}, {Key: "zone", Operator: corev1.NodeSelectorOpExists}}}}
			}), sizes{"a": "4 Grows"},
		},
		"P106: affinity by the name of a node": {
			change(one(nodesOf(4, 4)), func(in *Input) {
				in.Jobs[0].Where.Terms = []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
					{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"node-0"}}}}}
			}), sizes{"a": "4 Grows"},
		},
		"P106: a taint that is not tolerated keeps a job away": {
			change(one(nodesOf(4, 4, 4)), func(in *Input) {
				in.Nodes[1].Taints = []corev1.Taint{{Key: "gpu", Value: "a100", Effect: corev1.TaintEffectNoSchedule}}
				in.Nodes[2].Taints = []corev1.Taint{{Key: "other", Effect: corev1.TaintEffectNoExecute}, {Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}}
				in.Jobs[0].Where.Tolerations = []corev1.Toleration{{Key: "gpu", Value: "a100"}}
			}), sizes{"a": "8 Grows"},
		},
		"P105: limits count for CPU jobs, and requests where there are none": {
			planOf(nodesOf(0),
				func() Job { // limits of 4 * 20 CPUs
					j := asks(on(gpuJob("a", 4, 4, 4), 0, 0, 0, 0), Resources{corev1.ResourceCPU: 1000})
					j.Limit = Resources{corev1.ResourceCPU: 20_000}
					return j
				}(),
				asks(on(gpuJob("b", 1, 9, 1), 0), Resources{corev1.ResourceCPU: 6000})), sizes{"a": "4 Keeps", "b": "3 Grows"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outcome(Make(tc.in))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCooldown(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	resized := func(j Job, ago time.Duration) Job {
		j.Resized, j.JobSetResized = start.Add(-ago), start.Add(-ago)
		return j
	}
	besides := func(j Job, ago time.Duration) Job { j.JobSetResized = start.Add(-ago); return j }
	with := func(in Input, up, down time.Duration) Input { in.CooldownUp, in.CooldownDown = up, down; return in }
	for name, tc := range map[string]struct {
		in   Input
		want sizes
	}{
		"P107: a job that cools down grows later, and what it will get is not given away": {
			with(planOf(nodesOf(8), resized(on(gpuJob("a", 2, 6, 2), 0, 0), time.Minute), on(gpuJob("b", 2, 6, 2), 0, 0)), 5*time.Minute, 0),
			sizes{"a": "2, desired 4 Cools", "b": "4 Grows"},
		},
		"P107: nor does one grow whose JobSet was restarted a moment ago for another of its jobs": {
			with(planOf(nodesOf(8), besides(on(gpuJob("a", 2, 6, 2), 0, 0), time.Minute), on(gpuJob("b", 2, 6, 2), 0, 0)), 5*time.Minute, 0),
			sizes{"a": "2, desired 4 Cools", "b": "4 Grows"},
		},
		"P107: it grows once it has cooled down": {
			with(planOf(nodesOf(8), resized(on(gpuJob("a", 2, 6, 2), 0, 0), 5*time.Minute), on(gpuJob("b", 2, 6, 2), 0, 0)), 5*time.Minute, 0),
			sizes{"a": "4 Grows", "b": "4 Grows"},
		},
		"P107: a job that grew a moment ago gives at once": {
			with(planOf(nodesOf(6), resized(on(gpuJob("a", 2, 6, 6), repeated(0, 6)...), time.Second), isNew(gpuJob("b", 2, 6, 2))), 5*time.Minute, 0),
			sizes{"a": "4 Gives", "b": "2 Keeps"},
		},
		"P107: unless shrinking has a cooldown of its own: then another gives": {
			with(planOf(nodesOf(10), resized(on(gpuJob("a", 2, 6, 6), repeated(0, 6)...), time.Second), on(gpuJob("b", 2, 6, 4), repeated(0, 4)...), isNew(gpuJob("c", 2, 6, 2))), 0, time.Minute),
			sizes{"a": "6 Keeps", "b": "2 Gives", "c": "2 Keeps"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, outcome(Make(tc.in))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
