/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// reportsIfChanged checks with the gate off too, which may be turned on again.
func reportsIfChanged(old, new *jobset.JobSet, _ gates.Set) (errs field.ErrorList) {
	if !workerpod.WantsInPlace(new) {
		return nil
	}
	for i, was := range kept(old, new) {
		errs = append(errs, changedReports(was, new, i)...)
	}
	return errs
}

// changedReports refuses a Pod template with what agents report: a group of such Pods would be
// lifted before any agent runs, and its workers would have failed before they ran.
func changedReports(from *jobset.ReplicatedJob, js *jobset.JobSet, i int) (errs field.ErrorList) {
	old, new := from.Template.Spec.Template.Annotations, jobSpec(js, i).Template.Annotations
	for _, report := range [][2]string{
		{jobset.EpochKey, "counts as back before it runs"},
		{jobset.WorkerExitKey, "counts as one whose worker has ended"},
		{jobset.ProgressKey, "counts as one that has reported steps"},
		{jobset.AddressKey, "sends the other workers to that address"},
	} {
		key, consequence := report[0], report[1]
		is, there := new[key]
		if was, before := old[key]; !there || before && was == is {
			continue
		}
		path := jobPath(i).Child("template", "metadata", "annotations").Key(key)
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("must not be set %s: it is the report of the agent in a running Pod, "+
			"and a Pod that is created with it %s; remove it", because, consequence)))
	}
	return errs
}
