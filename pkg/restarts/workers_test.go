/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func waits(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func runs() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func stops(graceEnds time.Time) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(graceEnds)), ptr.To[int64](30)
	}
}

func since(d time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(ago(d))) }

func crashed(message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "jobset-agent", State: waits("CrashLoopBackOff", "back-off 10s"),
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 64, Message: message}}}
}

// silent is a Pod as kube-controller-manager leaves it when its node stops reporting.
func silent(pod *corev1.Pod) {
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: *since(time.Minute)},
		{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
	}
}

const nodeGone = "its node has stopped reporting; if that machine is off, do not wait until its Pods are evicted, after five minutes: kubectl delete node node-0"

func failed(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 7}}}}
}

func TestWhyAWorkerIsNotBack(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		deprecated, synced int32
		change             func(*corev1.Pod) // of the Pod, which has reported epoch S
		want               Worker
	}{
		"Its Pod waits for a node": {2, 2, func(pod *corev1.Pod) {
			pod.Spec.NodeName = ""
			delete(pod.Annotations, jobset.EpochKey)
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available", LastTransitionTime: *since(time.Minute)}}
		}, Worker{State: Unscheduled, Since: since(time.Minute), Message: "Unschedulable, 0/3 nodes are available"}},
		"Its Pod waits for a node and nobody says why": {2, 2, func(pod *corev1.Pod) {
			pod.Spec.NodeName = ""
			delete(pod.Annotations, jobset.EpochKey)
		}, Worker{State: Unscheduled, Message: "the scheduler has reported no reason"}},
		"The kubelet has not come to its Pod": {2, 2, func(pod *corev1.Pod) {
			delete(pod.Annotations, jobset.EpochKey)
			pod.Status.Phase = corev1.PodPending
		}, Worker{State: Waiting, Node: "node-0", Message: "the kubelet has reported no status yet"}},
		"Its containers are being created": {2, 2, func(pod *corev1.Pod) {
			delete(pod.Annotations, jobset.EpochKey)
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "jobset-agent", State: waits("PodInitializing", "")}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: waits("ContainerCreating", "")}}
		}, Worker{State: Waiting, Node: "node-0", Message: "container worker: ContainerCreating"}},
		"An image cannot be pulled": {2, 2, func(pod *corev1.Pod) {
			delete(pod.Annotations, jobset.EpochKey)
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "jobset-agent", State: waits("ErrImagePull", "not found")}}
		}, Worker{State: Waiting, Node: "node-0", Message: "container jobset-agent: ErrImagePull, not found"}},
		"An init container before the agent runs": {2, 2, func(pod *corev1.Pod) {
			delete(pod.Annotations, jobset.EpochKey)
			pod.Spec.InitContainers = []corev1.Container{{Name: "fetch"}}
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "fetch", State: runs()}}
		}, Worker{State: Waiting, Node: "node-0", Message: "init container fetch has not ended"}},
		"Its agent runs and has not reported": {2, 2, func(pod *corev1.Pod) {
			delete(pod.Annotations, jobset.EpochKey)
			pod.Spec.InitContainers = []corev1.Container{withToken(workerpod.Agent(workerpod.Options{}))}
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "jobset-agent", State: runs()}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: waits("PodInitializing", "")}}
		}, Worker{State: NotReported, Node: "node-0", Message: "runs, its agent has not reported an epoch; see: kubectl logs train-workers-0-0 -c jobset-agent"}},
		"C375: the image of its agent is pulled, after an init container has ended": {2, 2, func(pod *corev1.Pod) {
			delete(pod.Annotations, jobset.EpochKey)
			pod.Status.Phase, pod.CreationTimestamp = corev1.PodPending, *since(time.Minute)
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{
				{Name: "fetch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
				{Name: "jobset-agent", State: waits("PodInitializing", "")},
			}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: waits("PodInitializing", "")}}
		}, Worker{State: Waiting, Node: "node-0", Since: since(time.Minute), Message: "container jobset-agent has not started: its image is pulled, or its volumes are mounted"}},
		"C375: its agent lacks a setting, and said so": {2, 2, func(pod *corev1.Pod) {
			delete(pod.Annotations, jobset.EpochKey)
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{crashed("JOBSET_NAME is not set; add to the agent's env")}
		}, Worker{State: Waiting, Node: "node-0", Message: "container jobset-agent: CrashLoopBackOff, back-off 10s; it exited with code 64 and reported: JOBSET_NAME is not set; add to the agent's env"}},
		"C375: its agent crashed and left no word": {2, 2, func(pod *corev1.Pod) {
			delete(pod.Annotations, jobset.EpochKey)
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{crashed("")}
		}, Worker{State: Waiting, Node: "node-0", Message: "container jobset-agent: CrashLoopBackOff, back-off 10s; it exited with code 64, see: kubectl logs train-workers-0-0 -c jobset-agent --previous"}},
		"C375: its node has stopped reporting while the group assembles": {2, 2, silent,
			Worker{State: NodeSilent, Node: "node-0", Epoch: 2, Since: since(time.Minute), Message: nodeGone}},
		"It is still of the epoch that is to restart": {2, 2, func(*corev1.Pod) {},
			Worker{State: NotReported, Node: "node-0", Epoch: 2, Message: "still of epoch 2, its agent has to restart it"}},
		"The kubelet restarts it": {2, 2, func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue}}
		}, Worker{State: Restarting, Node: "node-0", Epoch: 2, Message: "the kubelet restarts all its containers"}},
		"The kubelet has restarted it once": {2, 2, func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionFalse}}
		}, Worker{State: NotReported, Node: "node-0", Epoch: 2, Message: "still of epoch 2, its agent has to restart it"}},
		"It is ahead of the status": {2, 2, func(pod *corev1.Pod) { pod.Annotations[jobset.EpochKey] = "9" },
			Worker{State: NotReported, Node: "node-0", Epoch: 9, Message: "is ahead of epoch 3, its agent has to restart it"}},
		"Its annotation is no epoch": {2, 2, func(pod *corev1.Pod) { pod.Annotations[jobset.EpochKey] = "x" },
			Worker{State: InvalidEpoch, Node: "node-0", Message: `annotation jobset.sigs.k8s.io/epoch is "x", not a number from 1`}},
		"It restarted and the group still runs": {1, 2, func(pod *corev1.Pod) { pod.Annotations[jobset.EpochKey] = "3" },
			Worker{State: HeldAtBarrier, Node: "node-0", Epoch: 3, Message: "restarted, waits for the others to restart"}},
		"Its Pod is inside its grace": {1, 2, stops(now.Add(20 * time.Second)),
			Worker{State: Terminating, Node: "node-0", Epoch: 2, Since: since(10 * time.Second), Message: "its grace period ends in 20s"}},
		"C375: its Pod is past its grace, and it is said who took it away": {1, 2, func(pod *corev1.Pod) {
			stops(ago(time.Minute))(pod)
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"}}
		}, Worker{State: Terminating, Node: "node-0", Epoch: 2, Since: since(90 * time.Second),
			Message: "DeletionByTaintManager, its grace period ended 60s ago and its node still holds it; if that machine is off: kubectl delete node node-0"}},
		"Its Pod failed and was not counted": {1, 2, failed,
			Worker{State: PodFailed, Node: "node-0", Epoch: 2, Message: "container worker exited with code 7; the Job controller has not counted it yet"}},
		"Its Pod failed and is not replaced": {1, 2, func(pod *corev1.Pod) { failed(pod); pod.Finalizers = nil },
			Worker{State: PodFailed, Node: "node-0", Epoch: 2, Message: "container worker exited with code 7; the Job controller has to replace it"}},
		"Its Pod was evicted": {1, 2, func(pod *corev1.Pod) { pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted" },
			Worker{State: PodFailed, Node: "node-0", Epoch: 2, Message: "Evicted; the Job controller has not counted it yet"}},
		"There is no Pod": {1, 2, nil, Worker{State: NoPod, Message: "the Job controller has not created it; see: kubectl describe job train-workers-0"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := training(1, 1, tc.deprecated, tc.synced).Obj()
			in := running(js, int(tc.synced))
			tc.want.ReplicatedJob = "workers"
			if tc.change == nil {
				in.Pods = nil
			} else {
				tc.want.Pod = "train-workers-0-0"
				tc.change(&in.Pods[0])
			}
			want := &Workers{Total: 1, NotBack: 1, Missing: []Worker{tc.want}}
			if diff := cmp.Diff(want, Of(in).Workers); diff != "" {
				t.Errorf("workers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhenTheJobControllerReplacesAFailedPod(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failures, want string
		tracked        bool
	}{
		"P170: the second of its index":   {"1", "Evicted; the Job controller replaces it in 15s", true},
		"P170: the first":                 {"0", "Evicted; the Job controller replaces it in 5s", true},
		"P170: one that has been counted": {"9", "Evicted; the Job controller has to replace it", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := running(training(1, 1, 2, 2).Obj(), 2)
			in.Jobs[0].Spec.BackoffLimitPerIndex = ptr.To[int32](math.MaxInt32)
			pod := &in.Pods[0]
			pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = tc.failures
			pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: *since(5 * time.Second)}}
			if pod.Status.ContainerStatuses = nil; !tc.tracked {
				pod.Finalizers = nil
			}
			if got := Of(in).Workers.Missing[0].Message; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWhyAWorkerDoesNotRun(t *testing.T) {
	t.Parallel()
	unready := func(statuses ...corev1.ContainerStatus) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: *since(time.Minute)}}
			pod.Status.ContainerStatuses = statuses
		}
	}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   *Worker
	}{
		"C375: it runs": {func(*corev1.Pod) {}, nil},
		"C375: its image cannot be pulled": {unready(corev1.ContainerStatus{Name: "worker", State: waits("ErrImagePull", "not found")}),
			&Worker{State: Blocked, Message: "container worker: ErrImagePull, not found"}},
		"C375: its image is pulled": {unready(corev1.ContainerStatus{Name: "worker", State: waits("PodInitializing", "")}),
			&Worker{State: Starting, Message: "container worker has not started: its image is pulled, or its volumes are mounted"}},
		"C375: its readiness probe fails": {unready(corev1.ContainerStatus{Name: "worker", State: runs()}),
			&Worker{State: Starting, Message: "container worker runs and is not ready"}},
		"C375: its node has stopped reporting": {silent, &Worker{State: NodeSilent, Message: nodeGone}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := running(training(1, 1, 1, 2).Obj(), 2)
			in.JobSet.Status.LastSyncTime = since(time.Hour)
			tc.change(&in.Pods[0])
			want := &Workers{Total: 1, Back: 1}
			if w := tc.want; w != nil {
				w.ReplicatedJob, w.Pod, w.Node, w.Epoch, w.Since = "workers", "train-workers-0-0", "node-0", 2, since(time.Minute)
				want.NotReady = []Worker{*w}
			}
			if diff := cmp.Diff(want, Of(in).Workers); diff != "" {
				t.Errorf("workers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheJobControllerSaysWhyThereIsNoPod(t *testing.T) {
	t.Parallel()
	in := running(training(1, 1, 2, 2).Obj(), 2)
	in.Pods = nil
	about := func(at time.Time, uid types.UID, message string) corev1.Event {
		e := event(at, "FailedCreate", message)
		e.InvolvedObject.UID = uid
		return e
	}
	in.JobEvents = []corev1.Event{
		about(ago(time.Minute), in.Jobs[0].UID, `Error creating: pods "train-workers-0-0-x" is forbidden: error looking up service account research/nobody: serviceaccount "nobody" not found`),
		about(ago(time.Hour), in.Jobs[0].UID, "Error creating: earlier"),
		about(now, "another", "Error creating: not ours"),
	}
	const want = `the Job controller cannot create it: pods "train-workers-0-0-x" is forbidden: error looking up service account research/nobody: serviceaccount "nobody" not found`
	if got := Of(in).Workers.Missing[0].Message; got != want {
		t.Errorf("C375: message is %q, want %q", got, want)
	}
}

func TestARunningGroupSaysWhoDoesNotRun(t *testing.T) {
	t.Parallel()
	in := running(training(1, 2000, 1, 2).Condition(jobset.JobSetRestarting, false, constants.WorkersSyncedReason, "all 2000 workers have reached epoch 2", ago(3*time.Minute)).Obj(), 2)
	in.JobSet.Status.LastSyncTime = since(3 * time.Minute)
	pulling := &in.Pods[1]
	silent(&in.Pods[7])
	pulling.Status.Phase = corev1.PodPending
	pulling.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: *since(time.Hour)}}
	pulling.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: waits("ImagePullBackOff", `Back-off pulling image "registry.example.com/training:v1"`)}}
	r := Of(in)
	golden(t, "notready.txt", Text(&r, false))
}

