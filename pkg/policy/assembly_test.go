/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/tolerance"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const period = 10 * time.Minute

// sinceAgo lets the group come together since some time; Pods without a node wait for one.
func sinceAgo(ago time.Duration, changes ...func(*Input)) func(*Input) {
	return func(in *Input) {
		in.Deadlines.Assembly, in.Deadlines.Preparation = period, time.Hour
		if ago > 0 {
			in.JobSet.Status.AssemblingSince = ptr.To(metav1.NewTime(now.Add(-ago)))
		}
		editAll(in, func(pod *corev1.Pod) {
			pod.Spec.NodeName = "node-of-" + pod.Name
			pod.CreationTimestamp = metav1.NewTime(past)
		})
		for _, change := range changes {
			change(in)
		}
	}
}

func onPod(job, i int, change func(*corev1.Pod)) func(*Input) {
	return func(in *Input) { edit(in.Pods[in.Jobs[job].UID][i], change) }
}

// pulls: the kubelet gives this reason for the second worker, whose Pod has a sandbox.
func pulls(reason string) func(*Input) {
	return onPod(0, 1, func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodPending
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
	})
}

// stopsFor: workers have so long between SIGTERM and SIGKILL.
func stopsFor(grace time.Duration) func(*Input) {
	return func(in *Input) {
		policy := in.JobSet.Spec.FailurePolicy
		if policy.InPlaceRestart == nil {
			policy.InPlaceRestart = &jobset.InPlaceRestartPolicy{}
		}
		policy.InPlaceRestart.StopGracePeriodSeconds = ptr.To(int32(grace / time.Second))
	}
}

// TestWarmupLeavesWorkersTheirGrace: with spec.faultTolerance the period is another, and the grace the same (P24a, P80).
func TestWarmupLeavesWorkersTheirGrace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pods string
		want int
	}{
		"P24a, P80: one that shows S":               {"2 1", 0},
		"P24a, P80: one that came since, and hangs": {"2 _", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inPlace(1, 1, tc.pods, sinceAgo(90*time.Second), supervised, stopsFor(time.Hour))
			in.Gates.FaultTolerance, in.Tolerance = true, tolerance.Builtin()
			in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, deployed())
			in.JobSet.Spec.FaultTolerance = &jobset.FaultTolerance{WarmupGracePeriodSeconds: ptr.To[int32](60)}
			in.JobSet.Status.FaultTolerance = &jobset.FaultToleranceStatus{MaxRestarts: 3, CompleteAttempt: ptr.To[int64](0)}
			if got := len(decideOnce(t, in).Of(DeletePod)); got != tc.want {
				t.Errorf("%d deletions of Pods, want %d", got, tc.want)
			}
		})
	}
}

