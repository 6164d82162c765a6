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
// # How to add a step
//
// Write func(v *view, before result) result in a file of its own, and give it a place in one of
// the lists in decide.go. It reads the view, which is what was observed,
// and of the steps before it only what their result says. It returns what it adds to the plan,
// to the status, and what it tells; set ends if no later step of the pass may act. A new change of an object is an OpKind
// (writes.go), with a case where the shell makes them (do in pkg/controllers/jobset/execute.go). What is asked, remembered or
// reported is a field of a part of Plan (reports.go, plan.go), with a line in the function that adds up such
// parts, and a change of the status has a line in apply (compose.go). Decide itself does not change: it stops at the first
// step that ends the pass, and keeps changes of Jobs back while the group runs, whichever step asks for them.
//
// A bare event is told in each pass that writes the status. To tell something once, let the event follow a condition that
// changes (becomesTrue), or a change that is made once, such as the lift.
//
// # Floors
//
// A file uses names of the floors below its own:
//
//	decide.go look.go compose.go   the lists of steps, what is looked at first, what becomes of the status
//	a file for each idea           the steps, and what they ask the view
//	members.go                     the questions about the group that several steps ask
//	view.go                        what a step may read
//	result.go                      what a step may add
//	input.go plan.go               what comes in and what goes out: questions, writes, what is remembered,
//	writes.go reports.go           the status, reports, and how soon to go on
//	group.go observe.go            what the Pods and the Jobs of a JobSet add up to
//	jobset.go slots.go             what a JobSet and its Pods say by themselves
//	conditions.go                  how a condition or an event is reported
//
// In the other direction the files are in rooms, of which each asks only itself and those before it: see rooms_test.go.
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
