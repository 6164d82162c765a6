/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"math/bits"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/tolerance"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// The objects of a JobSet with spec.faultTolerance, and the values of the model that they are made of.

// faultTolerance says what of it a scenario has.
type faultTolerance struct {
	// recreate: the strategy is Recreate instead of InPlaceRestart, so that the health of Pods counts.
	recreate bool
	// retryLimit: there is no failure policy, so that retryLimit is the limit.
	retryLimit bool
	// noPause: retryPauseSeconds is 0.
	noPause bool
	// bare: the Jobs of the first attempt lack the affinity that keeps Pods away from sick nodes.
	bare bool
	// avoid is how many failures make it avoid a node, 0 if it avoids none; nodes is how many there are.
	avoid, nodes int8
}

func (sc *scenario) recreates() bool { return sc.ft != nil && sc.ft.recreate }

// tolerated is what the status remembers of it.
type tolerated struct {
	deployed  condition // ResourcesDeployed
	unhealthy trouble
	reset     reset
	complete  int8 // completeAttempt + 1, 0 if none was complete
	nodes     [maxNodes]nodeMemory
}

// trouble is for how long a JobSet has been unhealthy.
type trouble uint8

const (
	healthy trouble = iota
	troubled
	troubledLong // for failureGracePeriodSeconds
)

// reset is how far a reset is.
type reset uint8

const (
	noReset    reset = iota
	deleting         // until all Jobs are gone
	retryPause       // which is not over
	retryPaused
)

// lateness is how much of the time of a Job is up.
type lateness int8

const (
	onTime        lateness = iota
	pastAdmission          // its Pods have to exist
	pastWarmup             // its Pods have to run
)

const longAgo = time.Hour

// limits are those of all scenarios. A Pod that should be gone has been so for a minute.
func (sc *scenario) limits() tolerance.Limits {
	l := tolerance.Builtin()
	l.Defaults.Warmup, l.Defaults.ForcefulDeletion = period, 30*time.Second
	return l
}

// startedAgo is since when a Job runs.
var startedAgo = [...]time.Duration{onTime: 0, pastAdmission: 2 * time.Minute, pastWarmup: longAgo}

// sickNode is where all Pods stand that have to leave their node.
const sickNode = "sick-node"

var (
	nodeRules = nodehealth.DefaultRules()
	sickMarks = nodeRules.Marks(map[string]string{"autopilot.ibm.com/gpuhealth": "EVICT"})
)

// rulesOf are those by which a Job is built.
func (o *objects) rulesOf(bare bool) nodehealth.Rules {
	if o.sc.ft == nil || bare {
		return nil
	}
	return nodeRules
}

func useGPU(spec *batchv1.JobSpec) {
	pods := &spec.Template.Spec
	pods.Containers = append(pods.Containers, corev1.Container{Name: "gpu", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")},
	}})
}

// tolerating makes a JobSet with fault tolerance.
func (o *objects) tolerating(w *builders.JobSetWrapper, v jobSet) {
	since := now
	if v.unhealthy == troubledLong {
		since = now.Add(-longAgo)
	}
	if v.unhealthy != healthy {
		w.Condition(jobset.JobSetUnhealthy, true, constants.PodsMissingReason, "trouble", since)
	}
	if v.deployed != absent {
		w.Condition(jobset.JobSetResourcesDeployed, v.deployed == isTrue, constants.ResourcesInUseReason, "deployed", now)
	}
}

// askTolerance fills in what a JobSet asks for, and what its status remembers.
func (o *objects) askTolerance(js *jobset.JobSet, v tolerated) {
	asked := &jobset.FaultTolerance{}
	js.Spec.FaultTolerance, js.Status.FaultTolerance = asked, v.object()
	if o.sc.ft.noPause {
		asked.RetryPauseSeconds = ptr.To[int32](0)
	}
	if o.sc.ft.recreate {
		js.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
	}
	if o.sc.ft.retryLimit {
		js.Spec.FailurePolicy, asked.RetryLimit = nil, ptr.To(int32(o.sc.maxRestarts))
	}
	if o.sc.avoids() {
		o.askToAvoid(js, &v.nodes)
	}
}

// object is what the status of a JobSet has.
func (v tolerated) object() *jobset.FaultToleranceStatus {
	s := &jobset.FaultToleranceStatus{}
	if v.complete > 0 {
		s.CompleteAttempt = ptr.To(int64(v.complete - 1))
	}
	if v.reset != noReset {
		s.Reset = &jobset.ResetStatus{StartTime: before}
	}
	switch v.reset {
	case retryPause:
		s.Reset.JobsGoneTime = ptr.To(metav1.NewTime(now))
	case retryPaused:
		s.Reset.JobsGoneTime = ptr.To(metav1.NewTime(now.Add(-longAgo)))
	}
	return s
}

// toleratedOf is the other way round.
func toleratedOf(s *jobset.JobSetStatus) tolerated {
	v := tolerated{deployed: conditionOf(s, jobset.JobSetResourcesDeployed)}
	if c := apimeta.FindStatusCondition(s.Conditions, string(jobset.JobSetUnhealthy)); c != nil && c.Status == metav1.ConditionTrue {
		v.unhealthy = troubledLong
		if c.LastTransitionTime.Time.Equal(now) {
			v.unhealthy = troubled
		}
	}
	known := s.FaultTolerance
	if known == nil {
		return v
	}
	if known.CompleteAttempt != nil {
		v.complete = int8(*known.CompleteAttempt) + 1
	}
	v.nodes = nodesOf(known.NodeFailures)
	switch r := known.Reset; {
	case r == nil:
	case r.JobsGoneTime == nil:
		v.reset = deleting
	case r.JobsGoneTime.Time.Equal(now):
		v.reset = retryPause
	default:
		v.reset = retryPaused
	}
	return v
}

// setStart says since when a Job runs, and how many of its indexes are done.
func (o *objects) setStart(j *batchv1.Job, v job) {
	if o.sc.ft == nil {
		return
	}
	j.Status.Succeeded = int32(bits.OnesCount64(v.done))
	if v.awake {
		j.Status.StartTime = ptr.To(metav1.NewTime(now.Add(-startedAgo[v.age])))
	}
}

// tolerate adds what a decision with fault tolerance looks at.
func (d *decider) tolerate(in *policy.Input, v view) {
	in.Gates.FaultTolerance, in.Tolerance, in.ChildrenRead = true, d.sc.limits(), v.childrenRead
	in.SickNodes = policy.SickNodes{
		KeepAway: d.rulesOf(d.sc.ft.bare && v.js.restarts == 0), Since: heldSince[v.moving],
		Marked: map[string][]nodehealth.Mark{sickNode: sickMarks},
	}
	in.FirstFailure = v.failure()
}

// stray is a Pod of a Job that was not seen.
type stray struct {
	pod podObject
	of  job
}

func (d *decider) strays(v view) (pods []*facts.Member) {
	for _, s := range v.strays {
		pods = append(pods, d.pod(s.pod, s.of))
	}
	return pods
}
