/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/tolerance"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// gpus: the JobSet has faultTolerance, each Pod uses a GPU, and runs on a node of its own that bears its
// name. The Jobs keep away from sick nodes.
func gpus(in *Input) {
	rules := nodehealth.DefaultRules()
	in.JobSet.Spec.FaultTolerance = &jobset.FaultTolerance{}
	in.JobSet.Status.FaultTolerance = &jobset.FaultToleranceStatus{MaxRestarts: 3, CompleteAttempt: ptr.To[int64](0)}
	in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, deployed())
	in.Gates.FaultTolerance, in.Tolerance, in.SickNodes = true, tolerance.Builtin(), SickNodes{KeepAway: rules, Since: past}
	for _, job := range in.Jobs {
		template := &job.Spec.Template.Spec
		template.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")},
		}}}
		template.Affinity = rules.KeepAway(template)
	}
	editAll(in, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-of-" + pod.Name })
}

// marked gives nodes the label that Pods with GPUs are moved off.
func marked(nodes ...string) func(*Input) {
	return func(in *Input) {
		gpus(in)
		in.SickNodes.Marked = map[string][]nodehealth.Mark{}
		for _, node := range nodes {
			in.SickNodes.Marked[node] = []nodehealth.Mark{{Resource: "nvidia.com/gpu", Key: "autopilot.ibm.com/gpuhealth", Value: "EVICT"}}
		}
	}
}

// movedAgo: Pods were last moved so long ago.
func movedAgo(ago time.Duration) func(*Input) {
	return func(in *Input) { in.JobSet.Status.FaultTolerance.LastMoveTime = ptr.To(metav1Time(now.Add(-ago))) }
}

func justMarked(in *Input) { in.SickNodes.Since = time.Time{} }

// withoutAffinity: Jobs from before the JobSet asked to keep away.
func withoutAffinity(job *batchv1.Job) { job.Spec.Template.Spec.Affinity = nil }

func withoutGPU(job *batchv1.Job) {
	job.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
}

// strategy: the JobSet of the picture restarts all Jobs instead.
func strategy(strategy jobset.JobSetRestartStrategy) func(*Input) {
	return func(in *Input) {
		in.JobSet.Spec.FailurePolicy.RestartStrategy = strategy
		in.JobSet.Status.DeprecatedEpoch, in.JobSet.Status.SyncedEpoch = nil, nil
	}
}

func moving(w *summary) { w.Moving, w.RequeueAfter = true, time.Second }

const (
	oneSick  = "1 Pods run on 1 nodes with a label of effect NoExecute: js-w-0-1 on node-of-js-w-0-1 (autopilot.ibm.com/gpuhealth=EVICT)"
	bothSick = "2 Pods run on 2 nodes with a label of effect NoExecute: js-w-0-0, js-w-0-1 on " +
		"node-of-js-w-0-0 (autopilot.ibm.com/gpuhealth=EVICT), node-of-js-w-0-1 (autopilot.ibm.com/gpuhealth=EVICT)"
	second = "node-of-js-w-0-1"

	builtBefore = "Job js-w-0 was built without the affinity that keeps its Pods away from there"
	slow        = "the Job controller would wait 2m40s before it replaces Pods of Job js-w-0"
)

// podsFailed: so many Pods of the Job have failed so far.
func podsFailed(n int32) func(*batchv1.Job) {
	return func(job *batchv1.Job) { job.Status.Failed = n }
}

// movesByRestart: D := S, uncharged; the Pods themselves are deleted by the next pass.
func movesByRestart(who string) func(*summary) {
	return func(w *summary) {
		one := int32(1)
		message := who + ", and move, which does not count towards maxRestarts; all workers of epoch 1 restart in place"
		w.Moving, w.Status.DeprecatedEpoch = true, &one
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "InPlaceRestart", message, now)}
		w.Events = []Event{{Type: "Warning", Reason: "InPlaceRestartStarted", Message: message}}
		w.Outcomes = []Outcome{GroupBroken, MovedInPlace}
	}
}

