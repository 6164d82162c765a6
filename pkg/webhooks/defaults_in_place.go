/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// defaultInPlace fills in what the strategy wants of every Job and can only be one way (P51).
func defaultInPlace(js *jobset.JobSet) {
	defaultMode(js)
	for i := range js.Spec.ReplicatedJobs {
		workerpod.DefaultJob(&js.Spec.ReplicatedJobs[i].Template.Spec)
	}
}

// defaultMode says what starts again in the Pods (P60), so that a later version of the manager chooses nothing else.
func defaultMode(js *jobset.JobSet) {
	setDefault(&js.Spec.FailurePolicy.InPlaceRestart, jobset.InPlaceRestartPolicy{})
	policy := js.Spec.FailurePolicy.InPlaceRestart
	if policy.Mode == "" {
		policy.Mode, _ = workerpod.DefaultMode(js)
	}
	if policy.Mode == jobset.ProcessMode {
		setDefault(&policy.StopGracePeriodSeconds, jobset.DefaultStopGracePeriodSeconds)
	}
}

// defaultProgress gives a JobSet in process mode that names no deadlines those of the configuration (P121). A stored JobSet
// gets them only if it had some: its program may give no signs.
func defaultProgress(js, old *jobset.JobSet, g gates.Set, configured *jobset.ProgressPolicy) {
	runsProcesses := workerpod.RestartsInPlace(js, g) && workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ProcessMode
	if configured != nil && runsProcesses && (old == nil || workerpod.ProgressOf(old.Spec.FailurePolicy) != nil) {
		setDefault(&js.Spec.FailurePolicy.InPlaceRestart.Progress, *configured.DeepCopy())
	}
}

// defaultLostNode does the same for when lost workers are replaced, in both modes, if the configuration says it for this JobSet: the
// deadline from which it takes the time may be one that the JobSet does not have (P171).
func defaultLostNode(js, old *jobset.JobSet, g gates.Set, configured *jobset.LostNodePolicy) {
	if configured == nil || !workerpod.RestartsInPlace(js, g) || old != nil && !workerpod.NamesLostNode(old.Spec.FailurePolicy) {
		return
	}
	if configured.ReplaceAfterSeconds != nil || workerpod.StoppedAfterSeconds(js.Spec.FailurePolicy) > 0 {
		setDefault(&js.Spec.FailurePolicy.InPlaceRestart.LostNode, *configured.DeepCopy())
	}
}
