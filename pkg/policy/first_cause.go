/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// endNotSeen is the code that a runtime gives to a container whose end it did not see. A kubelet may show that before it shows
// that the Pod has no sandbox, as when its node restarted (P74).
const endNotSeen = 255

// causeOfBreak says, for the user, why the group breaks: what failed first, if that was
// seen, which is returned too, else what the group shows now.
func (v *view) causeOfBreak(reporter *corev1.Pod) (cause string, failure *Failure) {
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
		return failure.String(), failure
	case reporter != nil:
		return fmt.Sprintf("worker pod %s restarted, its exit code was not seen", reporter.Name), nil
	default:
		return fmt.Sprintf("a worker pod of Job %s failed, was deleted or did not stop in time", v.group.lacking.Name), nil
	}
}
