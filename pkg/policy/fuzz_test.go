/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"strconv"
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
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// FuzzDecide makes a JobSet, Jobs and Pods of any bytes and looks for what no
// decision may do, whatever it is shown.
func FuzzDecide(f *testing.F) {
	f.Add([]byte(nil))
	for seed := range byte(40) {
		bytes := make([]byte, 90)
		for i := range bytes {
			bytes[i] = byte(i)*37*(seed+1) + seed*11
		}
		f.Add(bytes)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		in := worldOf(dice(bytes))
		before := clone(in)
		plan, err := Decide(in)
		if diff := cmp.Diff(before, in, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Decide changed what it was given (-before +after):\n%s", diff)
		}
		if err != nil {
			t.Fatalf("Decide: %v", err) // all labels are readable, all actions known
		}
		if plan.Confirm != nil {
			in.Confirmed = plan.Confirm
			if plan, err = Decide(in); err != nil || plan.Confirm != nil {
				t.Fatalf("confirmed and not decided: %v, %v", plan.Confirm, err)
			}
		}
		jobsAreSound(t, in, plan)
		epochsAreSound(t, in, plan)
		countersAreSound(t, in, plan)
		movesAreSound(t, in, plan)
		restartsEnd(t, in, plan)
	})
}

// jobsAreSound: only what exists is changed, only what does not exist is created.
func jobsAreSound(t *testing.T, in Input, plan Plan) {
	t.Helper()
	exist := map[string]*batchv1.Job{}
	for _, job := range in.Jobs {
		exist[job.Name] = job
	}
	for _, batch := range created(plan) {
		for _, job := range batch {
			if exist[job.Name] != nil {
				t.Errorf("creates %s, which exists", job.Name)
			}
			exist[job.Name] = job
			if !metav1.IsControlledBy(job, in.JobSet) || *job.Spec.Suspend != ptr.Deref(in.JobSet.Spec.Suspend, false) {
				t.Errorf("creates %s, owned by %v, suspend %v", job.Name, job.OwnerReferences, *job.Spec.Suspend)
			}
		}
	}
	for _, op := range plan.Of(DeleteJob) {
		job := op.Job
		if exist[job.Name] != job || job.DeletionTimestamp != nil {
			t.Errorf("deletes %s, which does not exist or is being deleted", job.Name)
		}
	}
	if _, ended := pass.FinishedBy(in.JobSet); ended && (plan.Does(CreateJob|ResumeJob) || plan.Status.TerminalState != in.JobSet.Status.TerminalState) {
		t.Errorf("goes on after the end: %+v", summarize(plan))
	}
}

// epochsAreSound: D and S only grow, by the rules P13 and P16.
func epochsAreSound(t *testing.T, in Input, plan Plan) {
	t.Helper()
	before, after := &in.JobSet.Status, &plan.Status
	d0, s0 := ptr.Deref(before.DeprecatedEpoch, 0), ptr.Deref(before.SyncedEpoch, 0)
	d1, s1 := ptr.Deref(after.DeprecatedEpoch, 0), ptr.Deref(after.SyncedEpoch, 0)
	inPlace := in.Gates.InPlaceRestart && in.JobSet.Spec.FailurePolicy != nil && in.JobSet.Spec.FailurePolicy.RestartStrategy == jobset.InPlaceRestart
	_, ended := pass.FinishedBy(in.JobSet)
	switch {
	case d1 < d0 || s1 < s0 || d1 > s1 || s1 > s0+1:
		t.Errorf("D, S go from %d, %d to %d, %d", d0, s0, d1, s1)
	case !inPlace && (d0 != d1 || s0 != s1):
		t.Errorf("D, S go from %d, %d to %d, %d without the gate or the strategy", d0, s0, d1, s1)
	case s1 > s0 && plan.Does(pass.ChangeJobs):
		t.Errorf("P13: lifts and changes Jobs: %+v", summarize(plan))
	case inPlace && !ended && d0 < s0 && plan.Does(pass.ChangeJobs):
		t.Errorf("P16: changes Jobs while the group runs: %+v", summarize(plan))
	}
}

