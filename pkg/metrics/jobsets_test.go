/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// assembles returns a JobSet whose group has been assembling for some time.
func assembles(since time.Duration, changes ...func(*jobset.JobSet)) *jobset.JobSet {
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 10).Epochs(1, 1).Obj()
	js.Status.AssemblingSince = ptr.To(metav1.NewTime(now.Add(-since)))
	for _, change := range changes {
		change(js)
	}
	return js
}

// used returns a JobSet of a strategy that has used some of its restarts, by recreation and in place.
func used(strategy jobset.JobSetRestartStrategy, maxRestarts, recreated, inPlace int32, changes ...func(*jobset.JobSet)) *jobset.JobSet {
	js := builders.MakeJobSet("js", "ns").FailurePolicy(strategy, maxRestarts).Restarts(recreated, recreated).InPlaceRestarts(inPlace).Obj()
	for _, change := range changes {
		change(js)
	}
	return js
}

func condition(conditionType jobset.JobSetConditionType, status bool) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Status.Conditions = append(js.Status.Conditions, builders.Condition(conditionType, status, "Reason", "", now))
	}
}

func deleted(js *jobset.JobSet) { js.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }

func managedBy(name string) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) { js.Spec.ManagedBy = &name }
}

func TestSummarizeAssemblingGroups(t *testing.T) {
	t.Parallel()
	one := summary{assembling: 1, longest: time.Minute}
	tests := map[string]struct {
		jobSets []*jobset.JobSet
		want    summary
	}{
		"no JobSet, no group": {nil, summary{}},
		"C227: the group that has waited for the longest time counts, wherever it stands": {
			[]*jobset.JobSet{assembles(time.Second), assembles(time.Hour), assembles(time.Minute)},
			summary{assembling: 3, longest: time.Hour},
		},
		"a group that assembles for the first time counts": {
			[]*jobset.JobSet{assembles(time.Minute, func(js *jobset.JobSet) { js.Status.DeprecatedEpoch, js.Status.SyncedEpoch = nil, nil })}, one,
		},
		"a clock that is behind that of the leader makes no negative time": {
			[]*jobset.JobSet{assembles(-time.Minute)}, summary{assembling: 1},
		},
		"P24: a group that nobody has started to wait for does not count": {
			[]*jobset.JobSet{assembles(time.Minute, func(js *jobset.JobSet) { js.Status.AssemblingSince = nil })}, summary{},
		},
		"without deadlines a restart counts by its condition": {
			[]*jobset.JobSet{assembles(0, func(js *jobset.JobSet) {
				js.Status.AssemblingSince = nil
				js.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "InPlaceRestart", "", now.Add(-time.Minute))}
			})}, one,
		},
		"without deadlines a restart of another kind does not count": {
			[]*jobset.JobSet{assembles(0, func(js *jobset.JobSet) {
				js.Status.AssemblingSince = nil
				js.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "RestartJobSet", "", now.Add(-time.Minute))}
			})}, summary{},
		},
		"without deadlines a restart that is over does not count": {
			[]*jobset.JobSet{assembles(0, func(js *jobset.JobSet) {
				js.Status.AssemblingSince = nil
				js.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, false, "InPlaceRestart", "", now.Add(-time.Minute))}
			})}, summary{},
		},
		"a group that runs does not count, whatever else its status says": {
			[]*jobset.JobSet{assembles(time.Minute, func(js *jobset.JobSet) { js.Status.SyncedEpoch = ptr.To[int32](2) })}, summary{},
		},
		"P20: a suspended group does not count": {
			[]*jobset.JobSet{assembles(time.Minute, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) })}, summary{},
		},
		"P20: a group that resumed counts": {
			[]*jobset.JobSet{assembles(time.Minute, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(false) })}, one,
		},
		"P20: a group that the annotation disables does not count": {
			[]*jobset.JobSet{assembles(time.Minute, func(js *jobset.JobSet) {
				js.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: ""}
			})}, summary{},
		},
		"P20: a group that the gate disables does not count": {
			[]*jobset.JobSet{assembles(time.Minute, condition(jobset.JobSetInPlaceRestartDisabled, true))}, summary{},
		},
		"P20: a group whose gate came back counts": {
			[]*jobset.JobSet{assembles(time.Minute, condition(jobset.JobSetInPlaceRestartDisabled, false))}, one,
		},
		"completed, failed and deleted ones do not count": {
			[]*jobset.JobSet{
				assembles(time.Minute, condition(jobset.JobSetCompleted, true)), assembles(time.Minute, condition(jobset.JobSetFailed, true)),
				assembles(time.Minute, deleted),
			}, summary{},
		},
		"those of another controller do not count, those that name this one do": {
			[]*jobset.JobSet{assembles(time.Hour, managedBy("kueue.x-k8s.io/multikueue")), assembles(time.Minute, managedBy(jobset.JobSetControllerName))}, one,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := summarize(tc.jobSets, nil, nil, gates.Set{InPlaceRestart: true}, now)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(summary{}, toleranceSummary{})); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummarizeRestartBudgets(t *testing.T) {
	t.Parallel()
	const largest = 1<<31 - 1
	singleJobs := func(js *jobset.JobSet) {
		js.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{
			{Name: "a", JobRestartsCountTowardsMax: []int32{2, 2}}, {Name: "b", JobRestartsCountTowardsMax: []int32{4}},
		}
	}
	tests := map[string]struct {
		jobSet *jobset.JobSet
		want   int
	}{
		"C227: 8 of 10 are nearly all":                            {jobSet: used(jobset.Recreate, 10, 8, 0), want: 1},
		"7 of 10 are not":                                         {jobSet: used(jobset.Recreate, 10, 7, 0)},
		"C131: recreations and restarts in place are one budget":  {jobSet: used(jobset.InPlaceRestart, 10, 3, 5), want: 1},
		"each strategy counts":                                    {jobSet: used(jobset.BlockingRecreate, 5, 4, 0), want: 1},
		"of 4, 3 are not yet 80 %":                                {jobSet: used(jobset.Recreate, 4, 3, 0)},
		"of 4, all are":                                           {jobSet: used(jobset.Recreate, 4, 4, 0), want: 1},
		"of 1, none is not":                                       {jobSet: used(jobset.Recreate, 1, 0, 0)},
		"of 1, it is":                                             {jobSet: used(jobset.Recreate, 1, 1, 0), want: 1},
		"who may not restart has nothing to spend":                {jobSet: used(jobset.Recreate, 0, 0, 0)},
		"without a failure policy there is no budget":             {jobSet: builders.MakeJobSet("js", "ns").Restarts(9, 9).Obj()},
		"restarts that do not count towards maxRestarts are free": {jobSet: builders.MakeJobSet("js", "ns").FailurePolicy(jobset.Recreate, 10).Restarts(9, 0).Obj()},
		"the largest numbers do not overflow":                     {jobSet: used(jobset.InPlaceRestart, largest, largest, largest), want: 1},
		"a huge budget that is hardly touched":                    {jobSet: used(jobset.InPlaceRestart, largest, 1, 1)},
		"C131: restarts of single Jobs draw on the budget":        {jobSet: used(jobset.Recreate, 10, 0, 0, singleJobs), want: 1},
		"a suspended JobSet counts, it will go on":                {jobSet: used(jobset.Recreate, 10, 8, 0, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }), want: 1},
		"a completed JobSet does not count":                       {jobSet: used(jobset.Recreate, 10, 8, 0, condition(jobset.JobSetCompleted, true))},
		"a failed JobSet does not count":                          {jobSet: used(jobset.Recreate, 10, 10, 0, condition(jobset.JobSetFailed, true))},
		"a deleted JobSet does not count":                         {jobSet: used(jobset.Recreate, 10, 8, 0, deleted)},
		"a JobSet of another controller does not count":           {jobSet: used(jobset.Recreate, 10, 8, 0, managedBy("other"))},
		"a condition that is False has not ended a JobSet":        {jobSet: used(jobset.Recreate, 10, 8, 0, condition(jobset.JobSetFailed, false)), want: 1},
		"more used than there are, since nobody checks that":      {jobSet: used(jobset.Recreate, 2, 5, 0), want: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := summarize([]*jobset.JobSet{tc.jobSet}, nil, nil, gates.Set{}, now)
			if diff := cmp.Diff(summary{nearlySpent: tc.want}, got, cmp.AllowUnexported(summary{}, toleranceSummary{})); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummarizeChangesNothing(t *testing.T) {
	t.Parallel()
	jobSets := []*jobset.JobSet{assembles(time.Minute), used(jobset.Recreate, 10, 8, 0, condition(jobset.JobSetFailed, true))}
	before := []*jobset.JobSet{jobSets[0].DeepCopy(), jobSets[1].DeepCopy()}
	summarize(jobSets, nil, nil, gates.Set{RestartJob: true}, now)
	if diff := cmp.Diff(before, jobSets); diff != "" {
		t.Errorf("a cached object was changed (-before +after):\n%s", diff)
	}
}
