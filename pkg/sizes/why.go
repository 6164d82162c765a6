/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sizes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// Limit is what keeps a job from one more Pod.
type Limit struct {
	// Reason is that of status.replicatedJobsStatus[].elastic.limit, or Suspended, Queued or Unplanned.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// limitOf returns what keeps a ReplicatedJob small, nil if it is to have its maximum. Only the manager knows what binds
// first; what the spec says comes before, because then nobody plans.
func limitOf(js *jobset.JobSet, rjob *jobset.ReplicatedJob, desired int32) *Limit {
	_, queued := js.Labels[constants.QueueNameKey]
	_, held := js.Annotations[jobset.ElasticHoldKey]
	switch {
	case desired >= rjob.Elastic.MaxInstances:
		return nil
	case ptr.Deref(js.Spec.Suspend, false):
		return &Limit{"Suspended", "the JobSet is suspended"}
	case queued:
		return &Limit{"Queued", "the label " + constants.QueueNameKey + " leaves its size to a queue"}
	}
	for i := range js.Status.ReplicatedJobsStatus {
		if status := &js.Status.ReplicatedJobsStatus[i]; status.Name == rjob.Name && status.Elastic != nil && status.Elastic.Limit != nil {
			return &Limit{status.Elastic.Limit.Reason, status.Elastic.Limit.Message}
		}
	}
	if held {
		return &Limit{"Held", "the annotation " + jobset.ElasticHoldKey + " keeps its size"}
	}
	return &Limit{"Unplanned", "no manager has reported a reason: the gate ElasticAutoscaling is off, no manager leads, or the group has not run since it is on"}
}

// Only keeps the jobs of one JobSet.
func (r *Report) Only(jobSet string) {
	r.Jobs = slices.DeleteFunc(r.Jobs, func(job Job) bool { return job.JobSet != jobSet })
}

// WhyText says of each job what keeps it small, for a terminal.
func WhyText(r *Report) string {
	var out strings.Builder
	for i := range r.Jobs {
		job := &r.Jobs[i]
		why := "it has its maximum"
		if job.Limit != nil {
			why = job.Limit.Reason + ": " + restarts.OneLine(job.Limit.Message)
		}
		fmt.Fprintf(&out, "%s/%s/%s has %d Pods, is to have %d, and may have %d to %d\n  %s\n", job.Namespace, job.JobSet, job.ReplicatedJob,
			job.Current, job.Desired, job.Min, job.Max, why)
	}
	return out.String()
}
