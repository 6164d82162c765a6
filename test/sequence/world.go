/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"

	"sigs.k8s.io/jobset/agent"
)

// maxReplicatedJobs bounds the size of a spec, so that a jobSet is a comparable value.
const maxReplicatedJobs = 3

// world is all there is at a moment. Its slices are replaced, never changed, but for pods,
// which every copy has for itself.
type world struct {
	sc *scenario

	// What the API server has, and how far the controller's caches are behind it.
	jobSet history[jobSet]
	jobs   history[[]job]
	// podCache is what the cache has of the Pods of each Job: each Job's Pods lag on their own.
	podCache []podsOfJob
	// leaseCache is the same of their Leases, and ignorant is a manager that knows no Leases.
	leaseCache []leasesOfJob
	ignorant   bool

	// pods are the Pods as they are, with what runs in them, ordered by Job, index and UID.
	pods []pod
	// views are the versions of the JobSet that agents may still be about to see.
	views []agent.JobSet

	// pass is what the controller is about to write, nil between passes. ghost is the same
	// of a former leader whose requests are still under way.
	pass, ghost *pass
	// held is whether a break is held back (P45), standing whether the clock of the assembly stands still (P48).
	held     waiting
	standing bool
	// jumped is when the clock of the controller last jumped.
	jumped jumped
	// moving is whether Pods are to leave their nodes.
	moving waiting
	// first is the first failure that the controller has seen; moment is the number of the last decision about nodes.
	first  cause
	moment moment
	// claim is the PersistentVolumeClaim of the JobSet, if it has one.
	claim claim
	// gate is the feature gate of the controller.
	gate bool
	// nodes are those that may be cut off, and remnants what runs on there. timeUp: replaceAfterSeconds have passed since the break.
	nodes    [maxCutNodes]cutNode
	remnants []remnant
	timeUp   bool

	// era is how often the status was lost. Epochs of different eras are different epochs.
	era int8

	left budgets
	book book
	// lastUID names Jobs, Pods and JobSets.
	lastUID int16
}

// condition is a condition that may be absent.
type condition uint8

const (
	absent condition = iota
	isTrue
	isFalse
)

// restarting is what condition RestartingJobSet says.
type restarting uint8

const (
	notRestarting restarting = iota
	restartingInPlace
	restartingAll
	restarted
)

// phase is how far the JobSet has come.
type phase uint8

const (
	unfinished phase = iota
	completed
	failed
)

// jobSet is what matters of a JobSet.
type jobSet struct {
	uid     int16
	exists  bool
	suspend bool
	// disabled is annotation disable-in-place-restart.
	disabled bool
	// size is how many workers each Job of a ReplicatedJob has.
	size [maxReplicatedJobs]int8

	status
}

type status struct {
	d, s       int8
	inPlace    int8 // inPlaceRestarts
	restarts   int8
	counted    int8 // restartsCountTowardsMax
	restarting restarting
	suspended  condition
	gateOff    condition
	phase      phase
	// since is since when the group assembles: 0 unknown, 1 less than a period of the deadline,
	// 2 a period, 3 two or more, and less than 0 if it is later than now.
	since int8
	// broke is since when the group assembles after a break, where the Job controller waits before it replaces Pods: 0 unknown, 1 less
	// than a period, 2 a period, 3 two or more.
	broke int8
	// synced is the last S of which the time is known.
	synced int8
	// quick is quickFailures, young: the last lift is less than a minute ago, pause: how far the wait after
	// the break is (P71). They are kept where the scenario has pauses.
	quick int8
	young bool
	pause pause
	tolerated
	// planned is plannedBreak, where workers save their state before a planned stop.
	planned bool
	// world is syncedWorkers of each ReplicatedJob, where a planner changes sizes.
	world [maxReplicatedJobs]int8
	came  came
	// broken is breakTime, lost are the lostNodes, where workers on lost nodes are replaced.
	broken moment
	lost   [maxCutNodes]lostMemory
	executed
}

