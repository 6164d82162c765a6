/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	badNode = "node-of-js-w-0-0"
	crash   = "container worker of worker pod js-w-0-0 exited with code 137 (signal 9) on node " + badNode
)

// failedAt are failures of a node, so long ago.
func failedAt(node string, ago ...time.Duration) jobset.NodeFailures {
	n := jobset.NodeFailures{Node: node, Cause: crash}
	for _, ago := range ago {
		n.Times = append(n.Times, metav1Time(now.Add(-ago)))
	}
	return n
}

func avoidedFor(n jobset.NodeFailures, ago time.Duration) jobset.NodeFailures {
	n.AvoidedSince = ptr.To(metav1Time(now.Add(-ago)))
	return n
}

func givenUp(n jobset.NodeFailures, ago time.Duration) jobset.NodeFailures {
	n.AvoidedSince, n.GivenUpTime = nil, ptr.To(metav1Time(now.Add(-ago)))
	return n
}

// avoids: two failures within an hour make the JobSet avoid a node, and these are known.
func avoids(known ...jobset.NodeFailures) func(*Input) {
	return func(in *Input) {
		gpus(in)
		in.JobSet.Spec.FaultTolerance.AvoidNodes = &jobset.AvoidNodes{Failures: 2, WithinSeconds: 3600}
		in.JobSet.Status.FaultTolerance.NodeFailures = known
	}
}

func fails(change func(*Failure)) func(*Input) {
	return func(in *Input) {
		in.FirstFailure = &Failure{Pod: "js-w-0-0", Container: "worker", ExitCode: 137, Node: badNode}
		change(in.FirstFailure)
	}
}

func TestFirstCausesAreCountedByNode(t *testing.T) {
	t.Parallel()
	crashes, once := fails(func(*Failure) {}), failedAt(badNode, 10*time.Minute)
	isAvoidedNow := avoidedFor(failedAt(badNode, 10*time.Minute, 0), 0)
	var full []jobset.NodeFailures
	for i := range 16 {
		full = append(full, failedAt(fmt.Sprintf("n%02d", i), time.Duration(16-i)*time.Minute))
	}
	tests := map[string]struct {
		in   Input
		want []jobset.NodeFailures
		told string
	}{
		"P93: the first is counted":                                       {inPlace(0, 1, "2 1", avoids(), crashes), []jobset.NodeFailures{failedAt(badNode, 0)}, ""},
		"P93: at the count the node is avoided":                           {inPlace(0, 1, "2 1", avoids(once), crashes), []jobset.NodeFailures{isAvoidedNow}, "2 restarts within 1h0m0s began on node " + badNode},
		"P93: one that is too long ago does not count":                    {inPlace(0, 1, "2 1", avoids(failedAt(badNode, time.Hour)), crashes), []jobset.NodeFailures{failedAt(badNode, 0)}, ""},
		"P93: those of another node do not count":                         {inPlace(0, 1, "2 1", avoids(failedAt("n9", time.Minute)), crashes), []jobset.NodeFailures{failedAt("n9", time.Minute), failedAt(badNode, 0)}, ""},
		"P93: of 16 nodes the one that failed longest ago goes":           {inPlace(0, 1, "2 1", avoids(full...), crashes), append(slices.Clone(full[1:]), failedAt(badNode, 0)), ""},
		"P93: only as many times are kept as are asked for":               {inPlace(0, 1, "2 1", avoids(avoidedFor(failedAt(badNode, 20*time.Minute, 10*time.Minute), 10*time.Minute)), crashes), []jobset.NodeFailures{isAvoidedNow}, "began on node"},
		"P93: absent, nothing is counted, and what was is forgotten":      {inPlace(0, 1, "2 1", avoids(once), crashes, onJobSet(func(js *jobset.JobSet) { js.Spec.FaultTolerance.AvoidNodes = nil })), nil, ""},
		"P93: a cause that was not seen counts against nobody":            {inPlace(0, 1, "2 1", avoids(once)), []jobset.NodeFailures{once}, ""},
		"P93: a Pod that somebody deleted":                                {inPlace(0, 1, "2 1", avoids(once), fails(func(f *Failure) { f.Deleted = true })), []jobset.NodeFailures{once}, ""},
		"P93: a worker that hangs, as any of a group may be the first to": {inPlace(0, 1, "2 1", avoids(once), fails(func(f *Failure) { f.Hang = protocol.Hang{SilentSeconds: 30} })), []jobset.NodeFailures{once}, ""},
		"P93: a Pod that was preempted":                                   {inPlace(0, 1, "2 1", avoids(once), fails(func(f *Failure) { f.Deleted, f.Reason = true, "PreemptionByScheduler" })), []jobset.NodeFailures{once}, ""},
		"P93: a Pod whose node was lost": {inPlace(0, 1, "2 1", avoids(), fails(func(f *Failure) { f.Deleted, f.Reason = true, "DeletionByTaintManager" })),
			[]jobset.NodeFailures{{Node: badNode, Times: []metav1.Time{metav1Time(now)}, Cause: "worker pod js-w-0-0 was deleted (DeletionByTaintManager) on node " + badNode}}, ""},
		"P93: one that was given up is not avoided again soon": {inPlace(0, 1, "2 1", avoids(givenUp(once, 30*time.Minute)), crashes),
			[]jobset.NodeFailures{givenUp(failedAt(badNode, 10*time.Minute, 0), 30*time.Minute)}, ""},
		"P93: and is later": {inPlace(0, 1, "2 1", avoids(givenUp(once, time.Hour)), crashes), []jobset.NodeFailures{isAvoidedNow}, "began on node"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			if ptr.Deref(plan.Status.DeprecatedEpoch, 0) != 1 || plan.Status.InPlaceRestarts != 1 {
				t.Fatalf("the group is not broken: %+v", summarize(plan))
			}
			if diff := cmp.Diff(tc.want, plan.Status.FaultTolerance.NodeFailures, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("node failures (-want +got):\n%s", diff)
			}
			told := slices.IndexFunc(plan.Events, func(e Event) bool { return e.Reason == "NodeAvoided" })
			if (tc.told != "") != (told >= 0) || told >= 0 && !strings.Contains(plan.Events[told].Message, tc.told) {
				t.Errorf("told %v, want NodeAvoided with %q", plan.Events, tc.told)
			}
			if slices.Contains(plan.Outcomes, AvoidsNode) != (tc.told != "") {
				t.Errorf("P93: for the metrics: %v", plan.Outcomes)
			}
		})
	}
}

