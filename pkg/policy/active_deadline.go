/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"time"

	"sigs.k8s.io/jobset/pkg/constants"
)

// longestDeadline, in seconds, is more than anybody waits and less than overflows.
const longestDeadline = 1 << 32

// activeDeadline fails a JobSet that has been active for too long. A success comes before it, also one that is seen and
// not counted yet (P45), and the failure policy after it.
func activeDeadline(v *view, _ result) result {
	if !v.isLimited() || v.suspendWanted() {
		return result{}
	}
	seconds := *v.JobSet.Spec.ActiveDeadlineSeconds
	left := time.Duration(min(seconds, longestDeadline)) * time.Second
	if since := v.JobSet.Status.StartTime; since != nil && !since.After(v.Now) {
		left = v.left(left, since.Time)
	}
	if left > 0 {
		return requeueAfter(left)
	}
	if success := successPolicy(v, result{}); success.ends {
		return success
	}
	if v.watched {
		if r, waits := v.waitForSuccess(false); waits {
			return r
		}
	}
	return fail(constants.DeadlineExceededReason, fmt.Sprintf("jobset was active for longer than activeDeadlineSeconds: %d", seconds))
}
