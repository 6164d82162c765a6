/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package policy decides. Decide looks at a JobSet, its Jobs and, for in-place
// restart, its Pods, and returns a Plan: what to delete, create, suspend and
// resume, the next status, and what to tell. It holds no client, reads no
// clock and no global, and changes nothing it is given.
//
// Ids such as P13, C61 or W33 are defined in docs/behaviour.md.
//
// # The order of decisions
//
// Steps about Jobs. The first that ends the pass is the last of them.
//
//	 1 finishedJobSet    delete the Jobs that still run, or keep them for a while; at TTL, the JobSet. Ends the pass
//	 2 gateChange        if the gate came back, say so to the agents before anything else. Ends the pass
//	 3 previousJobs      delete what belongs to an earlier attempt
//	 4 allJobsReady      the restart is over
//	 5 failurePolicy     a Job failed: the failure policy decides. Ends the pass
//	 6 successPolicy     enough Jobs succeeded: the JobSet completes, which ends the pass
//	 7 deletedJob        somebody else deleted a Job: the JobSet fails (P81). Ends the pass
//	 8 incompleteGroup   a worker of this round succeeded: recreate all (P17). Ends the pass
//	 9 resetOffNodes     recreate all Jobs if Pods have to leave sick nodes otherwise than in place (P92). Ends the pass
//	10 giveUpNodes       use an avoided node again if Pods find no place without it (P94). Ends the pass if all Jobs are recreated
//	11 unhealthyPods     Pods failed, missing or not running for too long: reset (P80), which ends the pass
//	12 retryPause        after a reset, create no Jobs before all are gone and the pause is over (P82)
//	13 createService     create the headless Service
//	14 createClaims      create the PersistentVolumeClaims that are missing
//	15 grantAccess       give the agents that we add their rights, or say why not (P56)
//	16 scaleJobs         give Jobs another number of Pods
//	17 startupCondition  say how far an in-order start has come
//	18 createJobs        create what is missing of those that have their turn, 250 in a pass
//	19 followSuspend     make the Jobs follow spec.suspend
//
// Intent first: while the group runs, D := S is written in the place of a change of
// Jobs, and what was reported about it is dropped if no step ended the pass (P16). In the same
// way ResourcesDeployed becomes True in the place of the first Jobs that are to run (P86).
//
// Steps about the group, if it is watched, nothing ended the pass, and no change of Jobs waits.
//
//	20 invalidEpochs     tell whose annotation is not an epoch (P12)
//	21 replacedPods      tell which Pods cannot restart in place (P70)
//	22 jobAboutToFail    a Job is failing: the failure policy comes first. Ends the pass
//	23 moveInPlace       move Pods off sick nodes by a group restart (P92)
//	24 replaceOutdated   replace Pods that run on nodes that are avoided, or avoid one that is given up (P93, P94)
//	25 quickFailurePause after failures in quick succession, let the lift wait (P71)
//	26 lift              let the workers of a group that assembles start (P13), or fail if restarts lead nowhere (P136)
//	27 breakGroup        restart a group that runs and lost a worker (P14, P15, P17)
//	28 lostSandboxes     delete Pods that lost their sandbox and do not come back (P74)
//	29 stuckPods         delete by force what a lost node does not let go (P25)
//	30 assemblyDeadline  step in if the group does not come together (P24)
//	31 agentAccess       tell which right an account lacks (P56)
//
// Steps of every pass.
//
//	32 assemblyClock     since when the group assembles (P24, P48)
//	33 workersNotReady   tell which workers of a group that runs are not ready
//	34 moveRefused       tell which Pods stay on sick nodes because the budget is spent (P92)
//	35 overdue           delete by force what should be gone for long (P85)
//	36 resourcesDeployed tell whether anything of the JobSet may run (P86)
//	37 countsInterval    how far apart writes of nothing but counts are (P22, P49)
//	38 resizing          tell whether an elastic group has the size that it is to have (P109)
//	39 plannedSizes     tell what the planner says about sizes (P108a, P109, P113)
//
// # How to add a step
//
// Write func(v *view, before result) result in a file of its own, and give it a place in one of
// the lists in decide.go and in the table above. It reads the view, which is what was observed,
// and of the steps before it only what their result says. It returns what it adds to the plan,
// to the status, and what it tells; set ends if no later step of the pass may act. A new kind of
// effect is a field of Plan, with a line in add, or a change of the status, with a line in apply
// (result.go). Decide itself does not change: it stops at the first step that ends the pass, and
// keeps changes of Jobs back while the group runs, whichever step asks for them.
//
// # A restart of the whole JobSet
//
//	a Job fails ──> status.restarts +1 ──> Jobs with a smaller attempt label are
//	                (this pass)            "previous": deleted in the foreground,
//	                                       and recreated once their name is free
//
// With spec.faultTolerance it is a reset: none is recreated before all are gone and a pause
// is over, see tolerance.go.
//
// # A restart of one Job
//
// The same with the counter of that Job, status.replicatedJobsStatus[].jobRestarts[index],
// and its label: see attempts.
//
// # A group restart, in place
//
// D is status.deprecatedEpoch, S is status.syncedEpoch. Both only grow.
//
//	           a member is lost, or one reports S+1
//	                 break: D := S, charged once
//	┌──────────────┐ ─────────────────────────────> ┌──────────────┐
//	│ running at S │                                │  assembling  │ <── first start, D = S = 0
//	│    D < S     │ <───────────────────────────── │    D == S    │
//	└──────────────┘  every member reports S+1      └──────────────┘
//	                       lift: S := S+1
//
// Agents move the workers: one whose epoch is <= D restarts its Pod in place, a
// new one reports S+1 and holds its worker until S reaches it. See package agent.
package policy