func TestTheRarestStateComesFirstAndInItTheOldest(t *testing.T) {
	t.Parallel()
	in := running(training(1, 2000, 2, 2).Obj(), 2)
	stops(ago(time.Minute))(&in.Pods[7])
	stops(ago(time.Hour))(&in.Pods[1999])
	r := Of(in)
	if got := []int64{r.Workers.Missing[0].Index, r.Workers.Missing[1].Index, r.Workers.Missing[2].Index}; got[0] != 1999 || got[1] != 7 || got[2] != 0 {
		t.Errorf("C375: the first are %v, want 1999, 7 and then 0", got)
	}
	golden(t, "stuck.txt", Text(&r, false))
}

func TestWorkersAreInTheOrderOfTheSpecAndOfNumbers(t *testing.T) {
	t.Parallel()
	js := training(11, 11, 1, 1).ReplicatedJob(builders.MakeReplicatedJob("evaluator").Replicas(1).Workers(1)).Obj()
	in := running(js, 2)
	for _, slot := range [][2]int{{10, 0}, {2, 10}, {2, 9}} {
		podOf(t, &in, slot[0], slot[1]).Annotations[jobset.EpochKey] = "1"
	}
	in.Pods[len(in.Pods)-1].Annotations[jobset.EpochKey] = "1"
	var got [][3]any
	for _, w := range Of(in).Workers.Missing {
		got = append(got, [3]any{w.ReplicatedJob, w.JobIndex, int(w.Index)})
	}
	want := [][3]any{{"workers", 2, 9}, {"workers", 2, 10}, {"workers", 10, 0}, {"evaluator", 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
}

func TestOnlyJobsAndPodsOfTheJobSetCount(t *testing.T) {
	t.Parallel()
	in := running(training(2, 2, 0, 1).Obj(), 1)
	earlier := training(2, 2, 0, 1).UID("earlier").Obj()
	foreign := builders.MakeJob(earlier, "workers", 0).UID("foreign").Workers(9).Obj()
	in.Jobs = append(in.Jobs, *foreign)
	in.Pods = append(in.Pods, *builders.MakePod(foreign, 0).Obj())
	orphan := *builders.MakePod(&in.Jobs[0], 0).Name("orphan").Epoch("1").Obj()
	orphan.OwnerReferences = nil
	ofAnotherKind := *builders.MakePod(&in.Jobs[0], 0).Name("other").Epoch("1").Obj()
	ofAnotherKind.OwnerReferences[0].Kind = "Workflow"
	in.Pods = append(in.Pods, orphan, ofAnotherKind)

	r := Of(in)
	if diff := cmp.Diff(&Workers{Total: 4, Back: 4}, r.Workers); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&Jobs{Wanted: 2, Created: 2, Ready: 2}, r.Jobs); diff != "" {
		t.Errorf("Jobs (-want +got):\n%s", diff)
	}
}

func TestWhatElseKeepsTheBarrier(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*batchv1.Job)
		want   string
	}{
		"A Job of an earlier attempt": {func(job *batchv1.Job) { job.Labels[constants.RestartsKey] = "0" }, "Jobs of an earlier attempt that are not gone yet: 1;"},
		"A Job that is being deleted": {func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }, "Job train-workers-1 is being deleted"},
		"A Job that is about to fail": {func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}
		}, "Job train-workers-1 is about to fail"},
		"Two live Pods of one index": {nil, "Crowded"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := running(training(2, 1, 1, 1).Restarts(1, 1).Obj(), 2)
			if tc.change != nil {
				tc.change(&in.Jobs[1])
			} else {
				in.Pods = append(in.Pods, *builders.MakePod(&in.Jobs[1], 0).Name("second").Epoch("2").Obj())
			}
			report := Of(in)
			if text := Text(&report, false); !strings.Contains(text, tc.want) {
				t.Errorf("no %q in:\n%s", tc.want, text)
			}
		})
	}
}
