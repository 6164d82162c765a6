/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// mutant is a mistake: in the code that decides, or, where the rule is kept by the shell or
// by the kubelet, in the model around it.
type mutant struct {
	name string
	// at, old, new: in this declaration, the old text, which is there exactly once, becomes the new. It is a function, a method
	// behind its type, or a variable, behind the directory below which it is: so files can move, and packages be divided.
	at, old, new string
	// twist is the fault of the model instead, see scenario.go.
	twist string
	// scenarios are those to search, as an expression: the ones that find it, to save time.
	scenarios string
	// full: only a scenario of that level finds it.
	full bool
	// by is the test that is to find it instead of the search, and in its package.
	by, in string
}

const (
	planner = "./pkg/elastic"
)

var mutants = []mutant{
	{
		name: "count terminating Pods", at: "pkg/policy/internal/view.slotOf",
		old: "case pod.Terminating():",
		new: "case pod.Terminating() && false:",
	},
	{
		name: "count Succeeded Pods among the slots", at: "pkg/policy/internal/view.slotOf",
		old: "slot.State = SlotDone",
		new: "slot.State = SlotLost",
	},
	{name: "drop the UID filter", twist: "pods-by-name", scenarios: "lag 3"},
	{name: "first read from a stale cache", twist: "stale-first-read"},
	{
		name: "lift with N-1", at: "pkg/policy/internal/group.Lift",
		old: "g.Members != g.Size || g.Reported != g.Size",
		new: "g.Members != g.Size || g.Reported < g.Size-1",
	},
	{
		name: "lift with zero slots", at: "pkg/policy/internal/group.Lift",
		old:       "if g.Size == 0 || g.Crowded ||",
		new:       "if g.Crowded ||",
		scenarios: "exits 0",
	},
	{
		name: "lift while a Job is still to be created", at: "pkg/policy/internal/group.Lift",
		old: "!before.Writes.JobsAsWanted() || len(v.Observed.Previous) > 0 ||",
		new: "len(v.Observed.Previous) > 0 ||",
	},
	{
		name: "let S go back", at: "pkg/policy.apply",
		old: "status.DeprecatedEpoch = ptr.To(v.Synced)",
		new: "status.DeprecatedEpoch, status.SyncedEpoch = ptr.To(v.Synced-1), ptr.To(v.Synced-1)",
	},
	{
		name: "charge per Pod", at: "pkg/policy.apply",
		old: "status.InPlaceRestarts += view.OneIf(r.Changes.Any(pass.ChargeGroup))",
		new: "status.InPlaceRestarts += view.OneIf(r.Changes.Any(pass.ChargeGroup)) * max(1, int32(v.Group.Reported))",
	},
	{
		name: "charge on resume", at: "pkg/policy/internal/jobs.FollowSuspend",
		old:       "r = r.And(endSuspension(v))",
		new:       "r.Changes |= pass.Changes(view.OneIf(r.Writes.Does(pass.ResumeJob))) * pass.ChargeGroup",
		scenarios: "suspend",
	},
	{
		name: "suspend Jobs before the status says so", at: "pkg/policy/internal/jobs.WaitsForSuspended",
		old:       "return !announced || counts && v.JobSet.Status.ExecutionAttempts == nil",
		new:       "return announced && counts && v.JobSet.Status.ExecutionAttempts == nil",
		scenarios: "executions, 2 Jobs, suspend",
	},
	{
		name: "resume Jobs before the execution is counted", at: "pkg/policy/internal/jobs.StatusFirst",
		old:       "if sum = withoutJobs(sum); !again {",
		new:       "if !again {",
		scenarios: "executions, 2 Jobs, suspend",
	},
	{
		name: "effect before intent", at: "pkg/policy.waitsForIntent",
		old:       "return v.InPlace && !v.Finished && v.Running() &&",
		new:       "return false &&",
		scenarios: "suspend|resize",
	},
	{
		name: "break while assembling", at: "pkg/policy/internal/group.BreakGroup",
		old: "if !v.Running() {\n\t\treturn pass.Result{}\n\t}\n\treporter := v.Reporter()",
		new: "if !v.Running() && v.Group.Reported != 1 {\n\t\treturn pass.Result{}\n\t}\n\treporter := v.Reporter()",
	},
	{
		name: "agent lifts before it checks D", at: "agent.compare",
		old: "case epoch <= deprecated:",
		new: "case epoch == synced && self.Lifted == Held && self.Reported:\n\t\treturn Action{Kind: Lift}\n\tcase epoch <= deprecated:",
	},
	{name: "agent rule on [88] only", twist: "narrow-rule"},

	// More than were asked for: every rule that is one line has its mutant.
	{name: "a loss is confirmed by the cache", twist: "stale-confirm", scenarios: "2 workers, 2 failures"},
	{
		name: "a loss needs no confirmation", at: "pkg/policy/internal/group.unconfirmedLoss",
		old:       "case lacking == nil:",
		new:       "case true:",
		scenarios: "2 workers, 2 failures",
	},
	{
		name: "a Pod that stops is lost at once", at: "pkg/policy/internal/view.slotOf",
		old: "now.Before(pod.Deadline)",
		new: "now.Before(pod.Deadline) && false",
		// No property forbids it: it takes the grace from those who save a checkpoint together.
		scenarios: "2 workers, 1 failure",
	},
	{
		name: "a Failed Pod is lost before it was counted", at: "pkg/policy/internal/view.slotOf",
		old:       "if pod.Tracked && !losesFailed {",
		new:       "if false {",
		scenarios: "Job failure",
	},
	{
		name: "lift and break while a Job fails", at: "pkg/policy/internal/group.JobAboutToFail",
		old:       "return pass.Result{Ends: v.Group.Failing}",
		new:       "return pass.Result{}",
		scenarios: "Job failure",
	},
	{
		name: "lift while old Jobs go", at: "pkg/policy/internal/group.Lift",
		old: "len(v.Observed.Previous) > 0 || v.AnyTerminating() ||",
		new: "",
	},
	{
		name: "forget who ran to the end", at: "pkg/policy/internal/view.roundSuccess.Any",
		old:       "return s.pod != nil || s.index != nil || s.job != nil",
		new:       "return false",
		scenarios: "2 workers, 2 failures|2 Jobs, 2 failures",
	},
	{
		name: "report S instead of S+1", at: "agent.choose",
		old: "js.Synced + 1,",
		new: "max(1, js.Synced),",
	},
	{
		name: "spend one restart too many", at: "pkg/policy/internal/jobs.BudgetSpent",
		old:       "UsedRestarts(&v.JobSet.Status) >= MaxRestarts(v)",
		new:       "UsedRestarts(&v.JobSet.Status) > MaxRestarts(v)",
		scenarios: "1 restart allowed",
	},
	{
		name: "complete when the first Job completes", at: "pkg/policy/internal/jobs.SuccessMet",
		old:       "if policy.Operator == jobset.OperatorAny {",
		new:       "if true {",
		scenarios: "driver succeeds|2 Jobs, 2 failures",
	},
	{
		name: "break although a success is not counted yet", at: "pkg/policy/internal/group.WaitForSuccess",
		old:       "case pending:",
		new:       "case false:",
		scenarios: "driver succeeds",
	},
	{
		name: "epoch asked of who ended with 0", at: "pkg/policy/internal/group.mayHaveRun",
		old:       "return v.Synced >= 1 && int64(epoch) != int64(v.Synced)+1",
		new:       "return epoch == v.Synced",
		scenarios: "late reports",
	},
	{
		name: "do not wait for a success that is not seen yet", at: "pkg/policy/internal/group.WaitForSuccess",
		old:       "return r.And(pass.RequeueAfter(left)), left > 0",
		new:       "return r.And(pass.RequeueAfter(left)), false",
		scenarios: "driver succeeds",
	},
	{
		name: "forget the success policy of a Job", at: "pkg/policy/internal/group.aboutToComplete",
		old:       " || jobSuccessMet(job.Spec.SuccessPolicy, done, succeeded, size)",
		new:       "",
		scenarios: "success of a Job by index 0, 2 exits",
	},
	{
		name: "nothing to create means nothing is missing", at: "pkg/policy/internal/group.Lift",
		old:       "!before.Writes.JobsAsWanted() ||",
		new:       "before.Writes.Does(pass.ChangeJobs) ||",
		scenarios: "claim",
	},
	{
		name: "a Pod beyond the size does not matter", at: "pkg/policy/internal/group.Lift",
		old:       "g.Crowded || len(g.Outsiders) > 0 ||",
		new:       "g.Crowded ||",
		scenarios: "1 failure, resize",
	},
	{
		name: "forget who is done by the word of its Job", at: "pkg/policy/internal/view.GroupState.addJob",
		old:       "g.Success.addIndex(job, done[0].First)",
		new:       "_ = done",
		scenarios: "^2 workers, 2 failures$",
	},
	{
		name: "delete all Pods because one is late", at: "pkg/policy/internal/view.View.Late",
		old:       "s.State == SlotMember && !s.Reports(v.Synced) && s.Pod.Node",
		new:       "s.State == SlotMember && s.Pod.Node",
		scenarios: "hang",
	},
	{
		name: "the deadline counts a long grace", at: "pkg/policy/internal/group.AssemblyDeadline",
		old:       "if v.Group.Leaving > 0 || v.Group.Unscheduled > 0 || v.Preparation.Holds || backoff > 0 {",
		new:       "if backoff > 0 {",
		scenarios: "long grace",
	},
	{
		name: "the deadline counts a back-off", at: "pkg/policy/internal/group.AssemblyDeadline",
		old:       "v.Preparation.Holds || backoff > 0 {",
		new:       "v.Preparation.Holds {",
		scenarios: "back-offs",
	},
	{
		name: "a back-off holds the deadline up without limit", at: "pkg/policy/internal/view.View.BackoffLeft",
		old:       "min(v.Until(until), m.ReplacedIn(v.Now))",
		new:       "m.ReplacedIn(v.Now)+0*v.Until(until)",
		scenarios: "back-offs",
	},
	{
		name: "a Failed Pod is lost before its Job may fail", at: "pkg/policy/internal/view.losesFailed",
		old:       "if !mayFail(job) {",
		new:       "if true {",
		scenarios: "1 failure, Job failure",
	},
	{
		name: "a Failed Pod of an older Job is lost before it was counted", at: "pkg/policy/internal/view.losesFailed",
		old:       "if !facts.CountsEachIndex(job) {\n\t\treturn false",
		new:       "if !facts.CountsEachIndex(job) {\n\t\treturn true",
		scenarios: "older version",
	},
	{
		name: "the deadline counts what keeps Jobs from being created", at: "pkg/policy/internal/group.AssemblyClock",
		old:       "startsOver := len(v.Observed.Active) == 0 && before.Writes.Does(pass.CreateJob)",
		new:       "startsOver := false",
		scenarios: "deadline, a claim|old Pods",
	},
	{
		name: "wait indefinitely", at: "pkg/policy/internal/group.AssemblyDeadline",
		old:       "return r.And(recreateAssembly(v))",
		new:       "return r",
		scenarios: "claim",
	},
	{
		name: "resize charged", at: "pkg/policy/internal/group.byIntent",
		old:       "return v.Synced > 0 &&",
		new:       "return false &&",
		scenarios: "elastic, 1 plan, Pods that hang",
	},
	{
		name: "lacking in a running group", at: "pkg/elastic.planner.lacking", in: planner, by: "FuzzRefusals",
		old: "if !j.Running {",
		new: "if true {",
	},
	{
		name: "wait for what is refused", at: "pkg/elastic.planner.retreat", in: planner, by: "FuzzRefusals",
		old: "if late > 0 && !j.noRoom",
		new: "if false && !j.noRoom",
	},
	{
		name: "grow to what was refused", at: "pkg/elastic.planner.obeyCeiling", in: planner, by: "FuzzRefusals",
		old: "if p.in.Now.Before(c.Until) &&",
		new: "if false &&",
	},
	{
		name: "try what is refused as often as ever", at: "pkg/elastic.planner.nextCeiling", in: planner, by: "FuzzRefusals",
		old: "next.Refusals = last.Refusals + 1",
		new: "next.Refusals = 1",
	},
	{
		name: "forget growth that came to nothing", at: "pkg/elastic.planner.growthFailed", in: planner, by: "FuzzRefusals",
		old: "if j.grew() {\n\t\td.Ceiling",
		new: "if false {\n\t\td.Ceiling",
	},
	{
		name: "recreate who is late and charge nobody", at: "pkg/policy/internal/group.recreateAssembly",
		old:       "return r.And(jobs.Charge(v, restart, jobs.LastFailure(missing)))",
		new:       "return r.And(restart)",
		scenarios: "claim",
	},
	{
		name: "count Jobs that the success policy does not target", at: "pkg/policy/internal/jobs.SuccessMet",
		old:       "if targeted(view.ReplicatedJobOf(job)) {",
		new:       "if job != nil {",
		scenarios: "driver succeeds",
	},
	{
		name: "all must succeed where one is enough", at: "pkg/policy/internal/jobs.SuccessMet",
		old:       "policy.Operator == jobset.OperatorAny {",
		new:       "false {",
		scenarios: "any of 2 Jobs",
	},
	{
		name: "restart where a rule fails the JobSet", at: "pkg/policy/internal/jobs.actOn",
		old:       "case jobset.FailJobSet:\n\t\treturn pass.Fail(constants.ActionReason(action), message)\n\tcase jobset.RestartJobSet:",
		new:       "case jobset.FailJobSet, jobset.RestartJobSet:",
		scenarios: "rules",
	},
	{
		name: "charge what a rule exempts", at: "pkg/policy/internal/jobs.actOn",
		old:       "\t\treturn RestartAll(reason, action, message, causeOf(v, job))\n",
		new:       "\t\tr := RestartAll(reason, action, message, causeOf(v, job))\n\t\tr.Changes |= pass.ChargeAllJobs\n\t\treturn r\n",
		scenarios: "rules",
	},
	{
		name: "fail whatever the rules say", at: "pkg/policy/internal/jobs.actOn",
		old:       "\tcase jobset.RestartJobSetAndIgnoreMaxRestarts:\n",
		new:       "\tcase jobset.RestartJobSetAndIgnoreMaxRestarts:\n\t\treturn pass.Fail(constants.ActionReason(action), message)\n",
		scenarios: "rules",
	},
	{
		name: "a break is not charged", at: "pkg/policy.apply",
		old: "status.InPlaceRestarts += view.OneIf(r.Changes.Any(pass.ChargeGroup))",
		new: "",
	},
	{
		name: "charge each rung of the ladder", at: "pkg/policy/internal/group.IncompleteGroup",
		old:       "r = r.And(jobs.RestartAll(constants.DefaultFailurePolicyReason,",
		new:       "r.Changes |= pass.ChargeAllJobs\n\t\tr = r.And(jobs.RestartAll(constants.DefaultFailurePolicyReason,",
		scenarios: "2 failures",
	},
	{
		name: "forget when the group broke", at: "pkg/policy/internal/view.View.BrokenAt",
		old:       "return at.Time",
		new:       "return time.Time{}",
		scenarios: "pauses",
	},
	{
		name: "forget earlier quick failures", at: "pkg/policy/internal/group.QuickFailuresAfter",
		old:       "return count + 1",
		new:       "return 1",
		scenarios: "pauses",
	},
	{
		name: "count epochs that ran long", at: "pkg/policy/internal/group.QuickFailuresAfter",
		old:       "|| v.Now.Sub(lifted.Time) >= longRun:",
		new:       "|| v.Now.Sub(lifted.Time) < 0:",
		scenarios: "pauses",
	},
	{
		name: "lift in the pause", at: "pkg/policy/internal/group.Lift",
		old:       "g.Reported != g.Size || pauseLeft(v) > 0 {",
		new:       "g.Reported != g.Size {",
		scenarios: "pauses",
	},
}
