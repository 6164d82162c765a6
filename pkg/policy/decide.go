/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
)

// decision is one run of Decide: the input, what it adds up to, and the plan as it grows.
type decision struct {
	in       Input
	observed Observed
	seen     *group
	plan     Plan
}

// Decide returns what to do about a JobSet now. The table in the package
// comment names the steps. An error means that the input makes no sense, and
// nothing is to be done.
func Decide(in Input) (Plan, error) {
	d := &decision{in: in}
	if err := d.decide(); err != nil {
		return Plan{}, err
	}
	d.clockAssembly()
	return d.plan, nil
}

func (d *decision) decide() error {
	in := d.in
	observed, err := Observe(in.JobSet, in.Jobs, in.Gates)
	if err != nil {
		return err
	}
	d.observed = observed
	in.JobSet.Status.DeepCopyInto(&d.plan.Status)
	d.plan.Status.ReplicatedJobsStatus = keepJobRestarts(observed.Statuses, d.plan.Status.ReplicatedJobsStatus)

	if end, ok := finished(in.JobSet); ok { // step 1
		d.plan.DeleteJobs = withoutTerminating(append(observed.Previous, observed.Active...))
		return d.ttl(end)
	}
	if d.gateChanged() { // step 2
		return nil
	}
	d.plan.DeleteJobs = withoutTerminating(observed.Previous) // step 3
	d.allJobsReady()                                          // step 4
	if len(observed.Failed) > 0 {                             // step 5
		err := d.failurePolicy()
		d.intentFirst()
		return err
	}
	if d.successPolicy() || d.restartIncompleteGroup() { // steps 6, 7
		d.intentFirst()
		return nil
	}
	if children.NeedsService(in.JobSet) && !in.ServiceExists { // step 8
		d.plan.CreateService = children.Service(in.JobSet)
	}
	d.createClaims()      // step 9
	d.scaleJobs()         // step 10
	turn := d.turn()      // step 11
	d.createJobs(turn)    // step 12
	d.followSuspend(turn) // step 13
	if d.intentFirst() {  // step 14
		d.onlyIntent()
		return nil
	}
	d.group() // step 15
	return nil
}

// allJobsReady ends a restart of the whole JobSet. A group restart ends at its lift.
func (d *decision) allJobsReady() {
	if d.suspendWanted() || d.restartingInPlace() {
		return
	}
	var up, replicas int64
	for _, status := range d.observed.Statuses {
		up += int64(status.Ready) + int64(status.Succeeded)
	}
	for i := range d.in.JobSet.Spec.ReplicatedJobs {
		replicas += int64(children.Replicas(&d.in.JobSet.Spec.ReplicatedJobs[i]))
	}
	if up == replicas {
		d.clear(jobset.JobSetRestarting, constants.JobsReadyReason, constants.JobsReadyMessage)
	}
}

func (d *decision) suspendWanted() bool {
	return ptr.Deref(d.in.JobSet.Spec.Suspend, false)
}

// OnlyCounts are the counts of a status that was decided on, with the restarts of the status that is.
func OnlyCounts(decided, stored []jobset.ReplicatedJobStatus) []jobset.ReplicatedJobStatus {
	counts := slices.Clone(decided)
	for i := range counts {
		counts[i].JobRestarts, counts[i].JobRestartsCountTowardsMax = nil, nil
	}
	return keepJobRestarts(counts, stored)
}

// keepJobRestarts carries the counters of single-Job restarts over to fresh counts.
func keepJobRestarts(fresh, stored []jobset.ReplicatedJobStatus) []jobset.ReplicatedJobStatus {
	byName := make(map[string]*jobset.ReplicatedJobStatus, len(stored))
	for i := range stored {
		byName[stored[i].Name] = &stored[i]
	}
	for i := range fresh {
		if was := byName[fresh[i].Name]; was != nil {
			fresh[i].JobRestarts = was.JobRestarts
			fresh[i].JobRestartsCountTowardsMax = was.JobRestartsCountTowardsMax
		}
	}
	return fresh
}