// job is what matters of a Job.
type job struct {
	uid, owner       int16
	rjob, index      int8
	attempt          int8
	size             int8
	suspend          bool
	deleting         bool
	done             uint64 // completedIndexes
	failing          bool   // FailureTarget
	criteriaMet      bool   // SuccessCriteriaMet
	complete, broken bool   // Complete, Failed
	completed        int8   // S when it became Complete
	// With fault tolerance: whether the Job controller has started it, how much of its time is up, and
	// whether it was built without the affinity that keeps its Pods away from sick nodes.
	awake, bare bool
	age         lateness
	numbered
	// runs is how many Pods the Job controller last saw that had not ended, where Pods may fail their Job.
	runs int8
}

func (j *job) finished() bool { return j.complete || j.broken }

func (j *job) isDone(index int8) bool { return j.done&(1<<index) != 0 }

// podPhase: a Pod that has not ended runs, as far as the protocol is concerned.
type podPhase uint8

const (
	running podPhase = iota
	podSucceeded
	podFailed
)

// podObject is what matters of a Pod in the API.
type podObject struct {
	uid, job int16
	index    int8
	epoch    int8 // the annotation: 0 none, -1 not a number
	lease    int8 // the same of its Lease, as it is or as the controller sees it; the cache of Pods has 0
	phase    podPhase
	ended    bool // its worker exited 0, which its status shows
	tracked  bool // it has the Job controller's finalizer
	deleting bool
	overdue  bool // past its deletion timestamp
	age      int8 // periods of the deadline, at most 2; 0 without a clock, less if it is younger than now
	started  bool // Running rather than Pending, where that matters
	sick     bool // its node has a label that it has to leave for
	empty    bool // its sandbox is gone, and comes back no more (P74)
	backoff  bool // it Failed, and the Job controller waits before it replaces it
	told     int8 // the epoch whose steps it tells (P137)
	node     int8 // where a scenario has nodes, as born: when it was created
	born     moment
}

func (p *podObject) live() bool { return p.phase == running && !p.deleting && !p.empty }

// pod is a Pod and what runs in it.
type pod struct {
	podObject
	agent process
	// worker is the epoch in which the worker runs, 0 if none runs, -1 if it was started while
	// in-place restart was off.
	worker int8
	// byUs: the controller deleted it for being late, and its cache may not show that yet.
	byUs bool
	// fatal: it failed in a way that fails its Job.
	fatal bool
	// restarting: one of its containers ended, so that the kubelet is about to restart all.
	restarting bool
	// hung: it will never come to run; lost: its node is dead, so that it never stops.
	hung, lost bool
	// late is an epoch whose report may still arrive, although the agent that sent it is gone or has given it up; 0 if none is.
	late int8
	// sup is what there is in process mode, nil in container mode.
	sup *supervised
}

// process is an agent process. The zero value has not looked at the JobSet yet.
type process struct {
	epoch    int8
	sending  bool // the report is under way
	reported bool
	lifted   lifted
	looked   bool
	gone     bool // it ended, and the kubelet does not start it again
	view     int8 // the last of world.views that it saw
	era      int8 // how often the status had been lost when it chose its epoch
}

type lifted uint8

const (
	held lifted = iota
	byEpoch
	byBypass
)

type podsOfJob struct {
	job         int16
	rjob, index int8 // its name
	history[[]podObject]
}

// budgets is what may still go wrong.
type budgets struct {
	failures, leaders, suspends, resizes, jobFailures, pokes, marks, cuts int8
}

func (w *world) clone() *world {
	next := *w
	next.pods = slices.Clone(w.pods)
	return &next
}

func (w *world) newUID() int16 {
	w.lastUID++
	return w.lastUID
}

func (w *world) podAt(uid int16) int {
	return slices.IndexFunc(w.pods, func(p pod) bool { return p.uid == uid })
}

// jobOf returns the Job of a UID as it is, nil if it is gone.
func (w *world) jobOf(uid int16) *job {
	jobs := w.jobs.live()
	for i := range jobs {
		if jobs[i].uid == uid {
			return &jobs[i]
		}
	}
	return nil
}

func (w *world) jobNamed(rjob, index int8) *job {
	jobs := w.jobs.live()
	for i := range jobs {
		if jobs[i].rjob == rjob && jobs[i].index == index {
			return &jobs[i]
		}
	}
	return nil
}

// changeJob writes a Job.
func (w *world) changeJob(uid int16, change func(*job)) {
	jobs := slices.Clone(w.jobs.live())
	for i := range jobs {
		if jobs[i].uid == uid {
			change(&jobs[i])
		}
	}
	w.writeJobs(jobs)
}