// countersAreSound: a pass charges one restart at the most.
func countersAreSound(t *testing.T, in Input, plan Plan) {
	t.Helper()
	if before, after := charges(&in.JobSet.Status), charges(&plan.Status); after < before || after > before+1 {
		t.Errorf("P15: charged from %d to %d", before, after)
	}
	newest := in.JobSet.Status.Restarts
	for _, job := range in.Jobs {
		if attempt, err := view.Number(job, constants.RestartsKey); err == nil {
			newest = max(newest, int32(attempt))
		}
	}
	if plan.Status.Restarts < in.JobSet.Status.Restarts || plan.Status.Restarts > newest+1 {
		t.Errorf("restarts go from %d to %d", in.JobSet.Status.Restarts, plan.Status.Restarts)
	}
}

func charges(status *jobset.JobSetStatus) int64 {
	all := int64(status.RestartsCountTowardsMax) + int64(status.InPlaceRestarts)
	for _, of := range status.ReplicatedJobsStatus {
		for _, n := range of.JobRestartsCountTowardsMax {
			all += int64(n)
		}
	}
	return all
}

// movesAreSound: a move is not charged, and in place its Pods are deleted after the intent only (P92).
func movesAreSound(t *testing.T, in Input, plan Plan) {
	t.Helper()
	moves := slices.ContainsFunc(plan.Outcomes, func(o Outcome) bool { return o == MovedInPlace || o == MovedByReset })
	if before, after := charges(&in.JobSet.Status), charges(&plan.Status); moves && before != after {
		t.Errorf("P92: a move is charged: from %d to %d", before, after)
	}
	if running := ptr.Deref(in.JobSet.Status.DeprecatedEpoch, 0) < ptr.Deref(in.JobSet.Status.SyncedEpoch, 0); plan.Moving && running && plan.Does(DeletePod) {
		t.Errorf("P92: deletes Pods of a group that runs: %+v", summarize(plan))
	}
	lifts := ptr.Deref(plan.Status.SyncedEpoch, 0) > ptr.Deref(in.JobSet.Status.SyncedEpoch, 0)
	if plan.Moving && (lifts || in.SickNodes.Marked == nil || in.JobSet.Spec.FaultTolerance == nil || !in.Gates.FaultTolerance) {
		t.Errorf("P92: lifts over a Pod that has to move, or moves one that has not: %+v", summarize(plan))
	}
}

// restartsEnd: while nothing happens to the Jobs, each of them is a reason to restart once.
func restartsEnd(t *testing.T, in Input, plan Plan) {
	t.Helper()
	for range len(in.Jobs) + 2 {
		if plan.Restart == "" {
			return
		}
		in.JobSet = in.JobSet.DeepCopy()
		in.JobSet.Status = plan.Status
		var err error
		if plan, err = Decide(in); err != nil {
			t.Fatalf("Decide on its own status: %v", err)
		}
	}
	t.Errorf("restarts without end: %+v", summarize(plan))
}

// dice turns bytes into choices.
type dice []byte

func (d *dice) roll(sides int) int {
	if len(*d) == 0 {
		return 0
	}
	first := int((*d)[0])
	*d = (*d)[1:]
	return first % sides
}

func (d *dice) yes() bool { return d.roll(2) == 1 }

func worldOf(d dice) Input {
	in := Input{Now: now, Pods: map[types.UID][]*facts.Member{}, Gates: gates.Set{InPlaceRestart: d.yes(), RestartJob: d.yes(), ElasticJobSet: d.yes(), FaultTolerance: d.yes()}}
	js := jobSetOf(&d)
	in.JobSet = js
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		for index := range int(rjob.Replicas) {
			if d.yes() {
				job := jobOf(&d, js, rjob, index)
				in.Jobs = append(in.Jobs, job)
				in.Pods[job.UID] = podsOf(&d, job)
			}
		}
	}
	if d.yes() {
		marked("node-of-js-a-0-0-0", "node-of-js-a-0-1-1", "node-of-js-b-0-0-0")(&in)
		in.Gates.FaultTolerance = d.yes()
		for _, job := range in.Jobs {
			if d.yes() {
				withoutAffinity(job)
			}
		}
		if d.yes() {
			in.JobSet.Spec.FaultTolerance = nil
		}
	}
	for _, pods := range in.Pods { // nobody changes them any more, and there are many worlds
		for _, pod := range pods {
			origins.Delete(pod)
		}
	}
	return in
}

