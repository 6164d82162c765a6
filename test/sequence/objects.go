/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/agent"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// period is the deadline of the assembly (P24).
const period = 10 * time.Minute

// The clock stands still: deletion timestamps are before or after it, and what else has a time grows older.
var (
	now    = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	before = metav1.NewTime(now.Add(-time.Minute))
	after  = metav1.NewTime(now.Add(time.Minute))
)

// objects are the API objects of the values of one scenario, each built once. Decide changes none of them.
type objects struct {
	sc      *scenario
	jobSets sync.Map // jobSet -> *jobset.JobSet
	jobs    sync.Map // job -> *batchv1.Job
	pods    sync.Map // podKey -> *facts.Member
}

func (o *objects) jobSet(v jobSet) *jobset.JobSet {
	if js, ok := o.jobSets.Load(v); ok {
		return js.(*jobset.JobSet)
	}
	js, _ := o.jobSets.LoadOrStore(v, o.newJobSet(v))
	return js.(*jobset.JobSet)
}

func (o *objects) newJobSet(v jobSet) *jobset.JobSet {
	w := builders.MakeJobSet("js", "ns").UID(uidText(v.uid)).Suspend(v.suspend).
		FailurePolicy(jobset.InPlaceRestart, int32(o.sc.maxRestarts), o.rules()...).
		Epochs(int32(v.d), int32(v.s)).InPlaceRestarts(int32(v.inPlace)).Restarts(int32(v.restarts), int32(v.counted))
	if o.sc.ft != nil {
		o.tolerating(w, v)
	}
	if v.disabled {
		w.Annotation(jobset.DisableInPlaceRestartKey, "true")
	}
	for i, rjob := range o.sc.rjobs {
		r := builders.MakeReplicatedJob(rjob.name).Replicas(int32(rjob.replicas)).Workers(int32(v.size[i]))
		if rjob.after >= 0 && o.sc.order != inOrder {
			r.DependsOn(o.sc.rjobs[rjob.after].name, [...]jobset.DependsOnStatus{complete: jobset.DependencyComplete, ready: jobset.DependencyReady}[o.sc.order])
		}
		if o.sc.ft != nil {
			r.JobSpec(useGPU)
		}
		if o.sc.failsJobs {
			r.JobSpec(failsJobs)
		}
		if has(o.sc.leaders, i) {
			r.JobSpec(func(spec *batchv1.JobSpec) {
				spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
			})
		}
		w.ReplicatedJob(r)
	}
	if o.sc.claims {
		w.Claims(jobset.RetentionPolicyDelete, "data")
	}
	if p := o.sc.success; p.any || p.targets != 0 {
		operator := jobset.OperatorAll
		if p.any {
			operator = jobset.OperatorAny
		}
		w.SuccessPolicy(operator, o.targets(p.targets)...)
	}
	switch v.restarting {
	case restartingInPlace:
		w.Condition(jobset.JobSetRestarting, true, constants.InPlaceRestartReason, "a cause", now)
	case restartingAll:
		w.Condition(jobset.JobSetRestarting, true, constants.DefaultFailurePolicyReason, "a cause", now)
	case restarted:
		w.Condition(jobset.JobSetRestarting, false, constants.WorkersSyncedReason, "over", now)
	}
	switch {
	case v.suspending:
		w.Condition(jobset.JobSetSuspended, false, constants.SuspendingReason, constants.SuspendingMessage, now)
	case v.suspended != absent:
		w.Condition(jobset.JobSetSuspended, v.suspended == isTrue, constants.JobSetSuspendedReason, constants.JobSetSuspendedMessage, now)
	}
	if v.gateOff != absent {
		w.Condition(jobset.JobSetInPlaceRestartDisabled, v.gateOff == isTrue, constants.InPlaceRestartDisabledReason, "gate", now)
	}
	switch v.phase {
	case completed:
		w.Condition(jobset.JobSetCompleted, true, constants.AllJobsCompletedReason, "completed", now).TerminalState(jobset.JobSetCompleted)
	case failed:
		reason := constants.ReachedMaxRestartsReason
		if v.came.failed {
			reason = constants.NoProgressReason
		}
		w.Condition(jobset.JobSetFailed, true, reason, "failed", now).TerminalState(jobset.JobSetFailed)
	}
	js := w.Obj()
	v.executed.writeTo(js)
	switch o.sc.order {
	case inOrder:
		js.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: jobset.InOrder}
		fallthrough
	case ready:
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
	}
	if o.sc.slowStops {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode, StopGracePeriodSeconds: ptr.To[int32](protocol.MaxStopGraceSeconds)}
	}
	if o.sc.saves {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode, PlannedStopGracePeriodSeconds: ptr.To(plannedStop.GraceSeconds)}
		js.Status.PlannedBreak = v.planned
	}
	if v.since != 0 {
		js.Status.AssemblingSince = ptr.To(metav1.NewTime(now.Add(-time.Duration(v.since-1) * period)))
	}
	if o.sc.ft != nil {
		o.askTolerance(js, v.tolerated)
	}
	if o.sc.lost {
		o.askLost(js, &v.status)
	}
	o.setWorld(js, v.world)
	o.setSteps(js, v.came)
	if v.synced > 0 {
		js.Status.LastSyncTime = ptr.To(timeOf(v.synced))
	}
	if v.broke > 0 {
		js.Status.BreakTime = ptr.To(metav1.NewMicroTime(now.Add(-time.Duration(v.broke-1) * period)))
	}
	if o.sc.pauses {
		js.Status.QuickFailures = int32(v.quick)
		if v.young {
			js.Status.LastSyncTime = ptr.To(metav1.NewTime(now))
		}
		if v.pause != noPause {
			js.Status.BreakTime = ptr.To(metav1.NewMicroTime(v.pause.since()))
		}
	}
	return js
}

