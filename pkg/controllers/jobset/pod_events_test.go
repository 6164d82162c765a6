/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func workers() (*jobset.JobSet, *batchv1.Job) {
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(0, 1).
		ReplicatedJob(builders.MakeReplicatedJob("w").Workers(2)).Obj()
	return js, builders.MakeJob(js, "w", 0).Workers(2).Obj()
}

func exit(name string, code int32, second int) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, FinishedAt: metav1.NewTime(now.Add(time.Duration(second) * time.Second)),
	}}}
}

// shows sets the statuses of containers that ended. The agent is an init container.
func shows(restarting bool, containers ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeName = "n1"
		for _, c := range containers {
			if c.Name == "agent" {
				pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, c)
			} else {
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, c)
			}
		}
		if restarting {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue}}
		}
	}
}

func TestMatters(t *testing.T) {
	t.Parallel()
	_, job := workers()
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"P22: nothing":                         {func(*corev1.Pod) {}, false},
		"P22: a label":                         {func(p *corev1.Pod) { p.Labels["x"] = "y" }, false},
		"P22, C304: another annotation":        {func(p *corev1.Pod) { p.Annotations["x"] = "y" }, false},
		"P137: the progress of a worker":       {func(p *corev1.Pod) { p.Annotations[jobset.ProgressKey] = "{}" }, false},
		"P22, P66: how a worker ended":         {func(p *corev1.Pod) { p.Annotations[jobset.WorkerExitKey] = "{}" }, false},
		"P22, C286: a container ended":         {shows(true, exit("worker", 1, 0)), false},
		"P22, C304: readiness":                 {func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady}} }, false},
		"P22: another finalizer":               {func(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, "x") }, false},
		"P45: its only container ended with 0": {shows(false, exit("worker", 0, 0)), true},
		"P45: one of its containers did, and one runs": {func(p *corev1.Pod) {
			shows(false, exit("worker", 0, 0), corev1.ContainerStatus{Name: "logs"})(p)
		}, false},
		"P74: its sandbox is gone": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(now)}}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Unknown"}}}}
		}, true},
		"P74: it has none yet": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(now)}}
		}, false},
		"P22: the phase":                           {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		"P22: the deletion":                        {func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }, true},
		"P22: the epoch":                           {func(p *corev1.Pod) { p.Annotations[jobset.EpochKey] = "2" }, true},
		"P22: the finalizer of the Job controller": {func(p *corev1.Pod) { p.Finalizers = nil }, true},
		"P22: another Pod of that name":            {func(p *corev1.Pod) { p.UID = "other" }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := builders.MakePod(job, 0).Epoch("1").Obj()
			pod := old.DeepCopy()
			tc.change(pod)
			if got := matters(facts.Of(old), facts.Of(pod)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
	t.Run("P22: the end of a grace that moves", func(t *testing.T) {
		t.Parallel()
		old, sooner := builders.MakePod(job, 0).Terminating(now.Add(time.Minute)).Obj(), builders.MakePod(job, 0).Terminating(now).Obj()
		if !matters(facts.Of(old), facts.Of(sooner)) {
			t.Error("got false, want true")
		}
	})
}

func TestPodEvents(t *testing.T) {
	t.Parallel()
	js, job := workers()
	recreate := js.DeepCopy()
	recreate.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
	assembling := js.DeepCopy()
	assembling.Status.DeprecatedEpoch = ptr.To[int32](1)
	pod := func(epoch string) *builders.PodWrapper { return builders.MakePod(job, 0).Epoch(epoch) }
	failing := func(epoch string) *corev1.Pod {
		return withContainers(pod(epoch).Change(shows(true, exit("worker", 7, 0))).Obj())
	}
	deleted := pod("1").Terminating(now).Obj()
	failed := func() *corev1.Pod {
		return withContainers(pod("1").Phase(corev1.PodFailed).Change(shows(false, exit("worker", 7, 0))).Obj())
	}
	disabled := js.DeepCopy()
	disabled.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: ""}
	gateWasOff := js.DeepCopy()
	gateWasOff.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, true, "", "", now)}
	told := js.DeepCopy()
	told.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetWorkersNotReady, true, "", "", now)}
	unready := func(epoch string, reasons ...string) *corev1.Pod {
		return withContainers(pod(epoch).Change(func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			for _, reason := range reasons {
				pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
					Name: "worker", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}})
			}
		}).Obj())
	}
	const ofEpoch1 = `{"container":"worker","epoch":1,"code":7}`
	exited := func(epoch, exit string) *corev1.Pod {
		return pod(epoch).Annotation(jobset.WorkerExitKey, exit).Change(func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" }).Obj()
	}
	stray := func(pod *corev1.Pod) *corev1.Pod {
		pod.OwnerReferences[0].UID = "another"
		return pod
	}
	seen := &policy.Failure{Pod: "js-w-0-0", Container: "worker", ExitCode: 7, Node: "n1"}
	tests := map[string]struct {
		js       *jobset.JobSet
		old, pod *corev1.Pod
		wakes    bool
		failure  *policy.Failure
	}{
		"P22: a new Pod wakes":                                          {js, nil, pod("1").Obj(), true, nil},
		"C4, P22: a report wakes":                                       {js, pod("1").Obj(), pod("2").Obj(), true, nil},
		"C4, P22: what is not read wakes no JobSet":                     {js, pod("1").Obj(), pod("1").Annotation("x", "y").Obj(), false, nil},
		"C4, P22, C307: Pods of other strategies wake no JobSet":        {recreate, pod("1").Obj(), pod("2").Obj(), false, nil},
		"C373: a worker that is not ready any more wakes":               {js, pod("1").Obj(), unready("1"), true, nil},
		"C373: one that says why it cannot start wakes":                 {js, unready("1"), unready("1", "ErrImagePull"), true, nil},
		"C373: the same, said in other words, wakes no JobSet":          {js, unready("1", "ErrImagePull"), unready("1", "ImagePullBackOff"), false, nil},
		"C373, P22: one that becomes ready wakes no JobSet":             {js, unready("1"), pod("1").Obj(), false, nil},
		"C373: but when it was told that some are not":                  {told, unready("1"), pod("1").Obj(), true, nil},
		"C373, P22: who is held at the barrier wakes no JobSet":         {js, pod("2").Obj(), unready("2", "ErrImagePull"), false, nil},
		"P22: a Pod without the label wakes no JobSet":                  {js, nil, pod("1").Change(func(p *corev1.Pod) { p.Labels = nil }).Obj(), false, nil},
		"C269: a Pod of an earlier JobSet of that name wakes no JobSet": {js, nil, pod("1").Change(func(p *corev1.Pod) { p.Labels[jobset.JobSetUIDKey] = "old" }).Obj(), false, nil},
		"P21: a failure is caught though it wakes no JobSet":            {js, pod("1").Obj(), failing("1"), false, seen},
		"P21: a failure in an earlier epoch is not of this one":         {js, nil, failing("0"), true, nil},
		"P21: a failure before a report is not of this epoch":           {js, pod("2").Obj(), failing("2"), false, nil},
		"P21: the end of an earlier epoch, shown beside the new one":    {js, failing("0"), failing("1"), true, nil},
		"P21: the same end, shown again":                                {js, failing("1"), failing("1"), false, nil},
		"P21: a restart that was there before we looked":                {js, nil, failing("1"), true, nil},
		"P21: a Pod fails": {js, pod("1").Obj(), failed(), true, seen},
		"P21: one that failed at the barrier, before the lift":  {js, nil, failed(), true, nil},
		"P21: one that failed at the barrier is told to go":     {js, failed(), deletedToo(failed()), true, nil},
		"P21: a Pod is deleted":                                 {js, pod("1").Obj(), deleted, true, &policy.Failure{Pod: "js-w-0-0", Deleted: true}},
		"P66: a worker that failed is told with the next epoch": {js, pod("1").Obj(), exited("2", ofEpoch1), true, seen},
		"P66: or before it":                                     {js, pod("1").Obj(), exited("1", ofEpoch1), false, seen},
		"P66: the same report again":                            {js, exited("1", ofEpoch1), exited("1", ofEpoch1), false, nil},
		"P66: a report of another epoch":                        {js, pod("1").Obj(), exited("2", `{"container":"worker","epoch":2,"code":7}`), true, nil},
		"P66: a worker that was told to end":                    {js, pod("1").Obj(), exited("2", `{"container":"worker","epoch":1,"code":7,"stopped":true}`), true, nil},
		"P66: a Pod that has not run in this epoch":             {js, pod("2").Obj(), exited("2", ofEpoch1), false, nil},
		"P66: a report that was there before we looked":         {js, nil, exited("2", ofEpoch1), true, nil},
		"P66: while assembling workers are meant to end":        {assembling, pod("1").Obj(), exited("2", ofEpoch1), true, nil},
		"P10, P21: a Pod of a Job that is gone is nothing":      {js, stray(pod("1").Obj()), stray(failing("1")), false, nil},
		"P20: while the annotation is there no group waits":     {disabled, pod("1").Obj(), failing("1"), false, nil},
		"P20: while the gate was off no group waits":            {gateWasOff, pod("1").Obj(), failing("1"), false, nil},
		"P21: while assembling containers are meant to end":     {assembling, pod("1").Obj(), failing("1"), false, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, tc.js, job)
			handler := &podEvents{reader: s.Fake, memory: s.memory, gates: gates.Set{InPlaceRestart: true}}
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			if tc.old == nil {
				handler.Create(t.Context(), event.CreateEvent{Object: facts.Of(tc.pod)}, queue)
			} else {
				handler.Update(t.Context(), event.UpdateEvent{ObjectOld: facts.Of(tc.old), ObjectNew: facts.Of(tc.pod)}, queue)
			}
			if got := queue.Len() > 0; got != tc.wakes {
				t.Errorf("wakes %v, want %v", got, tc.wakes)
			}
			if diff := cmp.Diff(tc.failure, s.memory.forJobSet(tc.js).firstFailure.in(1)); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
	for name, tc := range map[string]struct {
		job  *batchv1.Job
		pod  *corev1.Pod
		want *policy.Failure
	}{
		"P21, P22: a Pod that is gone wakes, and was deleted by force": {job, pod("1").Obj(), &policy.Failure{Pod: "js-w-0-0", Deleted: true}},
		"P21, P22: a Failed Pod that is gone wakes, and is no cause":   {job, failed(), nil},
		"P21, P22: a Pod that was told to go, and went, wakes":         {job, deleted, nil},
		"P10, P21: a Pod that its Job does not need any more":          {doneEarly(job), pod("1").Obj(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, js, tc.job)
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			(&podEvents{reader: s.Fake, memory: s.memory, gates: gates.Set{InPlaceRestart: true}}).Delete(t.Context(), event.DeleteEvent{Object: facts.Of(tc.pod)}, queue)
			if queue.Len() != 1 {
				t.Errorf("%d in the queue, want 1", queue.Len())
			}
			if diff := cmp.Diff(tc.want, s.memory.forJobSet(js).firstFailure.in(1)); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
}

func deletedToo(pod *corev1.Pod) *corev1.Pod {
	pod.DeletionTimestamp = ptr.To(metav1.NewTime(now))
	return pod
}

// doneEarly returns a Job that has met its success policy while Pods run.
func doneEarly(job *batchv1.Job) *batchv1.Job {
	done := job.DeepCopy()
	done.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}}
	return done
}
