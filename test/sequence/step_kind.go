/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// stepKind is who does what.
type stepKind uint8

const (
	// The controller: its caches catch up, and it makes passes.
	cacheJobSet stepKind = iota
	cacheJobs
	cachePods // of Job uid
	cacheLeases
	begin
	confirm // after the Pods of a Job, read the Job past the cache
	perform // n: which of the writes under way
	writeStatus
	waitEnds     // of a break that is held back
	periodPasses // of the deadline of the assembly
	minutePasses // since the last lift
	pauseEnds    // after quick failures
	retryPauseEnds
	jobAges      // Job uid: another of its times is up
	troubleLasts // for the time in which it may heal
	moveEnds     // the wait for more nodes to be marked
	placeIsLate  // of a Pod that finds no node
	dayPasses    // after which no node is avoided
	ticks        // 25 s pass for all nodes and those who wait for them
	timeIsUp     // replaceAfterSeconds after a break
	nodeReturns  // node n
	remnantEnds  // n: of the workers that nobody knows any more
	peerFails    // Pod uid: for lack of a worker of its epoch
	ghostPerform // the same of a former leader
	ghostWriteStatus

	// Agents and kubelets, of Pod uid.
	agentStart // n: how old the first look is
	agentLook  // n: 1: its watch broke, and it reads what is now
	agentReport
	agentAck
	lateReport // of an agent that is gone
	podStops
	workerStart // after the lift
	claimGone   // the last Pod that used it is gone
	podRestarts // after a container of it ended
	podSucceeds // after its worker exited 0
	// In process mode: n is the container.
	containerStarts
	supervisorConnects
	supervisorHears
	supervisorTerminated
	childStops   // n: and maxContainers more if with 0
	stopTimeEnds // of a worker that the kubelet has told to end meanwhile
	leftoversGo
	gateOpens     // the program of an epoch opens its gate, as gateReached does a standby
	standbyStarts // its time has come
	gateReached
	agentHears
	linkEnds
	agentRepeats
	agentStrays
	agentPolls     // for the files of workers that are done
	stuckForMinute // a container, since its agent heard so
	containersOver
	podGraceEnds

	// The Job controller and the garbage collector.
	podCounted  // Pod uid
	backoffEnds // Pod uid: it may be replaced from now on
	podCreated  // Job uid, index n
	podUnwanted // Pod uid
	jobWakes    // Job uid: its Pods may be created from now on, as jobSleeps not any more
	jobSleeps
	jobSees      // Job uid: the Job controller writes how many Pods of it have not ended, and whether it fails
	jobSucceeds  // Job uid: its own success policy is met
	jobFinished  // Job uid
	jobExpires   // Job uid: some time after it completed
	jobRemoved   // Job uid
	jobCollected // Job uid: its JobSet is gone

	// From here on: what costs a budget.
	firstTrouble
	workerExits   // Pod uid
	workerExits0  // Pod uid
	agentCrashes  // Pod uid
	podIsDeleted  // Pod uid
	podFails      // Pod uid
	podHangs      // Pod uid
	containerDies // Pod uid, container n; as the next three
	linkBreaks
	processStays
	containerAway
	standbyEnds // before its gate was opened
	sandboxDies // Pod uid
	leaseIsDeleted
	nodeDies     // Pod uid
	jobIsDeleted // Job uid
	markNode     // of Pod uid, as unmarkNode, which costs nothing
	unmarkNode
	nodeIsCut     // node n
	jobFails      // Pod uid: a Pod fails so that its Job does
	leaderChange  // n: bit 0: caches as old as they may be, bit 1: the former leader's writes are still under way
	clockJumps    // of the controller, by more than any deadline. n: 1: back
	suspendJobSet // until resumed
	resize        // ReplicatedJob uid to n workers
	replan        // a planner: the first ReplicatedJob to uid workers, the other to n

	// What a user may do in random schedules only.
	toggleDisabled
	toggleGate
	wipeStatus
	recreateJobSet
	deleteClaim
	forgeEpoch // Pod uid
	doublePod  // Pod uid: the Job controller makes a second one for its index

	resumeJobSet // costs nothing
)

// step is one thing that happens.
type step struct {
	kind stepKind
	uid  int16
	n    int8
}

// trouble reports whether a step stops when failures stop.
func (s step) trouble() bool { return s.kind > firstTrouble }