func TestACauseIsCutToWhatTheAPITakes(t *testing.T) {
	t.Parallel()
	plan := decideOnce(t, inPlace(0, 1, "2 1", avoids(), fails(func(f *Failure) { f.Replaced = strings.Repeat("ä", 400) })))
	if got := plan.Status.FaultTolerance.NodeFailures[0].Cause; len(got) > 200 || !strings.HasSuffix(got, "...") {
		t.Errorf("P93: %d bytes: %s", len(got), got)
	}
}

// createdAgo: when the Pods of the first Job were created, by their index.
func createdAgo(ago ...time.Duration) func(*Input) {
	return func(in *Input) {
		for i, pod := range in.Pods[in.Jobs[0].UID] {
			edit(pod, func(pod *corev1.Pod) { pod.CreationTimestamp = metav1Time(now.Add(-ago[i])) })
		}
	}
}

// homeless: the Pod with this index has no node, says the scheduler.
func homeless(index int) func(*Input) {
	return onPod(0, index, func(pod *corev1.Pod) {
		pod.Spec.NodeName, pod.Status.Phase = "", corev1.PodPending
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/2 nodes are available"}}
	})
}

func TestPodsLeaveANodeThatIsAvoided(t *testing.T) {
	t.Parallel()
	bad := avoidedFor(failedAt(badNode, 0), time.Minute)
	both := createdAgo(time.Hour, time.Hour)
	tests := map[string]struct {
		in      Input
		deletes []string
		lifts   bool
	}{
		"P93: while the group assembles, the Pod there is replaced":             {inPlace(1, 1, "2 2", avoids(bad), both), []string{"js-w-0-0"}, false},
		"P93: the barrier waits for its replacement":                            {inPlace(1, 1, ". 2", avoids(bad), createdAgo(time.Hour)), nil, false},
		"P93: a group that runs is left alone":                                  {inPlace(0, 1, "1 1", avoids(bad), both), nil, false},
		"P93: a Pod that came later, though it should not have, stays":          {inPlace(1, 1, "2 2", avoids(bad), createdAgo(time.Second, time.Hour)), nil, true},
		"P93: after the time it counts for, the node is as good as another":     {inPlace(1, 1, "2 2", avoids(avoidedFor(failedAt(badNode, time.Hour), time.Hour)), both), nil, true},
		"P94: a node that was given up is as good as another":                   {inPlace(1, 1, "2 2", avoids(givenUp(bad, time.Minute)), both), nil, true},
		"P94: who waits for another than a node that was given up, is replaced": {inPlace(1, 1, "_ 2", avoids(givenUp(bad, time.Second)), createdAgo(time.Minute, time.Hour), homeless(0)), []string{"js-w-0-0"}, false},
		"P94: who came after it was given up, waits":                            {inPlace(1, 1, "_ 2", avoids(givenUp(bad, time.Minute)), createdAgo(time.Second, time.Hour), homeless(0)), nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			if diff := cmp.Diff(tc.deletes, summarize(plan).Pods, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Pods deleted (-want +got):\n%s", diff)
			}
			if lifts := ptr.Deref(plan.Status.SyncedEpoch, 0) > ptr.Deref(tc.in.JobSet.Status.SyncedEpoch, 0); lifts != tc.lifts {
				t.Errorf("lifts: %t, want %t", lifts, tc.lifts)
			}
		})
	}
}

