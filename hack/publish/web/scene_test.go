/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package web

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/dashboard"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// scene is what watches would bring of JobSet research/train, which restarts in place, and of two others.
type scene struct {
	*dashboard.Board
	js   *jobset.JobSet
	pods []*corev1.Pod
}

// perJob is how many workers a Job has at the most.
const perJob = 500

// newScene is a group that runs at epoch 4.
func newScene(workers int) *scene {
	s := &scene{Board: dashboard.NewBoard(dashboard.Scope{Namespace: "research"}, time.Now)}
	jobs := max(1, workers/perJob)
	s.js = builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.InPlaceRestart, 20).Epochs(3, 4).InPlaceRestarts(2).
		ReplicatedJob(builders.MakeReplicatedJob("workers").Replicas(int32(jobs)).Workers(int32(workers/jobs))).
		Condition(jobset.JobSetRestarting, false, constants.WorkersSyncedReason, fmt.Sprintf("all %d workers have reached epoch 4", workers), time.Now().Add(-12*time.Minute)).Obj()
	s.js.Status.Time = &jobset.TimeStatus{At: metav1.NewMicroTime(time.Now().Add(-13*time.Minute + 12*time.Second)), Running: metav1.Duration{Duration: 45 * time.Minute},
		Assembling: metav1.Duration{Duration: 61*time.Second + 20*time.Second}, Starting: metav1.Duration{Duration: time.Minute}}
	var jobObjects, pods []metav1.Object
	nodes := map[string]metav1.Object{}
	for j := range jobs {
		job := builders.MakeJob(s.js, "workers", j).Workers(int32(workers / jobs)).Obj()
		jobObjects = append(jobObjects, job)
		for i := range workers / jobs {
			pod := builders.MakePod(job, i).Epoch("4").Obj()
			pod.Spec.NodeName = fmt.Sprintf("node-%d", len(s.pods)/8)
			nodes[pod.Spec.NodeName] = nodeNamed(pod.Spec.NodeName)
			s.pods, pods = append(s.pods, pod), append(pods, pod)
		}
	}
	trainer := func(of jobset.RestartCause) jobset.RestartCause {
		of.Node, of.Container = "node-0", "trainer"
		return of
	}
	s.told(48*time.Minute, 41*time.Second, 1, trainer(jobset.RestartCause{Type: jobset.CauseExited, Pod: "train-workers-0-1", ExitCode: 137, Reason: "OOMKilled"}))
	s.told(31*time.Minute, 8*time.Second, 2, trainer(jobset.RestartCause{Type: jobset.CauseSilent, Pod: "train-workers-0-0", SilentSeconds: 30, Step: 4210}))
	s.told(13*time.Minute, 12*time.Second, 3, jobset.RestartCause{Type: jobset.CauseOther, Message: "ReplicatedJob workers from 20 to 24 Pods"})
	s.js.Status.RestartHistory[0].Planned = true
	elastic, evaluation := s.others()
	s.Replace(dashboard.JobSets, []metav1.Object{s.js, elastic, evaluation})
	s.Replace(dashboard.Jobs, jobObjects)
	s.Replace(dashboard.Pods, pods)
	s.Replace(dashboard.Events, nil)
	s.Replace(dashboard.JobEvents, nil)
	var all []metav1.Object
	for _, node := range nodes {
		all = append(all, node)
	}
	s.Replace(dashboard.Nodes, all)
	return s
}

// others are an elastic JobSet, and one that is suspended.
func (s *scene) others() (elastic, suspended *jobset.JobSet) {
	elastic = builders.MakeJobSet("finetune", "research").UID("finetune-uid").FailurePolicy(jobset.Recreate, 3).
		ReplicatedJob(builders.MakeReplicatedJob("trainer").Workers(3)).Obj()
	elastic.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 6}
	elastic.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "trainer", Active: 1}}
	suspended = builders.MakeJobSet("later", "research").UID("later-uid").Suspend(true).FailurePolicy(jobset.Recreate, 3).
		ReplicatedJob(builders.MakeReplicatedJob("sweep").Workers(4)).Obj()
	return elastic, suspended
}

