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
// Three lists in decide.go are asked from top to bottom: the steps about Jobs, those about the group, and those of every pass.
//
// Intent first: while the group runs, D := S is written in the place of a change of
// Jobs, and what was reported about it is dropped if no step ended the pass (P16). In the same
// way ResourcesDeployed becomes True in the place of the first Jobs that are to run (P86).
//
// # Rooms
//
// The steps, and what they ask, are in packages under internal. A room asks itself and those below it (depguard holds that), and
// exports.go has the names that other packages use:
//
//	policy               Decide: the lists of steps, what is looked at first, what becomes of the status
//	tolerance            spec.faultTolerance, sick nodes, queues
//	group                lifts, breaks, deadlines, lost nodes, hangs
//	elastic, access      sizes; rights of agents
//	jobs                 creation, policies, startup order, executions, what blocks Jobs, the budget of restarts
//	view                 what a step looks at: what the Jobs and Pods of a JobSet add up to
//	pass                 what goes in and what comes out: Input, Result, Plan, conditions, causes
//
// # How to add a step
//
// Write func Name(v *view.View, before pass.Result) pass.Result in a file of its own, in the room that it belongs to, and give it a
// place in one of the lists in decide.go. It reads the view, which is what was observed,
// and of the steps before it only what their result says. It returns what it adds to the plan,
// to the status, and what it tells; set Ends if no later step of the pass may act. A new change of an object is an OpKind
// (pass/writes.go), with a case where the shell makes them (do in pkg/controllers/jobset/execute.go). What is asked, remembered or
// reported is a field of a part of Plan (pass/reports.go, pass/plan.go), with a line in the function that adds up such
// parts, and a change of the status has a line in apply (compose.go). Decide itself does not change: it stops at the first
// step that ends the pass, and keeps changes of Jobs back while the group runs, whichever step asks for them.
//
// A bare event is told in each pass that writes the status. To tell something once, let the event follow a condition that
// changes (pass.BecomesTrue), or a change that is made once, such as the lift.
//
// # A restart of the whole JobSet
//
//	a Job fails ──> status.restarts +1 ──> Jobs with a smaller attempt label are
//	                (this pass)            "previous": deleted in the foreground,
//	                                       and recreated once their name is free
//
// With spec.faultTolerance it is a reset: none is recreated before all are gone and a pause
// is over, see package tolerance.
//
// # A restart of one Job
//
// The same with the counter of that Job, status.replicatedJobsStatus[].jobRestarts[index],
// and its label: see view.Attempts.
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