func movesByDeletion(who string, pods ...string) func(*summary) {
	return func(w *summary) {
		moving(w)
		w.Pods = pods
		w.Told = []Event{{Type: "Warning", Reason: "WorkersMoved", Message: who + "; they are deleted to be recreated elsewhere"}}
	}
}

// movesByReset: all Jobs are of an earlier attempt, uncharged.
func movesByReset(who string, notInPlace string) func(*summary) {
	return func(w *summary) {
		message := who + "; all Jobs are recreated, which does not count towards maxRestarts"
		if notInPlace != "" {
			message += ", and not restarted in place: " + notInPlace
		}
		w.Moving, w.Restart, w.Outcomes = true, jobset.RestartJobSetAndIgnoreMaxRestarts, []Outcome{MovedByReset, WasReset}
		w.Status.Restarts++
		w.Status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: metav1Time(now)}
		if one := int32(1); notInPlace != "" {
			w.Status.DeprecatedEpoch = &one
		}
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "MovedOffNodes", message, now)}
		w.Events = []Event{{Type: "Warning", Reason: "MovedOffNodes", Message: message}}
	}
}

func refused(nodes string) func(*summary) {
	return func(w *summary) {
		message := "Pods run" + nodes + " with a label of effect NoExecute; they are not moved, since maxRestarts is used up"
		w.Outcomes = []Outcome{MoveRefused}
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetOnSickNodes, true, "MoveRefused", message, now)}
		w.Events = []Event{{Type: "Warning", Reason: "MoveRefused", Message: message}}
	}
}

// refusedStill: for more nodes than before, which the condition says.
func refusedStill(nodes string) func(*summary) {
	return func(w *summary) {
		refused(nodes)(w)
		w.Outcomes, w.Events, w.Status.Conditions[0].LastTransitionTime = nil, nil, metav1Time(past)
	}
}

func where(node string) string { return " on " + node + " (autopilot.ibm.com/gpuhealth=EVICT)" }

// reportedOnNodes: that the Pods stay was told before.
func reportedOnNodes(nodes string) func(*Input) {
	return func(in *Input) {
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions,
			builders.Condition(jobset.JobSetOnSickNodes, true, "MoveRefused", "Pods run"+nodes+" with a label of effect NoExecute; they are not moved, since maxRestarts is used up", past))
	}
}

// over: what was refused is not any more.
func over(w *summary) {
	if w.Status.Conditions[0].Type == string(jobset.JobSetOnSickNodes) {
		w.Status.Conditions = nil
	}
	w.Status.Conditions = append([]metav1.Condition{builders.Condition(jobset.JobSetOnSickNodes, false, "NotOnSickNodes",
		"no Pod runs on a node that it has to leave, or it can be moved again", now)}, w.Status.Conditions...)
}

func withoutTolerance(in *Input) {
	in.JobSet.Spec.FaultTolerance, in.JobSet.Status.FaultTolerance = nil, nil
}

func withoutGate(in *Input) { in.Gates.FaultTolerance, in.JobSet.Status.FaultTolerance = false, nil }

