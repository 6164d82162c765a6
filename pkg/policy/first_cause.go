/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// endNotSeen is the code that a runtime gives to a container whose end it did not see. A kubelet may show that before it shows
// that the Pod has no sandbox, as when its node restarted (P74).
const endNotSeen = 255

// causeOfBreak returns why the group breaks: what failed first, if that was
// seen, which is returned too, else what the group shows now.
func (v *view) causeOfBreak(reporter *facts.Member) (cause jobset.RestartCause, failure *Failure) {
	failure = v.FirstFailure
	reported := v.firstReported()
	if failure == nil || failure.Container != "" && reported != nil && reported.Hang.Hung() { // peers may report before the one that hung
		failure = reported
	}
	switch {
	case failure == nil:
		failure = v.sandboxFailure("")
	case failure.ExitCode == endNotSeen:
		failure = cmp.Or(v.sandboxFailure(failure.Pod), failure)
	}
	switch {
	case failure != nil:
		return failure.Cause(), failure
	case reporter != nil:
		return jobset.RestartCause{Type: jobset.CauseUnseen, Pod: reporter.Name}, nil
	default:
		return jobset.RestartCause{Type: jobset.CauseLost, Job: v.group.lacking.Name}, nil
	}
}
