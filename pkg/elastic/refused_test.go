/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRefusals: what the scheduler says wins over the model (P108a).
func TestRefusals(t *testing.T) {
	start := time.Unix(1_000_000, 0).UTC()
	const said = "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints"
	const told = " (" + said + ")"
	input := func(nodes []Node, jobs ...Job) Input {
		in := planOf(nodes, jobs...)
		in.ShrinkAfter, in.CooldownUp, in.Now = 2*time.Minute, 5*time.Minute, start
		return in
	}
	// group ran with a size, and was given another three minutes ago.
	group := func(size, ran int32, nodes ...int) Job {
		j := on(gpuJob("a", 2, 8, size), nodes...)
		j.Shrinks, j.Ran, j.Resized, j.JobSetResized = true, ran, start.Add(-3*time.Minute), start.Add(-3*time.Minute)
		return j
	}
	refused := func(j Job, count int32, ago time.Duration) Job {
		j.Refused = append(j.Refused, Refusal{Count: count, Since: start.Add(-ago), Message: said})
		return j
	}
	with := func(j Job, changes ...func(*Job)) Job {
		for _, change := range changes {
			change(&j)
		}
		return j
	}
	ceiling := func(size, refusals, nodes int32, since, pause time.Duration) *Ceiling {
		return &Ceiling{Size: size, Refusals: refusals, Nodes: nodes, Since: start.Add(-since), Until: start.Add(pause - since), Message: said}
	}
	has := func(c *Ceiling) func(*Job) { return func(j *Job) { j.Ceiling = c } }
	runs := func(j *Job) {
		j.Running, j.Ran, j.Refused, j.Resized, j.JobSetResized = true, j.Size, nil, time.Time{}, time.Time{}
	}
	never := func(j *Job) { j.Started, j.Ran = false, 0 }
	const long, retry = 2 * time.Minute, ", and more are tried after 1970-01-12T13:51:40Z, or when a node comes"
	for name, tc := range map[string]struct {
		in      Input
		want    sizes
		because string
		ceiling *Ceiling
	}{
		"P108a: a group that grew goes back to the size it last ran with, which is a ceiling": {
			input(nodesOf(4, 4), refused(group(8, 4, 0, 0, 0, 0, 1, 1), 2, long)), sizes{"a": "4 Refused"},
			"2 of its 8 Pods have been refused for more than 2m0s" + told + ": it goes back to 4, with which it last ran" + retry, ceiling(4, 1, 2, 0, 5*time.Minute),
		},
		"P108a: not before its time": {input(nodesOf(4, 4), refused(group(8, 4, 0, 0, 0, 0, 1, 1), 2, long-time.Second)), sizes{"a": "8 Keeps"}, "", nil},
		"P108b: nor while it runs":   {input(nodesOf(4, 4), with(refused(group(8, 4, 0, 0, 0, 0, 1, 1), 2, long), func(j *Job) { j.Running = true })), sizes{"a": "8 Keeps"}, "", nil},
		"P108a: a group that did not grow goes on without what is refused": {
			input(nodesOf(4, 4), refused(group(6, 6, 0, 0, 0, 0, 1), 1, long)), sizes{"a": "5 Refused"},
			"1 of its 6 Pods have been refused for more than 2m0s" + told + ": it continues with 5" + retry, ceiling(5, 1, 2, 0, 5*time.Minute),
		},
		"P108a: one that never ran starts with what is not refused": {
			input(nodesOf(4, 4), with(refused(group(6, 0, 0, 0, 0, 0), 2, long), never)), sizes{"a": "4 Refused"},
			"2 of its 6 Pods have been refused for more than 2m0s" + told + ": it continues with 4" + retry, ceiling(4, 1, 2, 0, 5*time.Minute),
		},
		"P108a: at its minimum it waits, and says why": {
			input(nodesOf(4, 4), refused(group(2, 2, 0), 1, long)), sizes{"a": "2 Stuck"},
			"1 of its 2 Pods have been refused for more than 2m0s" + told + ", and it cannot continue with fewer than 2: it waits", nil,
		},
		"P108: where the model has no room either, no ceiling is needed": {
			input(nodesOf(4), with(refused(group(6, 6, 0, 0, 0, 0), 2, long), func(j *Job) { j.Lacking = start.Add(-long) })), sizes{"a": "4 Shrinks"},
			"2 of its 6 Pods have had no node for more than 2m0s: it continues with 4", nil,
		},
		"P104 P108a: one that gives what it grew by before it ran with it does not grow again soon": {
			input(nodesOf(6), group(6, 4, 0, 0, 0, 0, 0, 0), isNew(gpuJob("b", 2, 6, 2))), sizes{"a": "4 Gives", "b": "2 Keeps"},
			"gave 2 instances to ns/b/trainer: score -0.50, ours 0.67" + retry,
			&Ceiling{Size: 4, Refusals: 1, Nodes: 1, Since: start, Until: start.Add(5 * time.Minute), Message: "the capacity went to another job"},
		},
		"P108a: room that a plan has since a moment only gives the scheduler time to use it": {
			input(nodesOf(4, 4), with(refused(group(8, 4, 0, 0, 0, 0, 1, 1), 2, long), func(j *Job) { j.NoRoom = start.Add(time.Second - long) })), sizes{"a": "8 Keeps"}, "", nil,
		},
		"P108a: more that do not exist than its size count as its size": {
			func() Input {
				j := refused(refused(group(100, 4, 0, 0, 0, 0), 1<<31-1, long), 1<<31-1, long)
				j.Max = 100
				return input(nodesOf(100), j)
			}(), sizes{"a": "4 Refused"},
			"100 of its 100 Pods have been refused for more than 2m0s" + told + ": it goes back to 4, with which it last ran" + retry, ceiling(4, 1, 1, 0, 5*time.Minute),
		},
		"P108a: going back does not wait for the cooldown": {
			func() Input {
				in := input(nodesOf(4, 4), refused(group(8, 4, 0, 0, 0, 0, 1, 1), 2, long))
				in.CooldownDown = time.Hour
				return in
			}(), sizes{"a": "4 Refused"},
			"2 of its 8 Pods have been refused for more than 2m0s" + told + ": it goes back to 4, with which it last ran" + retry, ceiling(4, 1, 2, 0, 5*time.Minute),
		},
		"P108a: it does not grow beyond its ceiling": {
			input(nodesOf(4, 4), with(group(4, 4, 0, 0, 0, 0), runs, has(ceiling(4, 1, 2, time.Minute, 5*time.Minute)))), sizes{"a": "4 Keeps"}, "", ceiling(4, 1, 2, time.Minute, 5*time.Minute),
		},
		"P108a: a node that went and came back is no reason to try": {
			input(nodesOf(4, 4), with(group(4, 4, 0, 0, 0, 0), runs, has(ceiling(4, 1, 3, time.Minute, 5*time.Minute)))), sizes{"a": "4 Keeps"}, "", ceiling(4, 1, 3, time.Minute, 5*time.Minute),
		},
		"P108a: nor is one without its accelerator": {
			input(nodesOf(4, 4, 0), with(group(4, 4, 0, 0, 0, 0), runs, has(ceiling(4, 1, 2, time.Minute, 5*time.Minute)))), sizes{"a": "4 Keeps"}, "", ceiling(4, 1, 2, time.Minute, 5*time.Minute),
		},
		"P108a: more are tried when a node comes": {
			input(nodesOf(4, 4), with(group(4, 4, 0, 0, 0, 0), runs, has(ceiling(4, 1, 1, time.Minute, 5*time.Minute)))), sizes{"a": "8 Grows"}, "4 more fit: score 0.33", ceiling(4, 1, 1, time.Minute, 5*time.Minute),
		},
		"P108a: and after its time": {
			input(nodesOf(4, 4), with(group(4, 4, 0, 0, 0, 0), runs, has(ceiling(4, 1, 2, 5*time.Minute, 5*time.Minute)))), sizes{"a": "8 Grows"}, "4 more fit: score 0.33", ceiling(4, 1, 2, 5*time.Minute, 5*time.Minute),
		},
		"P108a: each refusal in a row doubles the time": {
			input(nodesOf(4, 4), with(refused(group(8, 4, 0, 0, 0, 0, 1, 1), 2, long), has(ceiling(4, 2, 5, 20*time.Minute, 10*time.Minute)))), sizes{"a": "4 Refused"},
			"2 of its 8 Pods have been refused for more than 2m0s" + told + ": it goes back to 4, with which it last ran, and more are tried after 1970-01-12T14:06:40Z, or when a node comes", ceiling(4, 3, 5, 0, 20*time.Minute),
		},
		"P108a: up to an hour": {
			input(nodesOf(4, 4), with(refused(group(8, 4, 0, 0, 0, 0, 1, 1), 2, long), has(ceiling(4, 1<<30, 2, 70*time.Minute, time.Hour)))), sizes{"a": "4 Refused"},
			"2 of its 8 Pods have been refused for more than 2m0s" + told + ": it goes back to 4, with which it last ran, and more are tried after 1970-01-12T14:46:40Z, or when a node comes", ceiling(4, 1<<30+1, 2, 0, time.Hour),
		},
		"P108a: a ceiling that was written before its size was not is not counted twice": {
			input(nodesOf(4, 4), with(refused(group(8, 4, 0, 0, 0, 0, 1, 1), 2, long), has(ceiling(4, 1, 2, time.Second, 5*time.Minute)))), sizes{"a": "4 Refused"},
			"2 of its 8 Pods have been refused for more than 2m0s" + told + ": it goes back to 4, with which it last ran, and more are tried after 1970-01-12T13:51:39Z, or when a node comes", ceiling(4, 1, 2, time.Second, 5*time.Minute),
		},
		"P108a: a ceiling is forgotten once the group runs with more": {
			input(nodesOf(4, 4), with(group(6, 6, 0, 0, 0, 0, 1, 1), runs, has(ceiling(4, 1, 2, time.Minute, 5*time.Minute)))), sizes{"a": "8 Grows"}, "2 more fit: score 0.67", nil,
		},
		"P108a: and an hour after its time": {
			input(nodesOf(4), with(group(4, 4, 0, 0, 0, 0), runs, has(ceiling(4, 1, 1, 65*time.Minute, 5*time.Minute)))), sizes{"a": "4 Keeps"}, "", nil,
		},
		"P108a: a larger size that somebody wrote is kept until Pods are refused again": {
			input(nodesOf(4, 4), with(group(6, 4, 0, 0, 0, 0), has(ceiling(4, 1, 2, 4*time.Minute, 5*time.Minute)))), sizes{"a": "6 Keeps"}, "", ceiling(4, 1, 2, 4*time.Minute, 5*time.Minute),
		},
		"P103 P108a: a ceiling does not make a job more fulfilled, so that it would give first": {
			input(nodesOf(4, 6), with(group(4, 4, 0, 0, 0, 0), runs, has(ceiling(4, 1, 2, time.Minute, 5*time.Minute))),
				on(gpuJob("b", 2, 6, 6), 1, 1, 1, 1, 1, 1), isNew(gpuJob("c", 2, 2, 2))), sizes{"a": "4 Keeps", "b": "4 Gives", "c": "2 Keeps"}, "", ceiling(4, 1, 2, time.Minute, 5*time.Minute),
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Make(tc.in)
			if diff := cmp.Diff(tc.want, outcome(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.because, plan.Decisions[0].Because); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.ceiling, plan.Decisions[0].Ceiling); diff != "" {
				t.Errorf("ceiling (-want +got):\n%s", diff)
			}
		})
	}
}
