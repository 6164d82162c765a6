/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

var (
	now  = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	past = now.Add(-time.Hour)
	// recent is not long enough ago to be reported.
	recent = now.Add(-time.Second)
)

// summary is a plan with the names of objects in their place.
type summary struct {
	Confirm      string
	DeleteJobSet bool
	Deletes      []string
	Pods         []string // deleted, by force with "!"
	Told         []Event  // when they are
	Forces       []string // Jobs that are deleted by force
	Reads        bool     // all children past the cache
	Service      string
	Claims       []string
	Scales       map[string]int32
	Creates      [][]string
	Suspends     []string
	Resumes      []string
	// Status is whole but for the counts of Jobs, which have a test of their own.
	Status         jobset.JobSetStatus
	CountsInterval time.Duration
	ClockStands    bool
	Moving         bool
	ClockMoved     time.Duration
	Events         []Event
	Once           []Event
	Outcomes       []Outcome
	Restart        jobset.FailurePolicyAction
	GroupRestart   time.Duration
	WarmStarts     WarmStarts
	Asks           []string // of which accounts' rights
	AsksLeases     bool     // and those on Leases
	Invalid        []string
	RequeueAfter   time.Duration
}

func summarize(p Plan) summary {
	s := summary{
		DeleteJobSet: p.Does(DeleteJobSet), Deletes: jobsWith(p, DeleteJob), Forces: jobsWith(p, ForceJob), Reads: p.ReadChildren, Suspends: jobsWith(p, SuspendJob), Resumes: jobsWith(p, ResumeJob),
		Status: p.Status, CountsInterval: p.CountsInterval, ClockStands: p.ClockStands, ClockMoved: p.ClockMoved, Moving: p.Moving, Events: p.Events, Once: p.Once, Outcomes: p.Outcomes,
		Restart: p.Restart, GroupRestart: p.GroupRestart, WarmStarts: p.WarmStarts, RequeueAfter: p.RequeueAfter, Asks: p.AskAccess, AsksLeases: p.AskLeases,
	}
	for i, op := range p.Ops {
		if op.Because != nil && (i == 0 || !p.Ops[i-1].Together(&op)) {
			s.Told = append(s.Told, *op.Because)
		}
		switch op.Kind {
		case DeletePod:
			s.Pods = append(s.Pods, op.Pod.Name+map[bool]string{true: "!"}[op.Force])
		case CountForced:
			s.Outcomes = append(s.Outcomes, DeletedByForce)
		case CreateService:
			s.Service = op.Service.Name
		case CreateClaim:
			s.Claims = append(s.Claims, op.Claim.Name)
		case ScaleJob:
			if s.Scales == nil {
				s.Scales = map[string]int32{}
			}
			s.Scales[op.Job.Name] = op.Workers
		}
	}
	if p.Confirm != nil {
		s.Confirm = fmt.Sprint(p.Confirm.Job.Name, p.Confirm.Indexes)
	}
	for _, batch := range created(p) {
		s.Creates = append(s.Creates, names(batch))
	}
	for _, pod := range p.InvalidEpochs {
		s.Invalid = append(s.Invalid, pod.Name)
	}
	return s
}

// jobsWith names the Jobs that a plan changes in some way.
func jobsWith(p Plan, kind OpKind) []string {
	var jobs []*batchv1.Job
	for _, op := range p.Of(kind) {
		jobs = append(jobs, op.Job)
	}
	return names(jobs)
}

// created returns the Jobs that a plan creates, in batches.
func created(p Plan) (batches [][]*batchv1.Job) {
	ops := p.Of(CreateJob)
	for i, op := range ops {
		if i == 0 || !ops[i-1].Together(&op) {
			batches = append(batches, nil)
		}
		last := &batches[len(batches)-1]
		*last = append(*last, op.Job)
	}
	return batches
}

func names(jobs []*batchv1.Job) []string {
	var all []string
	for _, job := range jobs {
		all = append(all, job.Name)
	}
	return all
}

// decideOnce decides, and fails the test if that changed the input or depends
// on the order of what a cache hands out.
func decideOnce(t *testing.T, in Input) Plan {
	t.Helper()
	before := clone(in)
	plan, err := Decide(in)
	if err != nil {
		t.Fatalf("Decide: %v", err)
	}
	if !slices.IsSortedFunc(plan.Ops, func(a, b Op) int { return int(a.Kind) - int(b.Kind) }) {
		t.Errorf("the changes are not in the order of their kinds: %v", plan.Ops)
	}
	if diff := cmp.Diff(before, in, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Decide changed what it was given (-before +after):\n%s", diff)
	}
	for seed := range int64(3) {
		shuffled := clone(in)
		random := rand.New(rand.NewSource(seed))
		random.Shuffle(len(shuffled.Jobs), func(i, j int) {
			shuffled.Jobs[i], shuffled.Jobs[j] = shuffled.Jobs[j], shuffled.Jobs[i]
		})
		for _, pods := range shuffled.Pods {
			random.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		}
		again, err := Decide(shuffled)
		if err != nil {
			t.Fatalf("Decide on shuffled input: %v", err)
		}
		if diff := cmp.Diff(plan, again); diff != "" {
			t.Errorf("another order gave another plan, seed %d (-first +shuffled):\n%s", seed, diff)
		}
	}
	checkProse(t, in, plan)
	return plan
}