func TestAvoidingNeverKeepsAJobSetFromRunning(t *testing.T) {
	t.Parallel()
	older, newer := avoidedFor(failedAt("n1", 3*time.Hour/4), 45*time.Minute), avoidedFor(failedAt("n2", 0), 40*time.Minute)
	late := createdAgo(10*time.Minute, time.Hour)
	pending := func(known ...jobset.NodeFailures) Input {
		return inPlace(1, 1, "_ 2", avoids(known...), late, homeless(0))
	}
	tests := map[string]struct {
		in    Input
		gives string
	}{
		"P94: the node avoided longest is given up":               {pending(newer, older), "n1"},
		"P94: the only one":                                       {pending(newer), "n2"},
		"P94: not before the period of the assembly":              {inPlace(1, 1, "_ 2", avoids(older), createdAgo(4*time.Minute, time.Hour), homeless(0)), ""},
		"P94: not while Pods wait that are to be replaced":        {pending(givenUp(newer, 0), older), ""},
		"P94: not for a Pod from before, which does not avoid it": {inPlace(1, 1, "_ 2", avoids(newer), createdAgo(time.Hour, time.Hour), homeless(0)), ""},
		"P94: not for a Pod that has a node":                      {inPlace(1, 1, "_ 2", avoids(older), late), ""},
		"P94: not for a Pod that others hold back": {inPlace(1, 1, "_ 2", avoids(older), late, homeless(0), func(in *Input) {
			edit(in.Pods[in.Jobs[0].UID][0], func(pod *corev1.Pod) { pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}} })
		}), ""},
		"P94: not while the JobSet is suspended": {inPlace(1, 1, "_ 2", avoids(older), late, homeless(0), suspend), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			for _, n := range plan.Status.FaultTolerance.NodeFailures {
				was := slices.IndexFunc(tc.in.JobSet.Status.FaultTolerance.NodeFailures, func(w jobset.NodeFailures) bool { return w.Node == n.Node })
				changed := !cmp.Equal(n, tc.in.JobSet.Status.FaultTolerance.NodeFailures[was])
				if changed != (n.Node == tc.gives) || changed && (n.AvoidedSince != nil || n.GivenUpTime == nil) {
					t.Errorf("%q is to be given up, and of %s is known: %+v", tc.gives, n.Node, n)
				}
			}
			told := slices.ContainsFunc(plan.Events, func(e Event) bool {
				return e.Reason == "AvoidedNodeGivenUp" && strings.Contains(e.Message, "node "+tc.gives+", avoided since")
			})
			if counted := slices.Contains(plan.Outcomes, GaveUpNode); told != (tc.gives != "") || counted != told {
				t.Errorf("told: %v, for the metrics: %v", plan.Events, plan.Outcomes)
			}
		})
	}
}

