/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sizes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// TestWhy: users read what keeps a job from one more Pod (P113).
func TestWhy(t *testing.T) {
	t.Parallel()
	limited := func(js *jobset.JobSet) {
		js.Status.ReplicatedJobsStatus[0].Elastic.Limit = &jobset.ElasticLimit{Reason: "NoRoom", Message: "nvidia.com/gpu: node n has 0 left"}
	}
	held := func(js *jobset.JobSet) { js.Annotations = map[string]string{jobset.ElasticHoldKey: ""} }
	suspended := func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }
	queued := func(js *jobset.JobSet) { js.Labels = map[string]string{constants.QueueNameKey: "q"} }
	const has = "research/llm/trainer has 4 Pods, is to have 4, and may have 2 to 6\n  "
	for name, tc := range map[string]struct {
		js   jobset.JobSet
		want string
	}{
		"P113: what the manager wrote":           {elasticJobSet("llm", 4, 4, limited), has + "NoRoom: nvidia.com/gpu: node n has 0 left\n"},
		"P113: a job at its maximum":             {elasticJobSet("llm", 6, 6, limited), "research/llm/trainer has 6 Pods, is to have 6, and may have 2 to 6\n  it has its maximum\n"},
		"P113: a suspended one is not planned":   {elasticJobSet("llm", 4, 4, limited, suspended), has + "Suspended: the JobSet is suspended\n"},
		"P113: nor is one in a queue":            {elasticJobSet("llm", 4, 4, limited, queued), has + "Queued: the label kueue.x-k8s.io/queue-name leaves its size to a queue\n"},
		"P113: one that is held, before a plan":  {elasticJobSet("llm", 4, 4, held), has + "Held: the annotation jobset.sigs.k8s.io/elastic-hold keeps its size\n"},
		"P113: one that nobody plans, gate off":  {elasticJobSet("llm", 4, 4), has + "Unplanned: no manager has reported a reason: the gate ElasticAutoscaling is off, no manager leads, or the group has not run since it is on\n"},
		"P113: one whose sizes were not written": {elasticJobSet("llm", 4, 4, unwritten), has + "Unplanned: no manager has reported a reason: the gate ElasticAutoscaling is off, no manager leads, or the group has not run since it is on\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := Of(Input{Now: now, JobSets: []jobset.JobSet{tc.js, elasticJobSet("other", 2, 2)}})
			report.Only("llm")
			if diff := cmp.Diff(tc.want, WhyText(&report)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}