// timeOf is when S became what it is. The clocks of all controllers are one.
func timeOf(synced int8) metav1.Time {
	return metav1.NewTime(now.Add(time.Duration(synced)*time.Hour - 200*time.Hour))
}

// failsJobs: some exit codes fail the whole Job.
func failsJobs(job *batchv1.JobSpec) {
	job.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{3}},
	}}}
}

// targets are the names of ReplicatedJobs.
func (o *objects) targets(bits int8) []string {
	var names []string
	for i, rjob := range o.sc.rjobs {
		if has(bits, i) {
			names = append(names, rjob.name)
		}
	}
	return names
}

func (o *objects) rules() []jobset.FailurePolicyRule {
	var rules []jobset.FailurePolicyRule
	for i, r := range o.sc.rules {
		rules = append(rules, jobset.FailurePolicyRule{Name: fmt.Sprintf("rule%d", i), Action: r.action, TargetReplicatedJobs: o.targets(r.targets)})
	}
	return rules
}

// statusOf is the other way round, for the status that Decide wants.
func (o *objects) statusOf(s *jobset.JobSetStatus) status {
	v := status{
		d: int8(ptr.Deref(s.DeprecatedEpoch, 0)), s: int8(ptr.Deref(s.SyncedEpoch, 0)), inPlace: int8(s.InPlaceRestarts),
		restarts: int8(s.Restarts), counted: int8(s.RestartsCountTowardsMax),
	}
	if c := apimeta.FindStatusCondition(s.Conditions, string(jobset.JobSetRestarting)); c != nil {
		switch {
		case c.Status != metav1.ConditionTrue:
			v.restarting = restarted
		case c.Reason == constants.InPlaceRestartReason:
			v.restarting = restartingInPlace
		default:
			v.restarting = restartingAll
		}
	}
	if s.AssemblingSince != nil {
		v.since = 1 + int8(min(2, now.Sub(s.AssemblingSince.Time)/period))
	}
	if at := s.BreakTime; at != nil && o.sc.backoffs {
		v.broke = 1 + int8(min(2, now.Sub(at.Time)/period))
	}
	if at := s.LastSyncTime; at != nil {
		v.synced = v.s // it is now
		if !at.Time.Equal(now) {
			v.synced = int8(at.Sub(timeOf(0).Time) / time.Hour)
		}
	}
	if o.sc.pauses {
		v.quick, v.young, v.pause = int8(s.QuickFailures), s.LastSyncTime != nil && s.LastSyncTime.Time.Equal(now), pauseOf(s)
	}
	if o.sc.ft != nil {
		v.tolerated = toleratedOf(s)
	}
	if o.sc.lost {
		v.broken, v.lost = lostOf(s)
	}
	v.planned = s.PlannedBreak
	v.world, v.came = o.worldOf(s), o.cameOf(s)
	v.executed = executedOf(s)
	v.suspended = conditionOf(s, jobset.JobSetSuspended)
	v.gateOff = conditionOf(s, jobset.JobSetInPlaceRestartDisabled)
	if conditionOf(s, jobset.JobSetCompleted) == isTrue {
		v.phase = completed
	}
	if conditionOf(s, jobset.JobSetFailed) == isTrue {
		v.phase = failed
	}
	return v
}