// check compares the whole plan with one that keeps the status and does nothing but what want says.
func check(t *testing.T, in Input, want func(*summary)) Plan {
	t.Helper()
	plan := decideOnce(t, in)
	expected := summary{Status: *in.JobSet.Status.DeepCopy()}
	_, ended := pass.FinishedBy(in.JobSet)
	if in.Gates.InPlaceRestart && restartsInPlaceByPolicy(in.JobSet) && !ended {
		expected.CountsInterval = time.Second // P22, P49: of less than 100 workers
	}
	if want != nil {
		want(&expected)
	}
	if breaks(in, &expected) { // P71a
		expected.Status.BreakTime = ptr.To(metav1.NewMicroTime(in.Now))
	}
	if slices.Contains(expected.Outcomes, MovedInPlace) || slices.Contains(expected.Outcomes, MovedByReset) { // P92a
		expected.Status.FaultTolerance.LastMoveTime = ptr.To(metav1.NewTime(in.Now))
	}
	ignoreCounts := cmpopts.IgnoreFields(jobset.JobSetStatus{}, "ReplicatedJobsStatus", "Time", "RestartHistory") // TestLedger and TestRestartHistory look at them
	if diff := cmp.Diff(expected, summarize(plan), ignoreCounts, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	return plan
}

// breaks reports whether a group that runs is expected to restart now, in place or with all Jobs.
func breaks(in Input, expected *summary) bool {
	d, _ := pass.EpochsOf(in.JobSet)
	return ptr.Deref(expected.Status.DeprecatedEpoch, 0) > d && slices.ContainsFunc(expected.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == string(jobset.JobSetRestarting) && c.Status == metav1.ConditionTrue && c.LastTransitionTime.Time.Equal(in.Now)
	})
}

func restartsInPlaceByPolicy(js *jobset.JobSet) bool {
	return js.Spec.FailurePolicy != nil && js.Spec.FailurePolicy.RestartStrategy == jobset.InPlaceRestart
}

func clone(in Input) Input {
	in.JobSet = in.JobSet.DeepCopy()
	jobs := make([]*batchv1.Job, 0, len(in.Jobs))
	for _, job := range in.Jobs {
		jobs = append(jobs, job.DeepCopy())
	}
	in.Jobs = jobs
	in.Pods, in.Lingering = allOwn(in.Pods), allOwn(in.Lingering)
	in.Strays = allOwn(map[types.UID][]*facts.Member{"": in.Strays})[""]
	if in.Confirmed != nil {
		in.Confirmed = &Loss{Job: in.Confirmed.Job, Indexes: slices.Clone(in.Confirmed.Indexes)}
	}
	return in
}

// inPlace is a JobSet "js" that restarts in place, maxRestarts 3, at D and S, with
// the Pods that the picture shows: words are Pods in the order of their indexes,
// "|" separates Jobs. All Pods run but for a mark before the epoch:
//
//	1    reports epoch 1          ok1  Succeeded
//	_    reports nothing          F1   Failed and counted by the Job controller
//	.    there is no Pod          f1   Failed and not counted yet
//	t1   stops within 10 seconds  T1   should be gone by now
func inPlace(deprecated, synced int32, picture string, changes ...func(*Input)) Input {
	groups := strings.Split(picture, "|")
	size := len(strings.Fields(groups[0]))
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(deprecated, synced).
		ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(int32(len(groups))).Workers(int32(size))).Obj()
	in := Input{JobSet: js, Pods: map[types.UID][]*facts.Member{}, Gates: gates.Set{InPlaceRestart: true}, Now: now, HeldSince: past}
	for j, words := range groups {
		job := builders.MakeJob(js, "w", j).Workers(int32(size)).Obj()
		in.Jobs = append(in.Jobs, job)
		for i, word := range strings.Fields(words) {
			if word != "." {
				in.Pods[job.UID] = append(in.Pods[job.UID], worker(job, i, word))
			}
		}
	}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func worker(job *batchv1.Job, index int, word string) *facts.Member {
	pod := builders.MakePod(job, index)
	switch {
	case strings.HasPrefix(word, "ok"):
		word = word[2:]
		pod.Phase(corev1.PodSucceeded)
	case word[0] == 'F':
		pod.Phase(corev1.PodFailed).Counted()
		word = word[1:]
	case word[0] == 'f':
		pod.Phase(corev1.PodFailed)
		word = word[1:]
	case word[0] == 't':
		pod.Terminating(now.Add(10 * time.Second))
		word = word[1:]
	case word[0] == 'T':
		pod.Terminating(now)
		word = word[1:]
	}
	if word != "_" {
		pod.Epoch(word)
	}
	return memberOf(pod.Obj())
}

// more puts another Pod into a slot of a Job.
func more(job, index int, word string) func(*Input) {
	return func(in *Input) {
		pod := worker(in.Jobs[job], index, word)
		edit(pod, func(pod *corev1.Pod) {
			pod.Name += "-more"
			pod.UID += "-more"
		})
		in.Pods[in.Jobs[job].UID] = append(in.Pods[in.Jobs[job].UID], pod)
	}
}

// confirmed: these indexes of a Job, or its first, were just read past the cache.
func confirmed(j int, indexes ...int64) func(*Input) {
	return func(in *Input) {
		if len(indexes) == 0 {
			indexes = []int64{0}
		}
		in.Confirmed = &Loss{Job: in.Jobs[j], Indexes: indexes}
	}
}

func onJob(j int, change func(*batchv1.Job)) func(*Input) {
	return func(in *Input) { change(in.Jobs[j]) }
}

func onJobSet(change func(*jobset.JobSet)) func(*Input) {
	return func(in *Input) { change(in.JobSet) }
}

func withCondition(conditionType batchv1.JobConditionType) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: conditionType, Status: corev1.ConditionTrue, LastTransitionTime: metav1Time(past), Reason: "Because",
		})
	}
}

func suspend(in *Input) { in.JobSet.Spec.Suspend = ptr.To(true) }
func gateOff(in *Input) { in.Gates = gates.Set{} }
