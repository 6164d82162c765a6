/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package policy decides. Decide looks at a JobSet, its Jobs and, for in-place
// restart, its Pods, and returns a Plan: what to delete, create, suspend and
// resume, the next status, and what to tell. It holds no client, reads no
// clock and no global, and changes nothing it is given.
//
// # The order of decisions
//
//	1 finished?           delete the Jobs that still run; at TTL, the JobSet. Nothing else.
//	2 gate came back?     say so to the agents before anything else
//	3 previous Jobs       delete what belongs to an earlier attempt
//	4 all Jobs ready?     the restart is over
//	5 a Job failed?       the failure policy decides; nothing else
//	6 Jobs succeeded?     the success policy may complete the JobSet; then nothing else
//	7 group incomplete?   a worker of this round succeeded: recreate all (P17); nothing else
//	8 service             create the headless Service
//	9 claims              create the PersistentVolumeClaims that are missing
//	10 scale              give Jobs another number of Pods
//	11 turn               which ReplicatedJobs have their turn: dependsOn, startup policy
//	12 Jobs               create what is missing of them
//	13 suspend, resume    make the Jobs follow spec.suspend
//	14 intent first       while the group runs, an effect of 3, 10, 12 or 13 waits for D := S (P16)
//	15 group              lift the barrier, or break the group
//
// # A restart of the whole JobSet
//
//	a Job fails ──> status.restarts +1 ──> Jobs with a smaller attempt label are
//	                (this pass)            "previous": deleted in the foreground,
//	                                       and recreated once their name is free
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
