/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// explainAgents says what keeps all agents of a JobSet from working: rights that they lack or were not
// granted, and nodes that are too old. What keeps one of them is reported with its worker.
func (r *Report) explainAgents(in Input) {
	if !r.inPlace() || !NeedsPods(in.JobSet) {
		return
	}
	if denied := policy.IfTrue(in.JobSet, jobset.JobSetAgentAccessDenied); denied != nil {
		r.Notes.Add("agents: %s", denied.Message)
	}
	reasons := []string{constants.AgentAccessFailedReason, constants.RestartAllContainersUnsupportedReason}
	if policy.IfTrue(in.JobSet, jobset.JobSetAgentAccessDenied) != nil || r.State.Name != Assembling {
		reasons = reasons[1:] // reported already, or fixed: the group runs
	}
	for _, reason := range reasons {
		if message := lastSaid(in.Events, reason); message != "" {
			r.Notes.Add("agents: %s", message)
		}
	}
}

// lastSaid is the message of the last event with a reason, "" if there is none.
func lastSaid(events []corev1.Event, reason string) string {
	var last *corev1.Event
	for i := range events {
		if events[i].Reason == reason && (last == nil || !EventTime(&events[i]).Time.Before(EventTime(last).Time)) {
			last = &events[i]
		}
	}
	if last == nil {
		return ""
	}
	return last.Message
}

// withoutToken says that the agent of a Pod has nothing to identify itself with, "" if it has.
func withoutToken(pod *corev1.Pod) string {
	agent := workerpod.AgentOf(&pod.Spec)
	if agent == nil || workerpod.FindEnv(agent, workerpod.KubeconfigEnv) >= 0 || slices.ContainsFunc(agent.VolumeMounts, func(m corev1.VolumeMount) bool {
		return m.MountPath == workerpod.TokenPath
	}) {
		return ""
	}
	return "no token is mounted into its agent at " + workerpod.TokenPath + ", so it cannot report"
}

// explainAgent adds what keeps the agent of one worker from working.
func (w *Worker) explainAgent(js *jobset.JobSet, pod *corev1.Pod) {
	switch {
	case pod == nil:
	case w.State == NotReported && w.Epoch == 0:
		if why := withoutToken(pod); why != "" {
			w.Message = why
		}
	case w.State == Waiting && pullsAgent(pod) && isInjected(js, w.ReplicatedJob):
		w.Message += "; agents get their image from inPlaceRestart.agentImage in the configuration of the manager"
	}
}

// pullsAgent reports whether the image of an agent cannot be pulled.
func pullsAgent(pod *corev1.Pod) bool {
	agent := workerpod.AgentOf(&pod.Spec)
	return agent != nil && slices.ContainsFunc(pod.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == agent.Name && s.State.Waiting != nil && slices.Contains(noImage, s.State.Waiting.Reason)
	})
}

// noImage are the reasons of the kubelet for a container whose image cannot be pulled.
var noImage = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}

func isInjected(js *jobset.JobSet, replicatedJob string) bool {
	return slices.ContainsFunc(js.Spec.ReplicatedJobs, func(rjob jobset.ReplicatedJob) bool {
		return rjob.Name == replicatedJob && workerpod.IsInjected(js, &rjob)
	})
}