func TestGroupsThatDoNotComeTogether(t *testing.T) {
	t.Parallel()
	assembling := func(w *summary) { w.CountsInterval = time.Second }
	waits := func(left time.Duration) func(*summary) {
		return func(w *summary) { assembling(w); w.RequeueAfter = left }
	}
	stands := func(left time.Duration) func(*summary) {
		return func(w *summary) { assembling(w); w.RequeueAfter, w.ClockStands = left, true }
	}
	stood := func(ago time.Duration) func(*Input) { return func(in *Input) { in.Clock.Stood = ago } }
	ledFor := func(ago time.Duration) func(*Input) { return func(in *Input) { in.Clock.LedSince = now.Add(-ago) } }
	stuckMessage := fmt.Sprintf("worker pod js-w-0-1 on node node-of-js-w-0-1 should have stopped by %s and still exists; its slot stays empty until it is gone. "+
		"If its node is lost, taint the node with node.kubernetes.io/out-of-service or delete the Node object", now.Format(time.RFC3339))
	deletes := func(missing, of, epoch int, who string, pods ...string) func(*summary) {
		return func(w *summary) {
			waits(9 * time.Minute)(w)
			w.Pods = pods
			names := ""
			for i, pod := range pods {
				if i > 0 {
					names += ", "
				}
				names += pod
			}
			w.Told = []Event{{Type: "Warning", Reason: "WorkersMissing", Message: fmt.Sprintf(
				"%d of %d workers have not reported epoch %d within 10m0s (%s); their Pods are deleted to be recreated: %s", missing, of, epoch, who, names)}}
		}
	}
	clock := func(since time.Time) func(*summary) {
		return func(w *summary) { w.Status.AssemblingSince = ptr.To(metav1.NewTime(since)) }
	}
	recreates := func(missing, of, epoch int, pods string) func(*summary) {
		return func(w *summary) {
			assembling(w)
			restartsBy("DefaultFailurePolicy", jobset.RestartJobSet, 1, "")(w)
			message := fmt.Sprintf("applying RestartJobSet failure policy action (%d of %d workers have not reported epoch %d within 20m0s: %s)", missing, of, epoch, pods)
			w.Events = w.Events[1:] // that it restarts for this reason was told by the restart before
			w.Status.Conditions[0].Message, w.Events[0].Message = message, message
			clock(now)(w)
		}
	}
	fresh := onPod(0, 1, func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now) })
	unscheduled := onPod(0, 1, func(pod *corev1.Pod) { pod.Spec.NodeName = "" })
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P24: the clock starts with the first start": {inPlace(0, 0, "1 _", sinceAgo(0)), func(w *summary) { assembling(w); clock(now)(w) }},
		"P24: the clock starts with the break": {inPlace(0, 1, "2 1", sinceAgo(0)), func(w *summary) {
			broken(1, reported)(w)
			clock(now)(w)
		}},
		"P24: the clock stops with the lift": {inPlace(1, 1, "2 2", sinceAgo(time.Minute)), func(w *summary) {
			assembling(w)
			lifted(2)(w)
			w.Status.AssemblingSince = nil
		}},
		"P24: nobody is waited for while the JobSet is suspended": {inPlace(1, 1, "2 1", sinceAgo(time.Hour, suspend), onJob(0, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) })), func(w *summary) {
			isSuspended(w)
			w.Status.AssemblingSince = nil
		}},
		"P24: nobody is waited for while agents pass through": {inPlace(1, 1, "2 1", sinceAgo(time.Hour, disabled)), func(w *summary) { w.Status.AssemblingSince = nil }},
		"P24: the first period is not over":                   {inPlace(1, 1, "2 1", sinceAgo(4*time.Minute)), waits(6 * time.Minute)},
		"P24: without a period the group waits indefinitely, and no clock is left behind": {inPlace(1, 1, "2 1", sinceAgo(time.Hour), func(in *Input) { in.Deadlines.Assembly = 0 }), func(w *summary) {
			assembling(w)
			w.Status.AssemblingSince = nil
		}},
		"P24: after a period who has not reported is deleted": {inPlace(1, 1, "2 1 _", sinceAgo(11*time.Minute)), deletes(2, 3, 2, "2 Member: js-w-0-1, js-w-0-2", "js-w-0-1", "js-w-0-2")},
		"P24a: one that shows S has its grace, too": {inPlace(1, 1, "2 1 _", sinceAgo(11*time.Minute), supervised, stopsFor(5*time.Minute)), func(w *summary) {
			deletes(2, 3, 2, "2 Member: js-w-0-1, js-w-0-2", "js-w-0-2")(w)
			w.RequeueAfter = 4 * time.Minute
		}},
		"P24a: and no longer": {inPlace(1, 1, "2 1", sinceAgo(15*time.Minute), supervised, stopsFor(5*time.Minute)), func(w *summary) {
			deletes(1, 2, 2, "1 Member: js-w-0-1", "js-w-0-1")(w)
			w.RequeueAfter = 10 * time.Minute
		}},
		"P24a: who replaces one that stopped for so long is not late": {inPlace(1, 1, "2 .", sinceAgo(20*time.Minute), supervised, stopsFor(5*time.Minute)), waits(5 * time.Minute)},
		"P24a, P34b: so has one that shows an older epoch":            {inPlace(2, 2, "3 1", sinceAgo(11*time.Minute), supervised, stopsFor(5*time.Minute)), waits(4 * time.Minute)},
		"P24a: nor in container mode":                                 {inPlace(1, 1, "2 1", sinceAgo(11*time.Minute), stopsFor(5*time.Minute)), deletes(1, 2, 2, "1 Member: js-w-0-1", "js-w-0-1")},
		"P24a: nor are all Jobs recreated in a grace":                 {inPlace(1, 1, "2 1", sinceAgo(20*time.Minute), supervised, stopsFor(time.Hour)), waits(50 * time.Minute)},
		"P24: one that came since is not deleted again":               {inPlace(1, 1, "2 _", sinceAgo(11*time.Minute, fresh)), waits(9 * time.Minute)},
		"P24: one that waits for a node is not deleted":               {inPlace(1, 1, "2 _", sinceAgo(11*time.Minute, unscheduled)), stands(30 * time.Second)},
		"P24: after two periods all Jobs are recreated":               {inPlace(1, 1, "2 _", sinceAgo(20*time.Minute, afterFullRestart)), recreates(1, 2, 2, "1 Member: js-w-0-1")},
		"P24: after two periods, and its Pod is not there":            {inPlace(1, 1, "2 .", sinceAgo(20*time.Minute, afterFullRestart)), recreates(1, 2, 2, "1 Lost: index 1 of Job js-w-0")},
		"P24: a Pod stays on a lost node: the clock starts over": {inPlace(1, 1, "2 T1 _", sinceAgo(11*time.Minute)), func(w *summary) {
			deletes(2, 3, 2, "1 Member: js-w-0-2; 1 Lost: js-w-0-1", "js-w-0-2")(w)
			w.RequeueAfter = period
			w.Events = []Event{{Type: "Warning", Reason: "WorkersStuck", Message: stuckMessage}}
			clock(now)(w)
		}},
		"P24: one that came late has a period of its own": {inPlace(1, 1, "2 _", sinceAgo(time.Hour, fresh)), waits(10*time.Minute + time.Second)},
		"P24: a replacement is not late at the deadline that its predecessor missed": {inPlace(1, 1, "2 _", sinceAgo(10*time.Minute+20*time.Second,
			onPod(0, 1, func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now.Add(-time.Second)) })), stood(20*time.Second)), func(w *summary) {
			waits(10 * time.Minute)(w)
			clock(now.Add(-10 * time.Minute))(w)
			w.ClockMoved = 20 * time.Second
		}},
		"P24: one that waits for a node is waited for":                 {inPlace(1, 1, "2 _", sinceAgo(time.Hour, unscheduled)), stands(30 * time.Second)},
		"P48: while a Pod is inside its own grace nobody is deleted":   {inPlace(1, 1, "2 t1 _", sinceAgo(11*time.Minute)), stands(10 * time.Second)},
		"P48: nor are all Jobs recreated":                              {inPlace(1, 1, "2 t1", sinceAgo(time.Hour)), stands(10 * time.Second)},
		"P48: a Failed Pod that is not counted yet is waited for":      {inPlace(1, 1, "2 f1", sinceAgo(time.Hour)), stands(0)},
		"P48: a Pod that leaves beside its replacement stops no clock": {inPlace(1, 1, "2 _", sinceAgo(4*time.Minute), more(0, 0, "t1")), waits(6 * time.Minute)},
		"P48: one that has reported and has no node does not either":   {inPlace(1, 1, "_ 2", sinceAgo(4*time.Minute, unscheduled)), waits(6 * time.Minute)},
		"P48: a Pod that pulls images is not deleted":                  {inPlace(1, 1, "2 _", sinceAgo(11*time.Minute, pulls("PodInitializing"))), stands(30 * time.Second)},
		"P24 P48: nor in process mode":                                 {inPlace(1, 1, "2 _", sinceAgo(time.Hour, pulls("PodInitializing"), supervised)), stands(30 * time.Second)},
		"P48: nor are all Jobs recreated because of it":                {inPlace(1, 1, "2 _", sinceAgo(time.Hour, pulls("ContainerCreating"))), stands(30 * time.Second)},
		"P48: one whose image has a wrong name stops no clock":         {inPlace(1, 1, "2 _", sinceAgo(11*time.Minute, pulls("InvalidImageName"))), deletes(1, 2, 2, "1 Member: js-w-0-1", "js-w-0-1")},
		"P48: time that stood does not count":                          {inPlace(1, 1, "2 t1", sinceAgo(time.Hour), stood(55*time.Minute)), stands(10 * time.Second)},
		"P48: the clock goes on from where it stood: it moves by whole seconds": {inPlace(1, 1, "2 1", sinceAgo(time.Hour), stood(54*time.Minute+time.Second/2)), func(w *summary) {
			waits(4*time.Minute + time.Second/2)(w)
			clock(now.Add(-6 * time.Minute))(w)
			w.ClockMoved = 54 * time.Minute
		}},
		"P48: it is moved and not reset: a Pod that crashes again and again is late": {inPlace(1, 1, "2 _", sinceAgo(16*time.Minute), stood(5*time.Minute)), func(w *summary) {
			deletes(1, 2, 2, "1 Member: js-w-0-1", "js-w-0-1")(w)
			clock(now.Add(-11 * time.Minute))(w)
			w.ClockMoved = 5 * time.Minute
		}},
		"P48: less than a second moves nothing":          {inPlace(1, 1, "2 1", sinceAgo(4*time.Minute), stood(time.Second/2)), waits(6*time.Minute + time.Second/2)},
		"P48: a manager that just came deletes nobody":   {inPlace(1, 1, "2 1", sinceAgo(15*time.Minute), ledFor(time.Minute)), waits(9 * time.Minute)},
		"P48: nor recreates all Jobs":                    {inPlace(1, 1, "2 1", sinceAgo(time.Hour), ledFor(time.Minute)), waits(9 * time.Minute)},
		"P48: it gives a period from when it led":        {inPlace(1, 1, "2 1", sinceAgo(time.Hour), ledFor(11*time.Minute)), deletes(1, 2, 2, "1 Member: js-w-0-1", "js-w-0-1")},
		"P48: one that has led for long changes nothing": {inPlace(1, 1, "2 1", sinceAgo(4*time.Minute), ledFor(time.Hour)), waits(6 * time.Minute)},
		"P24: a Job that is deleted and stays is told once a period": {inPlace(1, 1, "2 2|2 2", sinceAgo(11*time.Minute), onJob(1, func(job *batchv1.Job) {
			job.DeletionTimestamp, job.Finalizers = ptr.To(metav1.NewTime(past)), []string{"example.com/keep"}
		})), func(w *summary) {
			waits(period)(w)
			w.Events = []Event{{Type: "Warning", Reason: "WorkersStuck", Message: fmt.Sprintf("Job js-w-1 has been terminating since %s, and the group waits for it. Check whether its Pods stop, and what is to remove its finalizers: example.com/keep", past.Format(time.RFC3339))}}
			clock(now)(w)
		}},
		"P24, P15: after two periods the budget is spent": {inPlace(0, 0, "1 _", sinceAgo(time.Hour), budget(3, 0, 3)), func(w *summary) {
			assembling(w)
			failsWith("ReachedMaxRestarts", "jobset failed due to reaching max number of restarts (last failure: 1 of 2 workers have not reported epoch 1 within 20m0s: 1 Member: js-w-0-1)")(w)
			w.Status.AssemblingSince = nil
		}},
		"P24: the gate comes back, and nobody was waited for meanwhile": {inPlace(1, 1, "2 _", sinceAgo(time.Hour), onJobSet(func(js *jobset.JobSet) {
			js.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, true, "FeatureGateDisabled", "m", past)}
		})), func(w *summary) {
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, false, "FeatureGateEnabled", "feature gate InPlaceRestart is on", now)}
			spends(w)
			clock(now)(w)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func TestPodsThatLostNodesHold(t *testing.T) {
	t.Parallel()
	// The Pod of slot 1 should have stopped ten minutes ago.
	held := func(deprecated int32, grace time.Duration, notReady bool) Input {
		return inPlace(deprecated, 1, "2 T1", func(in *Input) {
			in.Deadlines.ForcefulDeletion = grace
			onPod(0, 1, func(pod *corev1.Pod) {
				pod.DeletionTimestamp, pod.Spec.NodeName = ptr.To(metav1.NewTime(now.Add(-10*time.Minute))), "lost"
			})(in)
			in.NotReady = map[string]bool{"lost": notReady}
		})
	}
	assembling := func(w *summary) { w.CountsInterval = time.Second }
	withoutGrace := func(in Input) Input {
		edit(in.Pods[in.Jobs[0].UID][1], func(pod *corev1.Pod) { pod.DeletionGracePeriodSeconds = ptr.To[int64](0) })
		return in
	}
	deleted := func(w *summary) {
		assembling(w)
		w.Pods, w.RequeueAfter = []string{"js-w-0-1!"}, pass.RecheckInterval
		w.Told = []Event{{Type: "Warning", Reason: "ForcefulDeletion",
			Message: "1 worker Pods on nodes that are not ready should have stopped more than 1m0s ago; they are deleted by force: js-w-0-1"}}
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P25: by default it is left to the node":                                           {held(1, 0, true), assembling},
		"P25: a node that is ready is waited for":                                          {held(1, time.Minute, false), assembling},
		"P25: the grace is not over":                                                       {held(1, 12*time.Minute, true), func(w *summary) { assembling(w); w.RequeueAfter = 2 * time.Minute }},
		"P25: it is also if somebody has deleted it without grace, since its Job keeps it": {withoutGrace(held(1, time.Minute, true)), deleted},
		"P25: the grace is over: it is deleted by force":                                   {held(1, time.Minute, true), deleted},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}