func TestPodsMoveOffSickNodes(t *testing.T) {
	t.Parallel()
	spent := budget(3, 0, 3)
	first := "node-of-js-w-0-0"
	waits := func(left time.Duration) func(*summary) {
		return func(w *summary) { w.Moving, w.RequeueAfter = true, left }
	}
	since := func(ago time.Duration) func(*Input) {
		return func(in *Input) { in.SickNodes.Since = now.Add(-ago) }
	}
	spentMessage := func(in *Input) {
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(jobset.JobSetOnSickNodes, true, "MoveRefused", "js-w-0-0 stays", past))
	}
	leaves := func(w *summary) { // and is looked at again when it should have stopped for too long (P85)
		assembling(w)
		w.RequeueAfter = 10*time.Second + 10*time.Minute
	}
	started := onJob(0, func(job *batchv1.Job) { job.Status.StartTime = ptr.To(metav1Time(past)) })
	notWatched := builders.Condition(jobset.JobSetUnhealthy, false, "NotWatched", "the JobSet has ended, is reset or suspended, or its group restarts in place", now)
	movesUnhealthy := func(w *summary) {
		movesByReset(strings.ReplaceAll(oneSick, "js-w-0-1", "js-w-0-0"), "")(w)
		w.Status.Conditions = append([]metav1.Condition{notWatched}, w.Status.Conditions...)
	}
	resetsUnhealthy := func(w *summary) {
		message := "applying RestartJobSet failure policy action (1 of 2 Pods are Failed and not replaced for more than 1m0s)"
		w.Status.Restarts, w.Status.RestartsCountTowardsMax, w.Restart = 1, 1, jobset.RestartJobSet
		w.Status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: metav1Time(now)}
		w.Status.Conditions = []metav1.Condition{notWatched, builders.Condition(jobset.JobSetRestarting, true, "PodsFailed", message, now)}
		w.Events = []Event{{Type: "Warning", Reason: "PodsFailed", Message: message}, {Type: "Warning", Reason: "RestartJobSetFailurePolicyAction", Message: message}}
		w.Outcomes = []Outcome{WasReset}
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P92: a healthy node moves nobody":                                    {inPlace(0, 1, "1 1", gpus), nil},
		"P92: nor does a sick one that holds none of the Pods":                {inPlace(0, 1, "1 1", marked("another")), nil},
		"P92: a Pod that does not request the resource stays":                 {inPlace(0, 1, "1 1", marked(second), onJob(0, withoutGPU)), nil},
		"P92: in place, intent comes first, uncharged":                        {inPlace(0, 1, "1 1", marked(second)), movesByRestart(oneSick)},
		"P92: many nodes are one move":                                        {inPlace(0, 1, "1 1", marked(first, second)), movesByRestart(bothSick)},
		"P92a: soon after a move a label has to last for a minute":            {inPlace(0, 1, "1 1", marked(second), movedAgo(9*time.Minute), since(time.Second)), waits(59 * time.Second)},
		"P92a: one that lasts moves them":                                     {inPlace(0, 1, "1 1", marked(second), movedAgo(9*time.Minute), since(time.Minute)), movesByRestart(oneSick)},
		"P92a: so it is with a reset":                                         {inPlace(0, 0, "_ _", marked(second), strategy(jobset.Recreate), movedAgo(time.Second), justMarked), waits(time.Minute)},
		"P92a: ten minutes after a move any label moves them":                 {inPlace(0, 1, "1 1", marked(second), movedAgo(10*time.Minute), since(time.Second)), movesByRestart(oneSick)},
		"P92a: the move that is under way goes on":                            {inPlace(1, 1, "1 1", marked(second), movedAgo(time.Second), justMarked), movesByDeletion(oneSick, "js-w-0-1")},
		"P92: which waits a second for more of them":                          {inPlace(0, 1, "1 1", marked(second), justMarked), waits(time.Second)},
		"P92: and no longer":                                                  {inPlace(0, 1, "1 1", marked(second), since(900*time.Millisecond)), waits(100 * time.Millisecond)},
		"P92: then the Pods are deleted, and the others are left alone":       {inPlace(1, 1, "1 1", marked(second)), movesByDeletion(oneSick, "js-w-0-1")},
		"P92: the barrier is not lifted over a Pod that has to move":          {inPlace(1, 1, "2 2", marked(second)), movesByDeletion(oneSick, "js-w-0-1")},
		"P92: at the first start as well":                                     {inPlace(0, 0, "1 1", marked(second)), movesByDeletion(oneSick, "js-w-0-1")},
		"P92: while the group assembles nobody waits for more":                {inPlace(1, 1, "1 1", marked(second), justMarked), movesByDeletion(oneSick, "js-w-0-1")},
		"P92: a Pod that is leaving is not deleted again":                     {inPlace(1, 1, "2 t1", marked(second)), leaves},
		"P92: one that has succeeded stays":                                   {inPlace(0, 1, "1 ok1", marked(second)), nil},
		"P92: once it has gone, the others run with the one in its place":     {inPlace(1, 1, "2 2", gpus), lifted(2)},
		"P14, P92: a failure has its own restart, which is charged":           {inPlace(0, 1, "2 1", marked(second)), broken(1, "worker pod js-w-0-0 restarted, its exit code was not seen")},
		"P14, P92: a loss is confirmed first":                                 {inPlace(0, 1, ". 1", marked(second)), func(w *summary) { w.Confirm, w.CountsInterval = "js-w-0[0]", 0 }},
		"P10, P92: a Job that is about to fail comes first":                   {inPlace(0, 1, "1 1", marked(second), onJob(0, withCondition(batchv1.JobFailureTarget))), nil},
		"P92: four Pods of a Job that failed are replaced in 80 seconds":      {inPlace(0, 1, "1 1", marked(second), onJob(0, podsFailed(3))), movesByRestart(oneSick)},
		"P92: five in 160 seconds, so that a reset is faster":                 {inPlace(0, 1, "1 1", marked(second), onJob(0, podsFailed(4))), movesByReset(oneSick, slow)},
		"P92: also while the group assembles":                                 {inPlace(1, 1, "1 1", marked(second), onJob(0, podsFailed(4))), movesByReset(oneSick, slow)},
		"P92: failures of another Job do not make it slower":                  {inPlace(0, 1, "1 1|1 1", marked(second), onJob(1, podsFailed(9))), movesByRestart(oneSick)},
		"P92: a budget that is spent refuses the restart":                     {inPlace(0, 1, "1 1", marked(second), spent), refused(where(second))},
		"P92: while the group assembles anyway no restart is needed":          {inPlace(1, 1, "1 1", marked(second), spent), movesByDeletion(oneSick, "js-w-0-1")},
		"P92: a Job that does not keep away could come back: a reset":         {inPlace(0, 1, "1 1", marked(second), onJob(0, withoutAffinity)), movesByReset(oneSick, builtBefore)},
		"P92: a reset of a group that assembles":                              {inPlace(1, 1, "1 1", marked(second), onJob(0, withoutAffinity)), movesByReset(oneSick, builtBefore)},
		"P92: a reset waits for more nodes, and the barrier for the reset":    {inPlace(1, 1, "2 2", marked(second), onJob(0, withoutAffinity), justMarked), waits(time.Second)},
		"P92: a group that lacks a worker which succeeded cannot come back":   {inPlace(0, 1, "ok1 1", marked(second)), movesByReset(oneSick, "worker pod js-w-0-0 succeeded in epoch 1")},
		"P92: a spent budget refuses a reset":                                 {inPlace(0, 1, "1 1", marked(second), onJob(0, withoutAffinity), spent), refused(where(second))},
		"P92: a reset, with strategy Recreate":                                {inPlace(0, 0, "_ _", marked(second), strategy(jobset.Recreate)), movesByReset(oneSick, "")},
		"P80, P92: as have Pods that lack for too long":                       {inPlace(0, 0, "_ F_", marked(first), strategy(jobset.Recreate), started, unhealthySince(time.Minute)), resetsUnhealthy},
		"P80, P92: but a move does not wait for Pods that may still heal":     {inPlace(0, 0, "_ F_", marked(first), strategy(jobset.Recreate), started, unhealthySince(time.Second)), movesUnhealthy},
		"P92: with strategy BlockingRecreate, many nodes are one move":        {inPlace(0, 0, "_ _", marked(first, second), strategy(jobset.BlockingRecreate)), movesByReset(bothSick, "")},
		"P92: with strategy Recreate it waits a second for more nodes":        {inPlace(0, 0, "_ _", marked(second), strategy(jobset.Recreate), justMarked), waits(time.Second)},
		"P92: a budget that is spent refuses it":                              {inPlace(0, 0, "_ _", marked(second), strategy(jobset.Recreate), spent), refused(where(second))},
		"P20, P92: a group that a user looks after himself is not moved":      {inPlace(0, 1, "1 1", marked(second), disabled), nil},
		"P92: a JobSet without faultTolerance is not moved":                   {inPlace(0, 1, "1 1", marked(second), withoutTolerance), nil},
		"P92: gate off, nobody is moved":                                      {inPlace(0, 1, "1 1", marked(second), withoutGate), nil},
		"P84, P92: a JobSet that is suspended is not moved":                   {inPlace(1, 1, "1 1", marked(second), suspend, suspendedAlready), nil},
		"P92: what was refused is over when the node is healthy":              {inPlace(0, 1, "1 1", gpus, spent, spentMessage), over},
		"P92: what is told is not told again when other Pods of the node end": {inPlace(0, 1, "1 1", marked(second), spent, reportedOnNodes(where(second))), nil},
		"P92: but another node that is marked, is":                            {inPlace(0, 1, "1 1", marked(first, second), spent, reportedOnNodes(where(second))), refusedStill(where(first) + ", " + where(second)[len(" on "):])},
		"P92: and when the budget is raised the Pods move":                    {inPlace(0, 1, "1 1", marked(second), spentMessage), func(w *summary) { movesByRestart(oneSick)(w); over(w) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkMove(t, tc.in, tc.want)
		})
	}
}

