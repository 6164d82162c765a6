/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// faultTolerance are mistakes in what spec.faultTolerance asks for, and in how elastic groups are told their sizes.
var faultTolerance = []mutant{
	{
		name: "remember a reset in memory only", at: "pkg/policy/internal/tolerance.Remember",
		old:       "next.Reset = &jobset.ResetStatus{StartTime: metav1.NewTime(v.Now)}",
		new:       "next.Reset = nil",
		scenarios: "tolerance, Recreate, 2 failures",
	},
	{
		name: "begin the pause by the word of the cache", at: "pkg/policy/internal/tolerance.RetryPause",
		old:       "case reset.JobsGoneTime == nil && !v.ChildrenRead:",
		new:       "case false:",
		scenarios: "tolerance, Recreate, first start",
		full:      true,
	},
	{
		name: "charge a move", at: "pkg/policy/internal/tolerance.MoveInPlace",
		old:       "return r.And(restart)\n",
		new:       "return r.And(jobs.Charge(v, restart, \"\"))\n",
		scenarios: "tolerance, a mark",
	},
	{
		name: "move before a reset that is due", at: "pkg/policy/internal/tolerance.FailureComesFirst",
		old:       "return resetIsDue(v)",
		new:       "return false",
		scenarios: "tolerance, Recreate, a mark",
	},
	{
		name: "lift over Pods that have to move", at: "pkg/policy/internal/group.Lift",
		old:       "before.Remember.Moving ||",
		new:       "",
		scenarios: "tolerance, a mark",
	},
	{
		name: "reset over a suspend", at: "pkg/policy/internal/tolerance.UnhealthyPods",
		old:       "if v.SuspendWanted() {",
		new:       "if false {",
		scenarios: "tolerance, Recreate, (1 failure, )?suspend",
	},
	{
		name: "allow one retry too many", at: "pkg/policy/internal/jobs.MaxRestarts",
		old:       "return int64(v.Settings.RetryLimit)",
		new:       "return int64(v.Settings.RetryLimit) + 1",
		scenarios: "1 retry allowed",
	},
	{
		name: "create a Job again that a user deleted", at: "pkg/policy/internal/jobs.DeletedJob",
		old:       "complete == nil || *complete != attempt(v)",
		new:       "complete == nil || *complete == attempt(v)",
		scenarios: "a Job is deleted",
	},
	{
		name: "give the quota away while a Pod lives", at: "pkg/policy/internal/tolerance.ResourcesDeployed",
		old:       "case !reported || pods+jobs > 0 ||",
		new:       "case !reported || jobs > 0 ||",
		scenarios: "tolerance, Recreate, (1 failure, )?suspend",
	},
	{
		name: "give the quota away by the word of the cache", at: "pkg/policy/internal/tolerance.ResourcesDeployed",
		old:       "case !v.ChildrenRead:",
		new:       "case false:",
		scenarios: "tolerance.*suspend",
		full:      true,
	},
	{
		name: "take the quota when Jobs exist", at: "pkg/policy/internal/tolerance.WaitsForDeployed",
		old:       "return v.Tolerant && (creates",
		new:       "return false && (creates",
		scenarios: "tolerance, Recreate, (1 failure, )?suspend",
	},
	{
		name: "tell no sizes", at: "pkg/policy.apply",
		old:       "elastic.SetSyncedWorkers(v, status.ReplicatedJobsStatus)",
		new:       "",
		scenarios: "elastic",
	},
}

// avoidance are mistakes in which nodes a JobSet avoids, and for how long.
var avoidance = []mutant{
	{
		name: "never forget that a node is avoided", at: "pkg/policy/internal/jobs.IsAvoided",
		old:       "return n.AvoidedSince != nil && now.Before(n.AvoidedSince.Add(within))",
		new:       "return n.AvoidedSince != nil",
		scenarios: "avoid nodes, Recreate, 2 nodes",
	},
	{
		name: "keep a Pod pending for an avoided node", at: "pkg/policy/internal/tolerance.GiveUpNodes",
		old:       "if jobs.AsksToAvoid(v) == nil || v.SuspendWanted()",
		new:       "if true || v.SuspendWanted()",
		scenarios: "avoid nodes, (Recreate, )?1 node",
	},
	{
		name: "count a failure against another node", at: "pkg/policy/internal/jobs.CountFailure",
		old:       "n := jobset.NodeFailures{Node: f.Node}",
		new:       "f = &pass.Failure{Node: \"n2\"}\n\tn := jobset.NodeFailures{Node: f.Node}",
		scenarios: "avoid nodes, 2 nodes",
	},
	{
		name: "count a Pod that somebody deleted", at: "pkg/policy/internal/jobs.blamesNode",
		old:       "return !f.Deleted || slices.Contains(",
		new:       "return true || slices.Contains(",
		scenarios: "avoid nodes, 2 nodes",
	},
	{
		name: "count failures of any day", at: "pkg/policy/internal/jobs.CountFailure",
		old:       "{ return !v.Now.Before(t.Add(within)) }",
		new:       "{ return false }",
		scenarios: "avoid nodes, Recreate, 2 nodes",
	},
	{
		name: "leave Pods on a node that is avoided", at: "pkg/policy/internal/tolerance.ReplaceOutdated",
		old:       "if v.Running() || jobs.AsksToAvoid(v) == nil ||",
		new:       "if true ||",
		scenarios: "avoid nodes, 2 nodes",
	},
	{
		name: "charge the reset that gives a node up", at: "pkg/policy/internal/tolerance.GiveUpNodes",
		old:       "r.NodeFailures = without(v, avoided.Node)\n\treturn r",
		new:       "r.NodeFailures = without(v, avoided.Node)\n\treturn jobs.Charge(v, r, \"\")",
		scenarios: "avoid nodes, Recreate, 1 node",
	},
}