func TestRecreateAvoidsNodes(t *testing.T) {
	t.Parallel()
	ended := func(index int, ago time.Duration, deleted bool) func(*Input) {
		return onPod(0, index, func(pod *corev1.Pod) {
			pod.Status.Phase = corev1.PodFailed
			pod.Spec.Containers = []corev1.Container{{Name: "worker"}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, FinishedAt: metav1Time(now.Add(-ago))},
			}}}
			if deleted {
				pod.DeletionTimestamp = ptr.To(metav1Time(now))
			}
		})
	}
	limit := func(n int32) func(*Input) {
		return onJob(0, func(job *batchv1.Job) { job.Spec.BackoffLimit = &n })
	}
	jobFails := onJob(0, failed)
	group := func(changes ...func(*Input)) Input {
		return inPlace(0, 0, "1 1", append([]func(*Input){avoids(failedAt(badNode, time.Minute)), strategy(jobset.Recreate), jobFails}, changes...)...)
	}
	tests := map[string]struct {
		in     Input
		blames string
	}{
		"P93: the first Pod that failed is blamed":             {group(limit(0), ended(0, 9*time.Second, false), ended(1, 8*time.Second, false)), badNode},
		"P93: whichever its name":                              {group(limit(0), ended(0, 8*time.Second, false), ended(1, 9*time.Second, false)), "node-of-js-w-0-1"},
		"P93: not one that was deleted because the Job failed": {group(limit(0), ended(0, 8*time.Second, false), ended(1, 9*time.Second, true)), badNode},
		"P93: the last, if the Job has tried again before":     {group(limit(3), ended(0, 8*time.Second, false), ended(1, 9*time.Second, false)), badNode},
		"P93: nobody if no Pod is left that failed":            {group(limit(0)), ""},
		"P93: nobody if the JobSet fails":                      {group(limit(0), ended(0, 0, false), onJobSet(func(js *jobset.JobSet) { js.Spec.FailurePolicy.MaxRestarts = 0 })), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			var blamed string
			for _, n := range plan.Status.FaultTolerance.NodeFailures {
				if n.Times[len(n.Times)-1].Equal(ptr.To(metav1Time(now))) {
					blamed = n.Node
				}
			}
			if blamed != tc.blames {
				t.Errorf("blamed %q, want %q", blamed, tc.blames)
			}
			if avoided := AvoidedNodes(&jobset.JobSet{Spec: tc.in.JobSet.Spec, Status: plan.Status}, tc.in.Gates, now); (len(avoided) == 1) != (tc.blames == badNode) {
				t.Errorf("avoids %v after the second failure of %s", avoided, badNode)
			}
		})
	}
}

func TestPodsWithoutAPlaceAreRecreatedWithAllJobs(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 0, "1 1", avoids(avoidedFor(failedAt("n1", 0), time.Hour/2)), strategy(jobset.Recreate), createdAgo(10*time.Minute, 10*time.Minute), homeless(0))
	if plan := decideOnce(t, in); !plan.ReadChildren {
		t.Fatalf("P94: decided on the cache: %+v", summarize(plan))
	}
	in.ChildrenRead = true
	plan := decideOnce(t, in)
	if s := plan.Status; s.Restarts != 1 || s.RestartsCountTowardsMax != 0 || s.FaultTolerance.NodeFailures[0].AvoidedSince != nil || s.FaultTolerance.Reset == nil {
		t.Errorf("P94: not a reset that is not charged: %+v", s)
	}
}

func TestPodsAreNotReplacedOneByOneIfThatIsSlow(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 1, "2 1", avoids(failedAt(badNode, time.Minute)), fails(func(*Failure) {}), onJob(0, podsFailed(5)))
	plan := decideOnce(t, in)
	if s := plan.Status; s.Restarts != 1 || s.RestartsCountTowardsMax != 1 || s.InPlaceRestarts != 0 || s.FaultTolerance.NodeFailures[0].AvoidedSince == nil {
		t.Errorf("P93: not one restart of all Jobs, charged once: %+v", s)
	}
	if c := plan.Status.Conditions[len(plan.Status.Conditions)-1]; !strings.Contains(c.Message, "would wait 5m20s before it replaces Pods of Job js-w-0") {
		t.Errorf("P93: %s", c.Message)
	}
}
