/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package sequence checks the protocol of in-place restart in a small world in which
// everything that may happen does happen, in every order.
//
// The decisions in it are the real ones: policy.Decide for the controller and agent.Decide
// for the agents. Around them is a model, made of plain values, of all that they meet:
//
//	world.go           what there is: JobSet, Jobs, Pods, processes, caches, budgets
//	history.go         a cache that lags: the last few versions of something, and a reader's place
//	scenario.go        which JobSet, and what may go wrong how often
//	step.go            one thing that happens; which can happen now; what happens then
//	controller.go      a pass of the controller, split at every write
//	objects.go         the API objects that policy.Decide sees, made of values of the model
//	jobcontroller.go   the Job controller and the garbage collector
//	node.go            kubelets, agents and workers
//	user.go            what goes wrong, and what users do
//	properties.go      properties 1 to 4, computed from the spec and never from the code under test
//	good.go            property 5: what the world has to come to when failures stop
//	cases.go           the scenarios that are searched, and so the bounds
//	search.go          all schedules within the bounds of a scenario, breadth first
//	encode.go          the canonical form of a world, by which the search knows it again
//	walk.go            one random schedule
//	trace.go           a schedule as a table
//	mutants/           a command that puts mistakes into the decisions and looks whether they are found
//	testdata/          the main stories as tables, and what the search found against the rules
//
// # The properties
//
//  1. No two workers of one group run in different epochs with their barriers lifted by us.
//  2. A worker that failed in an epoch never runs again in that epoch.
//  3. D and S never decrease, D <= S, and every lift had the whole group at S+1 in the view it
//     was decided on.
//  4. Restarts are charged exactly once per group restart, and never for suspend, resume,
//     resize, join, controller restarts or agent restarts before their report.
//  5. When failures stop, the group runs in one epoch, or the JobSet is finished.
//
// # What the model leaves out, and why nothing is lost
//
//   - A pass that changes no Job is one step: it decides and writes the status. That it might
//     have looked earlier is the same as a cache that lags more. A pass that changes Jobs is
//     split at every write.
//   - The uncached read that confirms a loss is one step too, but it sees the Pods as they were
//     up to the bound of the lag ago: the Job is read after them.
//   - Counts in the status (ready, active, ...) are not kept: no decision about the group reads them.
//   - Time is only whether a Pod is past its deletion timestamp, which may happen at any moment.
//   - An agent looks, decides and acts in one step, since what it sees may be old anyway. Its
//     report is another step: until then the world moves on, and the agent may die.
//
// # What it takes for granted
//
// A pass that changes Jobs reads the JobSet past the cache before it does, and decides again
// later if that is not the JobSet it saw. TestFindings shows what happens otherwise.
//
// # To run it
//
//	make test-sequence                   within bounds that take minutes
//	make test-sequence-full              within wider ones, and 100,000 random schedules
//	make mutants                         does it find mistakes?
//	make test-sequence SEQUENCE_SEED=7   one random schedule again
package sequence