// TestWhatWasRefusedEndsUnwatched: where Pods are not moved for another reason than the budget, the condition does not say
// that none has to leave its node.
func TestWhatWasRefusedEndsUnwatched(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		happens func(*Input)
		status  metav1.ConditionStatus
		reason  string
	}{
		"P89: faultTolerance is removed":                        {func(in *Input) { in.JobSet.Spec.FaultTolerance = nil }, metav1.ConditionUnknown, "FaultToleranceOff"},
		"P89: its gate goes off":                                {func(in *Input) { in.Gates.FaultTolerance = false }, metav1.ConditionUnknown, "FaultToleranceOff"},
		"P20, P92: a user looks after the group himself":        {disabled, metav1.ConditionFalse, "NotWatched"},
		"P92: the JobSet is suspended":                          {suspend, metav1.ConditionFalse, "NotWatched"},
		"P92: the JobSet fails, while its Pods are still there": {onJob(0, failed), metav1.ConditionFalse, "NotWatched"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inPlace(0, 1, "1 1", marked(second), budget(3, 0, 3), reportedOnNodes(where(second)), tc.happens)
			c := apimeta.FindStatusCondition(decideOnce(t, in).Status.Conditions, string(jobset.JobSetOnSickNodes))
			if c.Status != tc.status || c.Reason != tc.reason {
				t.Errorf("OnSickNodes is %s because of %s: %s; want %s, %s", c.Status, c.Reason, c.Message, tc.status, tc.reason)
			}
		})
	}
}

// checkMove is check, of a JobSet whose ResourcesDeployed stays as it is (P86), and whose clock runs as long as the group
// is waited for, from now on (P24, P80).
func checkMove(t *testing.T, in Input, want func(*summary)) {
	t.Helper()
	check(t, in, func(w *summary) {
		w.Status.Conditions = slices.DeleteFunc(w.Status.Conditions, isDeployed)
		if want != nil {
			want(w)
		}
		w.Status.Conditions = append([]metav1.Condition{deployed()}, w.Status.Conditions...)
		watched := restartsInPlaceByPolicy(in.JobSet) && in.Gates.FaultTolerance && in.JobSet.Spec.FaultTolerance != nil && in.JobSet.Spec.Suspend == nil
		if ptr.Deref(w.Status.DeprecatedEpoch, 0) == ptr.Deref(w.Status.SyncedEpoch, 0) && watched && w.Confirm == "" {
			w.Status.AssemblingSince = ptr.To(metav1Time(now))
		}
	})
}

func isDeployed(c metav1.Condition) bool { return c.Type == string(jobset.JobSetResourcesDeployed) }
