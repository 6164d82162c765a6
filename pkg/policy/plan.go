/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// Input is all that a decision may look at. Nothing in it is changed.
type Input struct {
	JobSet *jobset.JobSet
	// Jobs are those that the JobSet controls, by UID, in any order.
	Jobs []*batchv1.Job
	// ServiceExists tells whether a Service has the name of the headless Service.
	ServiceExists bool
	// Claims are the PersistentVolumeClaims that exist of those that the JobSet
	// asks for, by name.
	Claims map[string]*metav1.PartialObjectMetadata
	// Pods are the Pods of each Job, by the UID of the Job that controls them.
	// Read for in-place restart only.
	Pods map[types.UID][]*corev1.Pod
	// Confirmed Jobs, and their Pods, were just read past the cache.
	Confirmed map[types.UID]bool
	// FirstFailure is the first failure seen in the epoch that runs, if any was.
	FirstFailure *Failure
	// BrokenAt is when the group broke, if that is remembered.
	BrokenAt time.Time
	Gates    gates.Set
	Now      time.Time

	// Progress says when to step in if the group does not come together.
	Progress Progress
	// NotReady are the nodes of terminating Pods that are not ready, or gone.
	NotReady map[string]bool
}

// Progress is how long a group may take to come together. 0 means for ever.
type Progress struct {
	// Assembly: after it Pods that have not reported are deleted, after twice of it all Jobs.
	Assembly time.Duration
	// ForcefulDeletion: so long after its own grace a Pod on a lost node is deleted by force.
	ForcefulDeletion time.Duration
}

// Failure is what brought a Pod down, as the Pod showed it for a moment.
type Failure struct {
	Pod  string
	Node string
	// Deleted: the Pod is being deleted. Otherwise one of its containers ended, or the
	// Pod failed as a whole if Container is empty.
	Deleted   bool
	Container string
	ExitCode  int32
	// Reason is the kubelet's, such as OOMKilled, or that of a disruption; may be empty.
	Reason string
}

// Plan is what is to be done, in this order: deletes, of Pods too, Service, claims, scaling,
// creates, suspends, resumes, status, events.
type Plan struct {
	// Confirm, if not nil, is a Job that seems to have lost a worker. Read it and
	// its Pods past the cache and decide again; the rest of the plan is empty.
	Confirm *batchv1.Job

	DeleteJobSet  bool
	DeleteJobs    []*batchv1.Job
	DeletePods    []PodDeletion
	CreateService *corev1.Service
	CreateClaims  []*corev1.PersistentVolumeClaim
	ScaleJobs     []Scale
	// CreateJobs are batches, one a ReplicatedJob: the next starts when the one before is through.
	CreateJobs  [][]*batchv1.Job
	SuspendJobs []*batchv1.Job
	ResumeJobs  []Resume

	// Status is the next status, whole.
	Status jobset.JobSetStatus
	// CountsInterval, if not 0, is how far apart writes of nothing but counts are
	// to be: every worker's agent is sent each of them.
	CountsInterval time.Duration

	Events   []Event
	Outcomes []Outcome
	// Restart is the action by which the failure policy restarts Jobs; "" if it restarts none.
	Restart jobset.FailurePolicyAction
	// GroupRestart is how long the group restart that ends now took.
	GroupRestart time.Duration
	// InvalidEpochs are Pods whose epoch annotation is not an epoch.
	InvalidEpochs []*corev1.Pod
	// RequeueAfter is when to look again though nothing changed; 0 means not at all.
	RequeueAfter time.Duration
}

// Resume is a Job that is to run.
type Resume struct {
	// From is the Job as it is, Job as it is to be.
	From, Job *batchv1.Job
	// ResetStartTime: the template changes, which is allowed only without a start time.
	ResetStartTime bool
}

// Scale is a Job that is to run another number of Pods.
type Scale struct {
	Job *batchv1.Job
	// Workers is the new parallelism and the new number of completions.
	Workers int32
}

// PodDeletion are Pods that are to go so that the group can come together.
type PodDeletion struct {
	Pods []*corev1.Pod
	// Force: with grace period 0.
	Force bool
	// Event is told when they are deleted.
	Event Event
}

// Event is told to the user once the status is written.
type Event struct {
	// Type is Normal or Warning.
	Type    string
	Reason  string
	Message string
}

// Outcome is told to the metrics once the status is written.
type Outcome string

const (
	// Completed: the JobSet became Completed.
	Completed Outcome = "Completed"
	// Failed: the JobSet became Failed.
	Failed Outcome = "Failed"
	// GroupBroken: the group of workers restarts in place.
	GroupBroken Outcome = "GroupBroken"
	// GroupLifted: the workers of a group restart may start.
	GroupLifted Outcome = "GroupLifted"
)

// ChangesGroup tells whether the plan makes workers come or go.
func (p *Plan) ChangesGroup() bool {
	return p.touchesJobs() || len(p.DeletePods) > 0
}

// touchesJobs tells whether the plan changes Jobs.
func (p *Plan) touchesJobs() bool {
	return len(p.DeleteJobs)+len(p.ScaleJobs)+len(p.CreateJobs)+len(p.SuspendJobs)+len(p.ResumeJobs) > 0
}

// forgetJobs drops every change of Jobs.
func (p *Plan) forgetJobs() {
	p.DeleteJobs, p.ScaleJobs, p.CreateJobs, p.SuspendJobs, p.ResumeJobs = nil, nil, nil, nil, nil
}

// requeueAfter asks for a look in d at the latest.
func (p *Plan) requeueAfter(d time.Duration) {
	if d > 0 && (p.RequeueAfter == 0 || d < p.RequeueAfter) {
		p.RequeueAfter = d
	}
}