func conditionOf(s *jobset.JobSetStatus, conditionType jobset.JobSetConditionType) condition {
	switch c := apimeta.FindStatusCondition(s.Conditions, string(conditionType)); {
	case c == nil:
		return absent
	case c.Status == metav1.ConditionTrue:
		return isTrue
	}
	return isFalse
}

func (o *objects) job(v job) *batchv1.Job {
	if j, ok := o.jobs.Load(v); ok {
		return j.(*batchv1.Job)
	}
	j, _ := o.jobs.LoadOrStore(v, o.newJob(v))
	return j.(*batchv1.Job)
}

// newJob builds a Job as the controller does, and gives it a past.
func (o *objects) newJob(v job) *batchv1.Job {
	js := jobSet{uid: v.owner, status: status{restarts: v.attempt}, suspend: v.suspend}
	js.size[v.rjob] = v.size
	spec := o.newJobSet(js)
	j := children.NewBuilder(spec).KeepAway(o.rulesOf(v.bare)).Job(&spec.Spec.ReplicatedJobs[v.rjob], int(v.index))
	o.setStart(j, v)
	j.UID = types.UID(uidText(v.uid))
	o.setNumber(j, v)
	j.Status.CompletedIndexes, j.Status.Active = indexesText(v.done), int32(v.runs)
	if has(o.sc.older, int(v.rjob)) {
		j.Spec.BackoffLimitPerIndex = nil
	}
	if v.deleting {
		j.DeletionTimestamp = &before
	}
	for _, c := range []struct {
		is     bool
		called batchv1.JobConditionType
	}{
		{v.failing, batchv1.JobFailureTarget}, {v.criteriaMet, batchv1.JobSuccessCriteriaMet},
		{v.complete, batchv1.JobComplete}, {v.broken, batchv1.JobFailed},
	} {
		if c.is && c.called == batchv1.JobComplete {
			at := metav1.NewTime(timeOf(v.completed).Add(time.Minute))
			j.Status.CompletionTime = &at
		}
		if c.is {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
				Type: c.called, Status: corev1.ConditionTrue, LastTransitionTime: before,
			})
		}
	}
	return j
}

// jobOfPlan is the other way round, for a Job that Decide wants to create.
func (o *objects) jobOfPlan(j *batchv1.Job) (job, error) {
	v := job{rjob: -1, size: int8(ptr.Deref(j.Spec.Completions, 0)), suspend: ptr.Deref(j.Spec.Suspend, false)}
	for i, rjob := range o.sc.rjobs {
		if rjob.name == j.Labels[jobset.ReplicatedJobNameKey] {
			v.rjob = int8(i)
		}
	}
	index, err1 := strconv.Atoi(j.Labels[jobset.JobIndexKey])
	attempt, err2 := strconv.Atoi(j.Labels[constants.RestartsKey])
	if v.rjob < 0 || err1 != nil || err2 != nil {
		return job{}, fmt.Errorf("reading the labels of the Job to create: %v", j.Labels)
	}
	v.index, v.attempt, v.number = int8(index), int8(attempt), executionOf(j)
	v.bare = o.sc.ft != nil && !nodehealth.Avoids(&j.Spec.Template.Spec, sickMarks)
	return v, nil
}

