/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// mutant is a mistake: in the code that decides, or, where the rule is kept by the shell or
// by the kubelet, in the model around it.
type mutant struct {
	name string
	// file, old, new: in this file, the old text, which is there exactly once, becomes the new.
	file, old, new string
	// twist is the fault of the model instead, see scenario.go.
	twist string
	// scenarios are those to search, as an expression: the ones that find it, to save time.
	scenarios string
}

const (
	groupFile   = "pkg/policy/group.go"
	inPlaceFile = "pkg/policy/in_place_restart.go"
	jobsFile    = "pkg/policy/jobs.go"
	agentFile   = "agent/decide.go"
)

var mutants = []mutant{
	{
		name: "count terminating Pods", file: groupFile,
		old: "case pod.DeletionTimestamp != nil:",
		new: "case pod.DeletionTimestamp != nil && false:",
	},
	{
		name: "count Succeeded Pods among the slots", file: groupFile,
		old: "if size-doneCount > members+leaving {",
		new: "if size > members+leaving {",
	},
	{name: "drop the UID filter", twist: "pods-by-name", scenarios: "lag 3"},
	{name: "first read from a stale cache", twist: "stale-first-read"},
	{
		name: "lift with N-1", file: inPlaceFile,
		old: "g.members != g.slots || g.reported != g.slots",
		new: "g.members != g.slots || g.reported < g.slots-1",
	},
	{
		name: "lift with zero slots", file: inPlaceFile,
		old:       "if g.slots == 0 || g.crowded ||",
		new:       "if g.crowded ||",
		scenarios: "exits 0",
	},
	{
		name: "lift while a Job is still to be created", file: inPlaceFile,
		old: "if d.plan.touchesJobs() || len(d.observed.Previous) > 0 ||",
		new: "if len(d.observed.Previous) > 0 ||",
	},
	{
		name: "let S go back", file: inPlaceFile,
		old: "d.plan.Status.DeprecatedEpoch = ptr.To(synced)",
		new: "d.plan.Status.DeprecatedEpoch, d.plan.Status.SyncedEpoch = ptr.To(synced-1), ptr.To(synced-1)",
	},
	{
		name: "charge per Pod", file: inPlaceFile,
		old: "d.plan.Status.InPlaceRestarts++",
		new: "d.plan.Status.InPlaceRestarts += max(1, int32(g.reported))",
	},
	{
		name: "charge on resume", file: jobsFile,
		old:       "d.clear(jobset.JobSetSuspended, constants.ResumedReason, constants.ResumedMessage)",
		new:       "d.plan.Status.InPlaceRestarts += int32(min(1, len(d.plan.ResumeJobs)))",
		scenarios: "suspend",
	},
	{
		name: "effect before intent", file: inPlaceFile,
		old:       "if !d.inPlace() || deprecated >= synced || !d.plan.touchesJobs() {",
		new:       "if synced >= deprecated {",
		scenarios: "suspend|resize",
	},
	{
		name: "break while assembling", file: inPlaceFile,
		old: "case deprecated >= synced:\n\t\td.plan.CountsInterval",
		new: "case deprecated >= synced && g.reported != 1:\n\t\td.plan.CountsInterval",
	},
	{
		name: "agent lifts before it checks D", file: agentFile,
		old: "case epoch <= deprecated:",
		new: "case epoch == synced && self.Lifted == Held && self.Reported:\n\t\treturn Action{Kind: Lift}\n\tcase epoch <= deprecated:",
	},
	{name: "agent rule on [88] only", twist: "narrow-rule"},

	// More than were asked for: every rule that is one line has its mutant.
	{name: "a loss is confirmed by the cache", twist: "stale-confirm", scenarios: "2 workers, 2 failures"},
	{
		name: "a loss needs no confirmation", file: inPlaceFile,
		old:       "if !d.in.Confirmed[job.UID] {",
		new:       "if false {",
		scenarios: "2 workers, 2 failures",
	},
	{
		name: "a Pod that stops is lost at once", file: groupFile,
		old: "now.Before(ends)",
		new: "now.Before(ends) && false",
		// No property forbids it: it takes the grace from those who save a checkpoint together.
		scenarios: "2 workers, 1 failure",
	},
	{
		name: "a Failed Pod is lost before it was counted", file: groupFile,
		old:       "if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {",
		new:       "if false {",
		scenarios: "Job failure",
	},
	{
		name: "lift and break while a Job fails", file: inPlaceFile,
		old:       "\tcase g.failing:\n",
		new:       "",
		scenarios: "Job failure",
	},
	{
		name: "lift while old Jobs go", file: inPlaceFile,
		old: "len(d.observed.Previous) > 0 || d.anyTerminating() ||",
		new: "",
	},
	{
		// No property forbids it either: the group goes on with one worker less.
		name: "forget who ran to the end", file: groupFile,
		old:       "if epoch, _ := reportedEpoch(pod); epoch == synced && epoch > 0 {",
		new:       "if epoch, _ := reportedEpoch(pod); epoch == synced && epoch > 0 && false {",
		scenarios: "2 workers, 1 failure",
	},
	{
		name: "report S instead of S+1", file: agentFile,
		old: "js.Synced + 1,",
		new: "max(1, js.Synced),",
	},
	{
		name: "spend one restart too many", file: "pkg/policy/failure_policy.go",
		old:       "UsedRestarts(&d.in.JobSet.Status, d.in.Gates) >= maxRestarts",
		new:       "UsedRestarts(&d.in.JobSet.Status, d.in.Gates) > maxRestarts",
		scenarios: "1 restart allowed",
	},
	{
		name: "a break is not charged", file: inPlaceFile,
		old: "d.plan.Status.InPlaceRestarts++",
		new: "",
	},
}
