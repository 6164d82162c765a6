/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy"
)

// defaultAffinity gives the Pod templates of a JobSet in a queue the affinity that its Jobs would get (P90), so that the queue knows
// which nodes its Pods cannot use before it chooses (P90a).
func defaultAffinity(js *jobset.JobSet, g gates.Set, rules nodehealth.Rules) {
	if !policy.Tolerates(js, g) || !placement.Queued(js) {
		return
	}
	for i := range js.Spec.ReplicatedJobs {
		pods := &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec
		pods.Affinity = rules.KeepAway(pods)
	}
}

// keepAffinity keeps what creation has added to an affinity, whatever the rules are now.
func keepAffinity(is, was *corev1.PodSpec) {
	if len(is.Containers) > 0 && nodehealth.Extends(was.Affinity, is.Affinity) {
		is.Affinity = was.Affinity.DeepCopy()
	}
}

// withoutAddedAffinity removes from a stored ReplicatedJob, as JSON, a node affinity that only keeps Pods away: nobody is told that it is kept.
func withoutAddedAffinity(job map[string]any) {
	pods := objectAt(job, "template.spec.template.spec")
	object, _ := pods["affinity"].(map[string]any)
	node, ok := object["nodeAffinity"]
	var affinity corev1.NodeAffinity
	text, err := json.Marshal(node)
	if !ok || err != nil || json.Unmarshal(text, &affinity) != nil || !nodehealth.Extends(&corev1.Affinity{NodeAffinity: &affinity}, nil) {
		return
	}
	if delete(object, "nodeAffinity"); len(object) == 0 {
		delete(pods, "affinity")
	}
}
