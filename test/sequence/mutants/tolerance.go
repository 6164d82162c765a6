/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

const (
	toleranceFile  = "pkg/policy/tolerance.go"
	unhealthyFile  = "pkg/policy/unhealthy.go"
	deletedJobFile = "pkg/policy/deleted_job.go"
	deployedFile   = "pkg/policy/deployed.go"
	sickNodesFile  = "pkg/policy/sick_nodes.go"
)

// faultTolerance are mistakes in what spec.faultTolerance asks for, and in how elastic groups are told their sizes.
var faultTolerance = []mutant{
	{
		name: "remember a reset in memory only", file: toleranceFile,
		old:       "next.Reset = &jobset.ResetStatus{StartTime: metav1.NewTime(v.Now)}",
		new:       "next.Reset = nil",
		scenarios: "tolerance, Recreate, 2 failures",
	},
	{
		name: "begin the pause by the word of the cache", file: toleranceFile,
		old:       "case reset.JobsGoneTime == nil && !v.ChildrenRead:",
		new:       "case false:",
		scenarios: "tolerance, Recreate, first start",
		full:      true,
	},
	{
		name: "charge a move", file: sickNodesFile,
		old:       "return r.and(restart)\n",
		new:       "return r.and(v.charge(restart, \"\"))\n",
		scenarios: "tolerance, a mark",
	},
	{
		name: "move before a reset that is due", file: sickNodesFile,
		old:       "return v.resetIsDue()",
		new:       "return false",
		scenarios: "tolerance, Recreate, a mark",
	},
	{
		name: "lift over Pods that have to move", file: inPlaceFile,
		old:       "before.plan.Moving ||",
		new:       "",
		scenarios: "tolerance, a mark",
	},
	{
		name: "reset over a suspend", file: unhealthyFile,
		old:       "if v.suspendWanted() {",
		new:       "if false {",
		scenarios: "tolerance, Recreate, (1 failure, )?suspend",
	},
	{
		name: "allow one retry too many", file: budgetFile,
		old:       "return int64(v.tolerance.RetryLimit)",
		new:       "return int64(v.tolerance.RetryLimit) + 1",
		scenarios: "1 retry allowed",
	},
	{
		name: "create a Job again that a user deleted", file: deletedJobFile,
		old:       "complete == nil || *complete != v.attempt()",
		new:       "complete == nil || *complete == v.attempt()",
		scenarios: "a Job is deleted",
	},
	{
		name: "give the quota away while a Pod lives", file: deployedFile,
		old:       "case !reported || pods+jobs > 0 ||",
		new:       "case !reported || jobs > 0 ||",
		scenarios: "tolerance, Recreate, (1 failure, )?suspend",
	},
	{
		name: "give the quota away by the word of the cache", file: deployedFile,
		old:       "case !v.ChildrenRead:",
		new:       "case false:",
		scenarios: "tolerance.*suspend",
		full:      true,
	},
	{
		name: "take the quota when Jobs exist", file: deployedFile,
		old:       "return v.tolerant && (creates",
		new:       "return false && (creates",
		scenarios: "tolerance, Recreate, (1 failure, )?suspend",
	},
	{
		name: "tell no sizes", file: resultFile,
		old:       "v.setSyncedWorkers(status.ReplicatedJobsStatus)",
		new:       "",
		scenarios: "elastic",
	},
}