func jobSetOf(d *dice) *jobset.JobSet {
	w := builders.MakeJobSet("js", "ns").Suspend(d.yes()).Restarts(int32(d.roll(3)), int32(d.roll(3))).InPlaceRestarts(int32(d.roll(2)))
	synced := d.roll(3)
	w.Epochs(int32(d.roll(synced+1)), int32(synced))
	if d.yes() {
		actions := append([]jobset.FailurePolicyAction{jobset.FailJobSet}, RestartActions...)
		rule := jobset.FailurePolicyRule{Name: "r", Action: actions[d.roll(len(actions))]}
		if d.yes() {
			rule.OnJobFailureReasons = []string{"R"}
		}
		w.FailurePolicy([]jobset.JobSetRestartStrategy{jobset.Recreate, jobset.BlockingRecreate, jobset.InPlaceRestart, jobset.InPlaceRestart}[d.roll(4)], int32(d.roll(6)), rule)
	}
	if d.yes() {
		w.StartupPolicy(jobset.InOrder)
	}
	if d.yes() {
		w.SuccessPolicy([]jobset.Operator{jobset.OperatorAll, jobset.OperatorAny}[d.roll(2)])
	}
	for _, condition := range []jobset.JobSetConditionType{jobset.JobSetRestarting, jobset.JobSetSuspended, jobset.JobSetStartupPolicyInProgress} {
		if d.yes() {
			w.Condition(condition, d.yes(), "InPlaceRestart", "m", past)
		}
	}
	if d.roll(9) == 1 {
		w.Condition(jobset.JobSetFailed, true, "r", "m", past).TTL(int32(d.roll(9)))
	}
	for i, name := range []string{"a", "b", "c"}[:d.roll(4)] {
		rjob := builders.MakeReplicatedJob(name).Replicas(int32(d.roll(3))).Workers(int32(d.roll(3)))
		if i > 0 && d.yes() {
			rjob.DependsOn("a", []jobset.DependsOnStatus{jobset.DependencyReady, jobset.DependencyComplete}[d.roll(2)])
		}
		w.ReplicatedJob(rjob)
		if d.yes() {
			w.JobRestarts(name, []int32{int32(d.roll(3))}, []int32{int32(d.roll(2))})
		}
	}
	return w.Obj()
}

func jobOf(d *dice, js *jobset.JobSet, rjob *jobset.ReplicatedJob, index int) *batchv1.Job {
	w := builders.MakeJob(js, rjob.Name, index).Attempt(d.roll(4)).Workers(int32(d.roll(4))).Suspend(d.yes()).
		Counts(int32(d.roll(3)), int32(d.roll(3)), int32(d.roll(3)))
	if d.yes() {
		w.JobAttempt(d.roll(3))
	}
	if d.yes() {
		w.CompletedIndexes(strconv.Itoa(d.roll(4)))
	}
	switch d.roll(8) {
	case 1:
		w.Complete()
	case 2, 3:
		w.Failed(past.Add(time.Duration(d.roll(3))*time.Minute), []string{"R", "S"}[d.roll(2)], "m")
	case 4:
		w.Condition(batchv1.JobFailureTarget)
	case 5:
		w.Condition(batchv1.JobSuccessCriteriaMet)
	case 6:
		w.Terminating(past)
	}
	return w.Obj()
}

func podsOf(d *dice, job *batchv1.Job) []*facts.Member {
	words := []string{"1", "2", "3", "_", "ok1", "ok2", "F1", "f1", "t1", "T1", "x", "-1"}
	var pods []*facts.Member
	for i := range d.roll(5) {
		pod := worker(job, d.roll(4), words[d.roll(len(words))])
		edit(pod, func(pod *corev1.Pod) {
			pod.Name += "-" + strconv.Itoa(i)
			pod.UID = types.UID(pod.Name)
		})
		pods = append(pods, pod)
	}
	return pods
}