func nodeNamed(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
}

// told puts down a restart that is over.
func (s *scene) told(ago, took time.Duration, epoch int32, cause jobset.RestartCause) {
	began := time.Now().Add(-ago)
	s.js.Status.RestartHistory = append([]jobset.RestartRecord{{
		Kind: jobset.RestartedInPlace, Epoch: epoch, Cause: cause, Workers: int64(len(s.pods)),
		Began: metav1.NewMicroTime(began), Ended: ptr.To(metav1.NewMicroTime(began.Add(took))),
	}}, s.js.Status.RestartHistory...)
}

// change puts a changed copy of a worker's Pod.
func (s *scene) change(i int, change func(*corev1.Pod)) {
	pod := s.pods[i].DeepCopy()
	change(pod)
	s.pods[i] = pod
	s.Put(pod)
}

// fail makes a worker the first cause of a group restart.
func (s *scene) fail(i int) {
	s.change(i, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
	message := fmt.Sprintf("container trainer of worker pod %s exited with code 1 on node %s; all workers of epoch 4 restart in place", s.pods[i].Name, s.pods[i].Spec.NodeName)
	js := s.js.DeepCopy()
	js.Status.DeprecatedEpoch = ptr.To[int32](4)
	js.Status.InPlaceRestarts++
	js.Status.Time.Running.Duration += s.since(js)
	js.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, constants.InPlaceRestartReason, message, time.Now())}
	js.Status.RestartHistory = append([]jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 4, Began: metav1.NowMicro(), Cause: jobset.RestartCause{
		Type: jobset.CauseExited, Pod: s.pods[i].Name, Node: s.pods[i].Spec.NodeName, Container: "trainer", ExitCode: 1,
	}}}, js.Status.RestartHistory...)
	s.js = js
	s.Put(js)
}

// since returns the time since the last write of the ledger, which is written now.
func (s *scene) since(js *jobset.JobSet) time.Duration {
	now := metav1.NowMicro()
	passed := now.Sub(js.Status.Time.At.Time)
	js.Status.Time.At = now
	return passed
}

// replace gives a worker that failed a new Pod, which is not scheduled.
func (s *scene) replace(i int) {
	old := s.pods[i]
	pod := old.DeepCopy()
	pod.Name, pod.UID = old.Name+"-new", types.UID(old.Name+"-new-uid")
	pod.Status.Phase, pod.Spec.NodeName = corev1.PodPending, ""
	delete(pod.Annotations, jobset.EpochKey)
	pod.Annotations[batchv1.JobCompletionIndexAnnotation] = old.Annotations[batchv1.JobCompletionIndexAnnotation]
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
		Message: "0/625 nodes are available", LastTransitionTime: metav1.Now()}}
	s.Remove(old)
	s.pods[i] = pod
	s.Put(pod)
}

// report lets a worker come back.
func (s *scene) report(i int) {
	s.change(i, func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, nil
		if pod.Spec.NodeName == "" {
			pod.Spec.NodeName = "node-spare"
		}
		pod.Annotations[jobset.EpochKey] = "5"
	})
}

// lift lets the group run at epoch 5.
func (s *scene) lift() {
	js := s.js.DeepCopy()
	js.Status.SyncedEpoch = ptr.To[int32](5)
	js.Status.Time.Assembling.Duration += s.since(js)
	js.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, false, constants.WorkersSyncedReason,
		fmt.Sprintf("all %d workers have reached epoch 5", len(s.pods)), time.Now())}
	js.Status.RestartHistory[0].Ended, js.Status.RestartHistory[0].Workers = ptr.To(metav1.NowMicro()), int64(len(s.pods))
	s.js = js
	s.Put(js)
}
