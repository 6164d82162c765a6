/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"maps"
	"math/rand"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const (
	walkSeeds = 400
	walkSteps = 300
)

// TestRandomWalk lets small groups of workers fail at random against Decide,
// under a Pod cache and agents that lag, and looks for the properties of the protocol after each step.
func TestRandomWalk(t *testing.T) {
	t.Parallel()
	for seed := range int64(walkSeeds) {
		w := newWalk(t, seed)
		for range walkSteps {
			w.step()
			w.check()
			if t.Failed() {
				t.Fatalf("seed %d after:\n%s", seed, w.log)
			}
		}
		w.settle()
		if t.Failed() {
			t.Fatalf("seed %d, settling, after:\n%s", seed, w.log)
		}
	}
}

// walk is a world of one JobSet: what the API holds, the controller's cache, and the agents.
type walk struct {
	t        *testing.T
	random   *rand.Rand
	in       Input // JobSet and Jobs as they are
	cache    map[types.UID][]*corev1.Pod
	slots    []*walkSlot
	views    [][2]int32                    // all D and S ever written
	old      []map[types.UID][]*corev1.Pod // what the cache ever held
	failures int                           // since the last break
	early    int                           // those of them before a lift, by Pods that had reported: they may cost one more
	breaks   int
	log      string
}

// walkSlot is a completion index, its Pod and what runs in it.
type walkSlot struct {
	job    *batchv1.Job
	index  int
	pod    *corev1.Pod // nil: there is none
	pods   int
	epoch  int32 // of the agent; 0: it has not looked yet
	view   int   // the last view the agent saw
	lifted bool
	failed map[int32]bool // epochs in which the worker failed
}

func newWalk(t *testing.T, seed int64) *walk {
	random := rand.New(rand.NewSource(seed))
	w := &walk{t: t, random: random, views: [][2]int32{{0, 0}}, cache: map[types.UID][]*corev1.Pod{}}
	jobs, workers := 1+random.Intn(2), 1+random.Intn(2)
	if jobs == 1 {
		workers = 2 + random.Intn(3)
	}
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 1000).
		ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(int32(jobs)).Workers(int32(workers))).Obj()
	w.in = Input{JobSet: js, Gates: gateOn, Now: now}
	for j := range jobs {
		job := builders.MakeJob(js, "w", j).Workers(int32(workers)).Obj()
		w.in.Jobs = append(w.in.Jobs, job)
		for i := range workers {
			w.slots = append(w.slots, &walkSlot{job: job, index: i, failed: map[int32]bool{}})
		}
	}
	return w
}

func (w *walk) epochs() (deprecated, synced int32) {
	last := w.views[len(w.views)-1]
	return last[0], last[1]
}

func (w *walk) step() {
	s := w.slots[w.random.Intn(len(w.slots))]
	switch event := w.random.Intn(25); {
	case event < 7:
		w.controller()
	case event < 10:
		w.refresh()
	case event < 16:
		w.agent(s, s.view+w.random.Intn(len(w.views)-s.view))
	case event < 20:
		w.jobController(s)
	case event == 20 && s.lifted:
		w.note("worker of %d fails at %d", s.index, s.epoch)
		s.failed[s.epoch] = true
		w.charge(s)
		s.restart()
	case event == 21 && s.epoch > 0:
		w.note("agent of %d crashes at %d", s.index, s.epoch)
		w.charge(s)
		s.restart()
	case event == 22 && s.pod != nil && s.pod.DeletionTimestamp == nil && s.pod.Status.Phase == corev1.PodRunning:
		w.note("pod of %d is deleted", s.index)
		w.charge(s)
		s.change(func(pod *corev1.Pod) {
			pod.DeletionTimestamp = ptr.To(metav1.NewTime(w.in.Now.Add(time.Duration(w.random.Intn(3)) * time.Second)))
		})
	case event == 23 && s.pod != nil && s.pod.Status.Phase == corev1.PodRunning:
		w.note("pod of %d fails", s.index)
		w.charge(s)
		if s.lifted {
			s.failed[s.epoch] = true
		}
		s.restart()
		s.change(func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
	case event == 24 && len(w.old) > 0 && w.random.Intn(3) == 0:
		w.note("a new leader with an old cache")
		w.cache = maps.Clone(w.old[w.random.Intn(len(w.old))])
	}
	w.in.Now = w.in.Now.Add(100 * time.Millisecond)
}

// charge notes a failure in a slot, before it changes the slot.
func (w *walk) charge(s *walkSlot) {
	w.failures++
	if !s.lifted {
		w.early++
	}
}

// change replaces the Pod: a cache may still hold the one before.
func (s *walkSlot) change(change func(*corev1.Pod)) {
	s.pod = s.pod.DeepCopy()
	change(s.pod)
}

// restart ends agent and worker; a new agent has to look first.
func (s *walkSlot) restart() { s.epoch, s.lifted = 0, false }

// jobController counts a failed Pod, lets one that stops go, and replaces it once it is gone.
func (w *walk) jobController(s *walkSlot) {
	switch {
	case s.pod == nil:
		s.pods++
		s.pod = builders.MakePod(s.job, s.index).Name(fmt.Sprintf("%s-%d-%d", s.job.Name, s.index, s.pods)).Obj()
		s.restart()
	case s.pod.Status.Phase == corev1.PodFailed && len(s.pod.Finalizers) > 0:
		s.change(func(pod *corev1.Pod) { pod.Finalizers = nil })
	case s.pod.Status.Phase == corev1.PodFailed || s.pod.DeletionTimestamp != nil:
		s.pod = nil
		s.restart()
	}
}

// agent lets the agent of a Pod see a view, the last one at its first look (P30), and act on it (P31 to P33).
func (w *walk) agent(s *walkSlot, view int) {
	if s.pod == nil || s.pod.Status.Phase != corev1.PodRunning {
		return
	}
	if s.epoch == 0 {
		s.view = len(w.views) - 1
		_, synced := w.epochs()
		s.epoch = synced + 1
		w.note("agent of %d starts for %d", s.index, s.epoch)
		return
	}
	if value := strconv.Itoa(int(s.epoch)); s.pod.Annotations[jobset.EpochKey] != value {
		w.note("agent of %d reports %s", s.index, value)
		s.change(func(pod *corev1.Pod) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, jobset.EpochKey, value) })
		return
	}
	s.view = view
	deprecated, synced := w.views[view][0], w.views[view][1]
	switch {
	case s.epoch <= deprecated || s.epoch < synced || s.epoch > synced+1:
		w.note("agent of %d exits at %d", s.index, s.epoch)
		s.restart()
	case s.epoch == synced && !s.lifted:
		w.note("agent of %d lifts at %d", s.index, s.epoch)
		s.lifted = true
		if s.failed[s.epoch] {
			w.t.Errorf("property 2: the worker of %d runs again in epoch %d", s.index, s.epoch)
		}
	}
}

