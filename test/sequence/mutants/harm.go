/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

const (
	autoscaler = "./pkg/controllers/elastic"
	decisions  = "./pkg/policy/..."
	passes     = "./pkg/controllers/jobset"
)

// harm are mistakes by which what is to help makes a healthy run worse, or says less than it knows. The search does not have
// the objects on which they depend, so each names the test that holds its rule.
var harm = []mutant{
	{
		name: "grow beyond a quota", at: "pkg/elastic.job.quotaAllows", in: planner, by: "TestQuotas/P112",
		old: "if j.quota == nil {",
		new: "if true {",
	},
	{
		name: "recreate who completed before others joined", at: "pkg/policy/internal/view.View.LookAtGroup", in: decisions, by: "TestOthersJoinAGroupThatLostOne/P17",
		old: "if v.joinedAsPlanned(done) {",
		new: "if false && v.joinedAsPlanned(done) {",
	},
	{
		name: "leave out who completed although the group broke", at: "pkg/policy/internal/view.View.joinedAsPlanned", in: decisions, by: "TestOthersJoinAGroupThatLostOne/P17",
		old: "v.JobSet.Status.BreakTime != nil || v.RestartingInPlace() ||",
		new: "",
	},
	{
		name: "take what a user forced for our own deletion", at: "pkg/policy/internal/tolerance.isForced", in: decisions, by: "TestOverdueIsDeletedByForce/P85",
		old: "return m.ByForce && (m.Ended() || !m.Tracked)",
		new: "return m.ByForce",
	},
	{
		name: "charge a resize that does not come together", at: "pkg/policy/internal/group.byIntent", in: decisions, by: "TestChangesByIntent/P101a",
		old: "return v.Synced > 0 && !failed",
		new: "return false && !failed",
	},
	{
		name: "shrink a group that runs", at: "pkg/elastic.planner.lacking", in: planner, by: "TestShrinking/P108b",
		old: "if !j.Running {",
		new: "if true {",
	},
	{
		name: "resize beside a worker that has finished", at: "pkg/controllers/elastic.isPinned", in: autoscaler, by: "TestSizesBesideFinishedJobs/P101b",
		old: "return workerpod.WantsInPlace(js) && slices",
		new: "return workerpod.WantsInPlace(js) && false && slices",
	},
	{
		name: "take from others because it restarts", at: "pkg/controllers/elastic.autoscaler.addJobs", in: autoscaler, by: "TestRestartsTakeNothing/P104a",
		old: "job.Started = known.started",
		new: "",
	},
	{
		name: "take from others after a restart that another manager saw", at: "pkg/controllers/elastic.elasticJob", in: autoscaler, by: "TestRestartsTakeNothing/P104a",
		old: "job.Started = job.Started || hasRestarted(js)",
		new: "_ = hasRestarted",
	},
	{
		name: "forget what admission adds to a Pod", at: "pkg/controllers/elastic.raiseRequests", in: autoscaler, by: "TestAutoscaler/P106a",
		old: "jobs[at].Request.AtLeast(elastic.Requests(&pods[i].Spec))",
		new: "",
	},
	{
		name: "change a size that is held", at: "pkg/controllers/elastic.autoscaler.addJobs", in: autoscaler, by: "TestHeld$",
		old: "if pinned || policy.SizesHeld(js) {",
		new: "if pinned {",
	},
	{
		name: "keep to itself what limits a size", at: "pkg/policy/internal/pass.Verdict.WriteTo", in: decisions, by: "TestPlannedLimits/P113|^TestVerdicts",
		old: "is.Ceiling, is.Limit = ceilingOf(of.Ceiling), d.limitOf(js, is.Limit, of, most[of.ReplicatedJob])",
		new: "is.Ceiling, _ = ceilingOf(of.Ceiling), most",
	},
	{
		name: "reset a JobSet because it is resumed", at: "pkg/policy/internal/tolerance.healthNow", in: decisions, by: "TestUnhealthyPods/P80a",
		old: "resumes := view.HasCondition(job, batchv1.JobSuspended)",
		new: "resumes := false",
	},
	{
		name: "reset all for an index that failed for good", at: "pkg/policy/internal/tolerance.failedForGood", in: decisions, by: "TestUnhealthyPods/P80a",
		old: "if text == \"\" {",
		new: "if true {",
	},
	{
		name: "wait for a node without limit and tell nobody", at: "pkg/policy/internal/tolerance.unscheduledPods", in: decisions, by: "TestAPodWithoutANode/P80a",
		old: "if len(late) == 0 {",
		new: "if true {",
	},
	{
		name: "end a restart of all Jobs in its pause", at: "pkg/policy.allJobsReady", in: decisions, by: "TestThePauseOutlastsARestartOfAllJobs",
		old: "held := v.Watched &&",
		new: "held := false &&",
	},
	{
		name: "restart all clocks because one JobSet was not read", at: "pkg/controllers/jobset.remembered.ledSince", in: passes, by: "TestMemory/P48_P24b",
		old: "func (e *remembered) ledSince(leading, now time.Time) time.Time {\n\tif e.lostTouch {\n\t\te.answered, e.lostTouch = now, false\n\t}\n" +
			"\tif e.answered.After(leading) {\n\t\treturn e.answered\n",
		new: "var answered time.Time\n\nfunc (e *remembered) ledSince(leading, now time.Time) time.Time {\n\tif e.lostTouch {\n\t\tanswered, e.lostTouch = now, false\n\t}\n" +
			"\tif answered.After(leading) {\n\t\treturn answered\n",
	},
	{
		name: "move with each label that comes and goes", at: "pkg/policy/internal/tolerance.beforeMove", in: decisions, by: "TestPodsMoveOffSickNodes/P92a",
		old: "if movedLately(v) {",
		new: "if false {",
	},
	{
		name: "leave a lost leader to its followers", at: "pkg/placement.StrandedLeader", in: "./pkg/placement", by: "TestStrandedLeader/C372",
		old: "if leader == nil || leader.Node != \"\" || len(followers) == 0 {",
		new: "if true {",
	},
	{
		name: "the deadline counts the pull of images", at: "pkg/policy/internal/group.AssemblyDeadline", in: decisions, by: "TestGroupsThatDoNotComeTogether/P48",
		old: "v.Group.Unscheduled > 0 || v.Preparation.Holds ||",
		new: "v.Group.Unscheduled > 0 ||",
	},
	{
		name: "a Failed Pod is lost when it is replaced", at: "pkg/policy/internal/view.losesFailed", in: decisions, by: "TestAFailedPodIsLostBeforeItIsReplaced/P170",
		old: "if !mayFail(job) {\n\t\treturn true",
		new: "if !mayFail(job) {\n\t\treturn false",
	},
	{
		name: "moves wait as long as the whole Job has failed often", at: "pkg/policy/internal/view.ReplacedAfter", in: decisions, by: "TestMovesWaitForTheirOwnIndexes/P170",
		old: "facts.ReplacementWait(pod.Failures+1)",
		new: "facts.ReplacementWait(pod.Failures+1+int64(job.Status.Failed))",
	},
	{
		name: "a lost Pod makes all others of its Job wait", at: "pkg/workerpod.CountEachIndex", in: "./pkg/children", by: "TestTheJobControllerCountsEachIndexByItself/P170",
		old: "setDefault(&job.BackoffLimitPerIndex, BackoffLimit)",
		new: "_ = job",
	},
	{
		name: "start a crashed worker of a JobSet that has failed", at: "agent.quiet", in: "./agent", by: "TestDecide/P34a",
		old: "case js.Ended:",
		new: "case false:",
	},
	{
		name: "end untold where no file can say done", at: "supervisor.Supervisor.perform", in: "./supervisor", by: "TestAWorkerFinishesAndNoFileCanSaySo",
		old: "s.Log.Error(\"cannot record that the worker has finished\", \"error\", err)",
		new: "s.finished, s.code = true, 1",
	},
	{
		name: "start with an init container of our own", at: "pkg/workerpod.injectProcess", in: "./pkg/workerpod", by: "TestNoWorkerWritesWhatOthersExecute",
		old: "Lifecycle: &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{",
		new: "Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{",
	},
	{
		name: "count kills for memory with cgroup v2 only", at: "supervisor.memoryEvents", in: "./supervisor", by: "TestKillsForMemoryAreCounted",
		old: ", \"/sys/fs/cgroup/memory/memory.oom_control\"}",
		new: "}",
	},
	{
		name: "forget what the kubelet knows of a killed supervisor", at: "pkg/facts.lastKilled", in: passes, by: "TestKilledSupervisors",
		old: "if end == nil || end.ExitCode == 0 ||",
		new: "if true || end.ExitCode == 0 ||",
	},
	{
		name: "refuse to start after a rollback", at: "pkg/config.decodeLater", in: "./pkg/config", by: "TestLoad/keys_of_a_later_release",
		old: "if err != nil || !Later(cfg) {",
		new: "if err != nil || !Later(cfg) || true {",
	},
	{
		name: "take the rights of agents for the policy of a later release", at: "pkg/policy/internal/access.AgentPolicy.isEarlierThan", in: decisions, by: "TestAgentPolicyGap/P56",
		old: "return err == nil && revision > a.revision",
		new: "return err == nil && revision > a.revision && false",
	},
	{
		name: "let a period be set that nobody reads", at: "pkg/validation.unreadPeriod", in: "./pkg/validation", by: "TestToleranceWarnings/P80",
		old: "if asked.AdmissionGracePeriodSeconds == nil {",
		new: "if true {",
	},
}
