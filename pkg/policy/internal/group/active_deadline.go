/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"time"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// longestDeadline, in seconds, is more than anybody waits and less than overflows.
const longestDeadline = 1 << 32

// ActiveDeadline fails a JobSet that has been active for too long. A success comes before it, also one that is seen and
// not counted yet (P45), and the failure policy after it.
func ActiveDeadline(v *view.View, _ pass.Result) pass.Result {
	if !v.IsLimited() || v.SuspendWanted() {
		return pass.Result{}
	}
	seconds := *v.JobSet.Spec.ActiveDeadlineSeconds
	left := time.Duration(min(seconds, longestDeadline)) * time.Second
	if since := v.JobSet.Status.StartTime; since != nil && !since.After(v.Now) {
		left = v.Left(left, since.Time)
	}
	if left > 0 {
		return pass.RequeueAfter(left)
	}
	if success := jobs.SuccessPolicy(v, pass.Result{}); success.Ends {
		return success
	}
	if v.Watched {
		if r, waits := WaitForSuccess(v, false); waits {
			return r
		}
	}
	return pass.Fail(constants.DeadlineExceededReason, fmt.Sprintf("jobset was active for longer than activeDeadlineSeconds: %d", seconds))
}