func (w *world) writeJobs(jobs []job) {
	if !slices.Equal(jobs, w.jobs.live()) {
		w.jobs = w.jobs.write(jobs, w.sc.lag)
	}
}

// writeJobSet writes the JobSet. Whoever decided on an older version can no longer write its status.
func (w *world) writeJobSet(js jobSet) {
	if js == w.jobSet.live() {
		return
	}
	w.jobSet = w.jobSet.write(js, w.sc.lag)
	for _, p := range []**pass{&w.pass, &w.ghost} {
		if *p != nil {
			*p = (*p).stale()
		}
	}
	if view := w.sc.viewOf(&js); view != w.views[len(w.views)-1] {
		w.views = append(slices.Clip(w.views), view)
	}
}

// publish lets the cache know, some time, how the Pods of a Job are now.
func (w *world) publish(uid int16) {
	w.publishLeases(uid)
	now := withoutLeases(w.podsNow(uid))
	for i := range w.podCache {
		if w.podCache[i].job != uid {
			continue
		}
		if !slices.Equal(now, w.podCache[i].live()) {
			before := w.podCache[i].cached()
			w.podCache = slices.Clone(w.podCache)
			w.podCache[i].history = w.podCache[i].write(now, w.sc.lag)
			w.notice(before, w.podCache[i].cached())
		}
		return
	}
	h := newHistory[[]podObject](nil).write(now, w.sc.lag)
	j := w.jobOf(uid)
	w.podCache = append(slices.Clip(w.podCache), podsOfJob{uid, j.rjob, j.index, h})
}

func (w *world) cacheOf(uid int16) *podsOfJob {
	for i := range w.podCache {
		if w.podCache[i].job == uid {
			return &w.podCache[i]
		}
	}
	return nil
}

func (w *world) addPod(p pod) {
	at, _ := slices.BinarySearchFunc(w.pods, p, func(a, b pod) int {
		if a.job != b.job {
			return int(a.job) - int(b.job)
		}
		if a.index != b.index {
			return int(a.index) - int(b.index)
		}
		return int(a.uid) - int(b.uid)
	})
	w.pods = slices.Insert(w.pods, at, p)
	w.publish(p.job)
}

func (w *world) removePod(at int) {
	uid := w.pods[at].job
	w.pods = slices.Delete(w.pods, at, at+1)
	w.publish(uid)
}

// tidy forgets what nobody can see any more, so that worlds with the same future are the same.
func (w *world) tidy() {
	if w.left.leaders == 0 || !w.sc.oldCaches {
		w.jobSet, w.jobs = w.jobSet.forget(), w.jobs.forget()
		w.podCache = slices.Clone(w.podCache)
		for i := range w.podCache {
			w.podCache[i].history = w.podCache[i].forget()
		}
		w.forgetLeases()
	}
	w.tidyLeases()
	w.podCache = slices.DeleteFunc(slices.Clone(w.podCache), func(c podsOfJob) bool {
		if w.sc.twist == podsByName && len(c.cached()) > 0 {
			return false
		}
		return !slices.ContainsFunc(w.jobs.versions, func(jobs []job) bool {
			return slices.ContainsFunc(jobs, func(j job) bool { return j.uid == c.job })
		})
	})
	w.tidyLost()
	w.tidyBook()
	w.tidyViews()
}

// tidyViews drops the versions of the JobSet that all agents have seen.
func (w *world) tidyViews() {
	oldest := len(w.views) - 1
	if w.sc.twist == staleFirstRead {
		oldest = max(0, oldest-1)
	}
	for i := range w.pods {
		if a := &w.pods[i].agent; a.looked && !a.gone {
			oldest = min(oldest, int(a.view))
		}
	}
	if oldest > 0 {
		w.views = w.views[oldest:]
		for i := range w.pods {
			w.pods[i].agent.view = max(0, w.pods[i].agent.view-int8(oldest))
		}
	}
}

// lagInAll is how many events all caches are behind together.
func (w *world) lagInAll() int {
	lag := w.jobSet.lag() + w.jobs.lag()
	for i := range w.podCache {
		lag += w.podCache[i].lag()
	}
	for i := range w.leaseCache {
		lag += w.leaseCache[i].lag()
	}
	return lag
}
