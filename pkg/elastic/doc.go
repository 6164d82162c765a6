/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package elastic plans the sizes of elastic groups: what is free goes to the job
// that has least of what it wants, and a job that cannot reach its minimum is given
// what the others have above theirs. It holds no client and reads no clock.
//
// Ids such as P104 are defined in docs/behaviour.md.
//
// # A round
//
// A job is an elastic ReplicatedJob, an instance is one of its Pods. A job that requests an accelerator
// is a GPU job; GPU jobs are planned before CPU jobs. Each node has what it can give to Pods, less what
// Pods that are no instances request, less the instances that are bound there.
//
//	1 pending    the instances that running jobs have and that are not bound are placed (P106)
//	2 minimums   (P104 1) each job below its minimum, the one with the least score first: the
//	             most fulfilled gives one, again and again, until the whole minimum fits.
//	             If that cannot be reached no job gives. What turned out not to help is given back
//	3 growth     (P104 2) unless a job gave, the least fulfilled of those that have their minimum gets one,
//	             until no next instance fits
//
// An instance is placed on the node with the least of its accelerator left (CPU jobs: whole
// CPUs), of equals on the first by name. All instances of a job are alike, so whether a
// number of them fits does not depend on where others of it were placed: that is why step 2 knows
// in advance whether taking leads to anything.
//
// # Lost nodes
//
// Before the first round, jobs that restart in place and have lacked instances for long are made smaller by what
// no node can take (P108): see shrink.go.
//
// # A plan
//
// Make repeats the round on the sizes that it returned until they do not change, so that
// carrying out a plan leads to no other plan. In the rare cluster in which they never settle, because what is
// left is scattered over nodes and resources, jobs only go on without what they lack, and every other size
// stays as it is.
// The cooldown delays a change that is planned, and does not give away what it is for (P107).
package elastic
