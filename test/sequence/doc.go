/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package sequence checks the protocol of in-place restart in a small world in which
// everything that may happen does happen, in every order.
//
// The decisions in it are the real ones: policy.Decide for the controller, agent.Decide
// for the agents, and in process mode supervisor.Step for the supervisors. Around them is a model, made of plain values, of all that they meet:
//
//	world.go           what there is: JobSet, Jobs, Pods, processes, caches, budgets
//	history.go         a cache that lags: the last few versions of something, and a reader's place
//	scenario.go        which JobSet, and what may go wrong how often
//	step.go            one thing that happens; which can happen now; what happens then
//	controller.go      a pass of the controller, split at every write; decider.go: what it asks policy.Decide
//	objects.go         the API objects that policy.Decide sees, made of values of the model
//	jobcontroller.go   the Job controller and the garbage collector
//	node.go            kubelets, agents and workers
//	supervised.go      what a Pod has in process mode: supervisors, their connections, what the agent knows
//	supervisor.go      supervisors and the workers they run; rounds.go: their agent; standby.go: standbys at their gates
//	user.go            what goes wrong, and what users do
//	book.go            what the properties remember of the past
//	properties.go      properties 1 to 4, computed from the spec and never from the code under test
//	ran_out.go         who ran to its end in this round (P17)
//	terminal.go        property 6: success policies, failure rules, and what became of the JobSet
//	good.go            property 5: what the world has to come to when failures stop
//	bypass.go          in-place restart is switched off and on again; property 11
//	clock.go           what depends on time: breaks that are held back, deadlines, claims that go
//	in_flight.go       a period that passes while reports are in flight; jumps.go: a clock that jumps
//	executions.go      executions, which are numbered
//	pause.go           the pause after quick failures
//	tolerance.go       fault tolerance: resets and their pause, sick nodes, what is deleted by force;
//	                   tolerance_objects.go: their objects, tolerance_properties.go: what has to hold
//	planned_stop.go    breaks that are planned, before which workers save their state
//	lost_node.go       nodes that are cut off, and may come back; lost_properties.go: property 12
//	steps.go           restarts that lead nowhere
//	avoid.go           nodes that failed the JobSet, which it avoids; avoid_properties.go: property 10
//	planner.go         elastic groups, whose sizes a planner changes
//	order.go           ReplicatedJobs that wait for others to be ready
//	cases.go           the scenarios that are searched, and so the bounds; cases_tolerance.go: more of them
//	search.go          all schedules within the bounds of a scenario, breadth first
//	encode.go          the canonical form of a world, by which the search knows it again
//	walk.go            one random schedule
//	trace.go           a schedule as a table
//	mutants/           a command that puts mistakes into the decisions and looks whether they are found
//	testdata/          the main stories as tables, and what the search found against the rules
//	                   and, as fixed-*, what it found once and must not happen again
//
// # The properties
//
//  1. No two workers of one group run in different epochs with their barriers lifted by us.
//  2. A worker that failed in an epoch never runs again in that epoch.
//  3. D and S never decrease, D <= S, and every lift had the whole group at S+1 in the view it
//     was decided on, none of which the controller had deleted for being late (P24c), and came after the pause of quick failures (P71). Jobs that wait for others to be ready come before
//     the lift, and after those have reported (P126).
//  4. Restarts are charged exactly once per group restart, and never for suspend, resume,
//     resize, join, controller restarts or agent restarts before their report.
//     Each charge, restart of all Jobs and resumption is one execution, and no Job runs again with the number of an earlier one.
//  5. When failures stop, the group runs in one epoch, or the JobSet is finished. That the Job controller waits before it replaces
//     a Pod holds up no deadline for longer than its longest wait (P170).
//  6. The JobSet ends as its workers did: Completed if its success policy is met, and Failed by a
//     rule, a spent budget or too many restarts that led nowhere only. If its success policy is met, it is neither restarted nor Failed.
//  7. ResourcesDeployed is True while a Pod of a JobSet with fault tolerance has not ended, or a Job
//     may start one, and until the JobSet has ended or is suspended.
//  8. A worker that is told to end is told once, and nothing of it is killed before its grace is over: that of the kubelet
//     from its signal on. An agent that sees that the JobSet is suspended tells nobody to end.
//     A worker may save its state before a break that is planned (P142), and before no other.
//  9. A gate opens once for an epoch, while no process of another epoch exists, and a standby that could wait is not killed.
//  10. A JobSet avoids the nodes on which as many of its charged restarts began as it asks for, those and no others, and for
//     as long; a group does not start over a Pod that is left there; and rather than not to run, it uses such a node again.
//  11. No lift while a worker of the group runs outside of all epochs (P34b).
//  12. No step of an epoch is computed after the next one was lifted, of a worker on any node: a step needs all workers of its
//     epoch, and once their successors are lifted, those that are left on nodes that were cut off are never all of them. For these
//     alone this stands in the place of property 1: an old one may exist beside its successor, until its node hears of it. A
//     worker is replaced by force only while its group assembles after a break, when replaceAfterSeconds have passed, if the manager
//     has seen its node silent for longer than any kubelet is, and never on more than a third of the nodes of the group, but one (P173).
//
// Of fault tolerance these hold besides: no Job is created between a reset and the end of its pause, which
// begins when all Jobs are gone (3); moves are not charged, and none is begun when the budget is spent; a reset
// is charged, has its reason, and does not happen over a suspend (4). Of elastic groups: all workers of an epoch are told the
// same sizes, which are those of the group that was lifted, and none runs beyond them (1).
//
// # What the model leaves out, and why nothing is lost
//
//   - A pass that changes no Job is one step: it decides and writes the status. That it might
//     have looked earlier is the same as a cache that lags more. A pass that changes Jobs is
//     split at every write.
//
//   - The uncached read that confirms a loss is two steps: the Pods of the indexes that seem to be
//     lost, then the Job. All that seem to be lost are asked for: no Job here has too many.
//
//   - Counts in the status (ready, active, ...) are not kept: no decision about the group reads them, but how many Pods of a Job have
//     not ended if one of them may fail it (P170). A Pod that is created is in that count at once.
//
//   - A back-off is over at any moment, also after several periods. Where a scenario has none, a Failed Pod may be replaced at once.
//
//   - Time is whether a Pod is past its deletion timestamp and whether a break was held back for long
//     enough, which may happen at any moment, and how many periods of its deadline a group assembles.
//     A period is long: it passes when all have done what they can, but for Pods in their grace, Pods
//     that hang and a Job controller that is away, and where a scenario says so, workers that take their time to stop,
//     and once reports that are on their way to the API server or to the cache of Leases. A clock may jump, forward or back,
//     when all caches have caught up. A worker that exited 0 is seen in the seconds for
//     which a break is held back. Where a scenario has pauses, the minute after which an epoch is no quick
//     failure, and the pause, may each be over at any moment between two passes.
//
//   - An agent looks, decides and acts in one step, since what it sees may be old anyway. Its
//     report is another step: until then the world moves on, and the agent may die.
//
//   - A Pod without sandbox is seen once its 10 s are over (P74): before, it is not seen yet. In container mode the
//     kubelet makes another sandbox, which is a restart like any other.
//
//   - The report of an agent that died while it was on its way may arrive at any later time, also after the lift. In
//     container mode, where a report is made once, not between a report and its lift: P24 would have to act.
//
//   - In process mode a connection to the agent delivers what was sent in order, or ends. A hello is heard in
//     the step in which a supervisor connects: one that is not heard is no connection. How long an agent
//     waits is no matter: each of its times may be over at any moment.
//
//   - The controllers remember nothing of fault tolerance but that Pods are to move, so each pass is that of a new
//     leader. Each of its times may be over at any moment between two passes. Nodes are their marks on Pods: a
//     replacement stands elsewhere. Where nodes are avoided there are one or two, of names, and a scheduler that takes the emptier;
//     the controllers remember the first failure that a cache showed, until there is another leader. A write of a former leader may still create a Job when its successor has
//     released the quota: scenarios with fault tolerance leave such late writes out.
//
//   - In scenarios with an order of start nobody passes by the agents: readiness, which decides then, is not modelled.
//
//   - A node that is cut off tells the API server nothing: its kubelet and agents hear and say nothing, its workers run on, or fail. Workers
//     reach each other wherever they are, which is the worst case, and one whose peer does not run in its epoch fails some time. That a
//     worker which came back is killed without grace (P175) is in the tables of package agent.
//
//   - The annotation that disables in-place restart comes and goes at any time, and the gate with another manager, maybe before any
//     manager has looked. Why in-place restart is off is not kept.
//
//   - A planner is any change of sizes within their bounds by one write, at any time.
//
//   - A standby is due at any moment after the worker has opened its gate, comes to its own gate at any moment after
//     that, or never, and is killed in the step in which that is decided.
//
//   - In process mode a connection that breaks, a container that is killed, or an agent that crashes while its Pod
//     does not run may cost a restart each, since nobody can know whether a worker was started (property 4).
//
//   - A Lease has an epoch and nothing else: how exits of both places are merged is in the tables of package facts.
//     A report that is repeated in both places is two steps, at any time while the agent is held. A late report, and a
//     Lease that somebody deletes, change the Lease; a report that is refused there goes to the Pod in one step.
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