func (w *walk) livePods(job *batchv1.Job) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, s := range w.slots {
		if s.job == job && s.pod != nil {
			pods = append(pods, s.pod)
		}
	}
	return pods
}

func (w *walk) refresh() {
	for _, job := range w.in.Jobs {
		if w.random.Intn(3) > 0 { // each Job's Pods lag on their own
			w.cache[job.UID] = w.livePods(job)
		}
	}
	w.old = append(w.old, maps.Clone(w.cache))
}

// controller makes a pass as the shell does.
func (w *walk) controller() {
	in := w.in
	in.Pods = map[types.UID][]*corev1.Pod{}
	for uid, pods := range w.cache {
		in.Pods[uid] = pods
	}
	plan, err := Decide(in)
	if err == nil && plan.Confirm != nil {
		in.Pods[plan.Confirm.UID] = w.livePods(plan.Confirm)
		in.Confirmed = map[types.UID]bool{plan.Confirm.UID: true}
		plan, err = Decide(in)
	}
	if err != nil || plan.touchesJobs() {
		w.t.Errorf("error %v, plan %+v", err, plan)
	}
	if plan.Confirm != nil {
		return
	}
	w.judge(in, plan.Status)
	w.in.JobSet = w.in.JobSet.DeepCopy()
	w.in.JobSet.Status = plan.Status
}

// judge checks a status before it is written: properties 3 and 4.
func (w *walk) judge(in Input, next jobset.JobSetStatus) {
	d, s := w.epochs()
	nextD, nextS := ptr.Deref(next.DeprecatedEpoch, 0), ptr.Deref(next.SyncedEpoch, 0)
	if nextD < d || nextS < s || nextD > nextS || nextD != d && nextS != s {
		w.t.Errorf("property 3: D %d to %d, S %d to %d", d, nextD, s, nextS)
	}
	if nextS != s {
		w.note("lift to %d", nextS)
		whole := nextS == s+1
		for _, slot := range w.slots {
			whole = whole && slot.stands(in.Pods[slot.job.UID], nextS)
		}
		if !whole {
			w.t.Errorf("property 3: lifted to %d without the whole group", nextS)
		}
	}
	if nextD != d {
		w.note("break at %d", s)
		if w.failures == 0 {
			w.t.Errorf("property 4: broke at %d though nothing failed since the last break", s)
		}
		w.breaks++
		w.failures, w.early = w.early, 0
	}
	if int(next.InPlaceRestarts) != w.breaks {
		w.t.Errorf("property 4: charged %d for %d group restarts", next.InPlaceRestarts, w.breaks)
	}
	if nextD != d || nextS != s {
		w.views = append(w.views, [2]int32{nextD, nextS})
	}
}

// stands tells whether a live Pod in the slot reports the epoch.
func (s *walkSlot) stands(pods []*corev1.Pod, epoch int32) bool {
	for _, pod := range pods {
		if pod.Annotations[batchv1.JobCompletionIndexAnnotation] == strconv.Itoa(s.index) && pod.Status.Phase == corev1.PodRunning &&
			pod.DeletionTimestamp == nil && pod.Annotations[jobset.EpochKey] == strconv.Itoa(int(epoch)) {
			return true
		}
	}
	return false
}

// check looks for property 1 in the world as it is.
func (w *walk) check() {
	var runs int32
	for _, s := range w.slots {
		if s.pod == nil || !s.lifted {
			continue
		}
		if runs != 0 && s.epoch != runs {
			w.t.Errorf("property 1: workers run in epochs %d and %d", runs, s.epoch)
		}
		runs = s.epoch
	}
}

// settle stops the failures and expects the group to run (property 5).
func (w *walk) settle() {
	for range 20 {
		w.in.Now = w.in.Now.Add(time.Second)
		for _, s := range w.slots {
			w.agent(s, len(w.views)-1)
			if s.pod == nil || s.pod.DeletionTimestamp != nil || s.pod.Status.Phase == corev1.PodFailed {
				w.jobController(s)
			}
		}
		for _, job := range w.in.Jobs {
			w.cache[job.UID] = w.livePods(job)
		}
		w.controller()
		w.check()
	}
	_, synced := w.epochs()
	for _, s := range w.slots {
		if !s.lifted || s.epoch != synced {
			w.t.Errorf("property 5: slot %d of %s does not run in epoch %d", s.index, s.job.Name, synced)
		}
	}
}

func (w *walk) note(format string, args ...any) {
	w.log += fmt.Sprintf(format, args...) + "\n"
}