type podKey struct {
	podObject
	rjob, jobIndex int8
}

func (o *objects) pod(v podObject, of job) *facts.Member {
	v.uid, v.lease = 0, 0 // which Pod it is does not matter to a decision, and the Lease is another object
	key := podKey{v, of.rjob, of.index}
	if p, ok := o.pods.Load(key); ok {
		return p.(*facts.Member)
	}
	p, _ := o.pods.LoadOrStore(key, facts.Of(o.newPod(v, of)))
	return p.(*facts.Member)
}

func (o *objects) newPod(v podObject, of job) *corev1.Pod {
	w := builders.MakePod(o.job(of), int(v.index)).Name(podName(o.sc, of, v))
	switch {
	case v.epoch > 0:
		w.Epoch(strconv.Itoa(int(v.epoch)))
	case v.epoch < 0:
		w.Epoch("nonsense")
	}
	switch v.phase {
	case podSucceeded:
		w.Phase(corev1.PodSucceeded)
	case podFailed:
		w.Phase(corev1.PodFailed)
	}
	w.Change(func(p *corev1.Pod) {
		p.Spec.NodeName = "node"
		o.setTold(p, v.told)
		if v.sick {
			p.Spec.NodeName = sickNode
		}
		if o.sc.recreates() && v.phase == running && !v.started {
			p.Status.Phase = corev1.PodPending
		}
		if v.empty {
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
				Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, LastTransitionTime: before,
			})
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 255, Reason: "Unknown"},
			}}}
		}
		p.CreationTimestamp = metav1.NewTime(now.Add(-time.Duration(v.age)*period - time.Second)) // the API cuts to the second
		if v.node != 0 {
			v.stand(p)
		}
	})
	if v.phase == podFailed && o.sc.backoffs {
		ended := before // a minute ago, and the first Pod of an index is replaced 10 s after its end
		if v.backoff {
			ended = metav1.NewTime(now)
		}
		w.Change(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: ended},
			}}}
		})
	}
	if v.ended {
		w.Change(func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodRunning
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed"},
			}}}
		})
	}
	if !v.tracked {
		w.Counted()
	}
	if v.overdue {
		w.Terminating(before.Time)
	} else if v.deleting {
		w.Terminating(after.Time)
	}
	return w.Obj()
}

// viewOf is what an agent reads of a JobSet.
func (sc *scenario) viewOf(js *jobSet) agent.JobSet {
	if !js.exists {
		return agent.JobSet{}
	}
	view := agent.JobSet{
		Exists: true, UID: uidText(js.uid), InPlace: !sc.recreates(),
		Disabled: js.gateOff == isTrue || js.disabled && sc.earlierAgents, Suspended: js.suspend, Ended: js.phase != unfinished, Deprecated: int32(js.d), Synced: int32(js.s),
	}
	if js.planned {
		view.PlannedStop = plannedStop
	}
	return view
}

func uidText(uid int16) string { return "uid-" + strconv.Itoa(int(uid)) }

func indexesText(mask uint64) string {
	var parts []string
	for i := range 64 {
		if mask&(1<<i) != 0 {
			parts = append(parts, strconv.Itoa(i))
		}
	}
	return strings.Join(parts, ",")
}

func jobName(sc *scenario, j *job) string {
	return fmt.Sprintf("%s-%d", sc.rjobs[j.rjob].name, j.index)
}

func podName(sc *scenario, of job, p podObject) string {
	return fmt.Sprintf("%s-%d", jobName(sc, &of), p.index)
}
