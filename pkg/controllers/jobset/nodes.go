/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// maxNamed is how many objects an event names at the most.
const maxNamed = 5

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch

// tellOldNodes warns about nodes of the workers whose kubelet is too old to
// restart all containers of a Pod. It silently ignores the rule, so its
// workers never come back. In process mode no rule asks for it.
func (r *JobSetReconciler) tellOldNodes(ctx context.Context, js *jobset.JobSet) error {
	if workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ProcessMode {
		return nil
	}
	owned, err := r.jobs.ControlledBy(js.Namespace, js.UID)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, job := range owned {
		pods, err := r.pods.ControlledBy(job.Namespace, job.UID)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			names[pod.Node] = true
		}
	}
	delete(names, "")
	var old []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		node, err := shared.NodeOf(ctx, r.client, name)
		if err != nil {
			return err
		}
		if node != nil && !facts.OfNode(node).RestartsAll {
			old = append(old, fmt.Sprintf("%s (kubelet %s)", name, facts.OfNode(node).Kubelet))
		}
	}
	if len(old) == 0 || !r.memory.forJobSet(js).reported.changed(js.UID, strings.Join(old, ",")) {
		return nil
	}
	r.warn(js, constants.RestartAllContainersUnsupportedReason,
		fmt.Sprintf("workers do not restart in place on nodes that ignore RestartAllContainers; upgrade them to Kubernetes 1.36 or keep the JobSet off them: %s (%d in all)",
			strings.Join(old[:min(len(old), maxNamed)], ", "), len(old)))
	return nil
}

// notReadyUnder returns which nodes are not ready, or gone, of Pods that should have stopped by now and may be deleted by force
// (P25), and of Pods of a group that assembles which are being prepared (P48a).
func (r *JobSetReconciler) notReadyUnder(ctx context.Context, js *jobset.JobSet, pods map[types.UID][]*facts.Member, now time.Time) (map[string]bool, error) {
	assembles := !policy.Runs(js)
	matters := func(pod *facts.Member) bool {
		if pod.Terminating() {
			return r.deadlines.ForcefulDeletion > 0 && !now.Before(pod.Deadline)
		}
		return assembles && pod.Preparation != facts.Prepared
	}
	notReady := map[string]bool{}
	for _, podsOfJob := range pods {
		for _, pod := range podsOfJob {
			name := pod.Node
			if _, seen := notReady[name]; seen || name == "" || !matters(pod) {
				continue
			}
			node, err := shared.NodeOf(ctx, r.client, name)
			if err != nil {
				return nil, err
			}
			notReady[name] = node == nil || !facts.OfNode(node).Ready
		}
	}
	return notReady, nil
}
