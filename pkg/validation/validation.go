/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package validation decides which JobSets are admitted. It is pure: it takes a JobSet
// and the feature gates, and returns all violations at once. The schema and
// its CEL rules were checked before, and defaults are set, but nothing here
// relies on that, so an object that bypassed them causes no panic.
//
// Every rule is a small function in the file of its concern, called by one loop.
// The ids (W.., P.., Q..) in the names of the tests are those of the
// specification of JobSet's admission.
package validation

import (
	"errors"
	"fmt"
	"iter"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// rule returns the violations of one concern in a JobSet.
type rule func(js *jobset.JobSet, g gates.Set) field.ErrorList

// change returns the violations of an update.
type change func(old, new *jobset.JobSet, g gates.Set) field.ErrorList

var createRules = []rule{
	restartStrategyGate,
	firstHasNoDependsOn,
	subdomain,
	managedBy,
	successPolicyTargets,
	eachReplicatedJob(podCount),
	eachReplicatedJob(groupName),
	serviceName,
	eachReplicatedJob(jobName),
	eachReplicatedJob(podName),
	dependsOnEarlier,
	inPlace(eachReplicatedJob(inPlaceJob)),
	inPlace(eachReplicatedJob(fromNothing(changedReports))),
	inPlace(eachReplicatedJob(inPlaceAgent)),
	inPlace(inPlaceMode),
	inPlace(inPlaceEnvironment),
	inPlace(progress),
	inPlace(lostNode),
	inPlace(plannedStop),
	inPlace(warmStart),
	inPlace(takenClaims),
	inPlace(eachReplicatedJob(inPlaceToken)),
	inPlace(inPlaceOrder),
	inPlace(inPlaceActions),
	maxRestarts,
	failurePolicyRules,
	failureMessagePatterns,
	coordinator,
	elasticBounds,
	eachReplicatedJob(restartPolicy),
	eachReplicatedJob(completions),
	eachReplicatedJob(restartRules),
	eachReplicatedJob(fromNothing(changedPodTemplate)),
	eachReplicatedJob(jobSelector),
	eachReplicatedJob(jobNumbers),
	eachReplicatedJob(podParts),
	exclusiveTopology,
	exclusiveIsIndexed,
	faultToleranceGate,
	activeDeadline,
	oneLimit,
	lostPods,
	claimNames,
	claimVolumes,
}

// eachReplicatedJob makes a rule of a check of the ReplicatedJob at an index.
func eachReplicatedJob(check func(js *jobset.JobSet, i int) field.ErrorList) rule {
	return func(js *jobset.JobSet, _ gates.Set) field.ErrorList {
		var errs field.ErrorList
		for i := range js.Spec.ReplicatedJobs {
			errs = append(errs, check(js, i)...)
		}
		return errs
	}
}

// fromNothing makes a check of a ReplicatedJob of one of how it changed.
func fromNothing(check func(was *jobset.ReplicatedJob, js *jobset.JobSet, i int) field.ErrorList) func(*jobset.JobSet, int) field.ErrorList {
	return func(js *jobset.JobSet, i int) field.ErrorList { return check(&jobset.ReplicatedJob{}, js, i) }
}

// inPlace limits a rule to JobSets that restart in place. With the gate off the strategy
// itself is refused, and further errors would not help.
func inPlace(r rule) rule {
	return func(js *jobset.JobSet, g gates.Set) field.ErrorList {
		if !workerpod.RestartsInPlace(js, g) {
			return nil
		}
		return r(js, g)
	}
}

var updateRules = []change{
	replicatedJobsUnchanged,
	dependsOnUnchanged,
	resizes,
	workersIfGrown,
	tolerationsIfGrown,
	managedByUnchanged,
	policiesUnchanged,
	adjustedIfChanged,
	coordinatorIfChanged,
	podTemplatesIfChanged,
	reportsIfChanged,
	bypassEndsSeen,
	exclusiveIfChanged,
	faultToleranceIfChanged,
	activeDeadlineIfAdded,
}

// Bounds returns what is above a maximum. Of such a JobSet nothing else is said (W2): of 20,000 ReplicatedJobs, all that is
// wrong would be tens of megabytes.
func Bounds(js *jobset.JobSet) field.ErrorList {
	errs := jobSetBounds(js)
	for i := range min(len(js.Spec.ReplicatedJobs), maxReplicatedJobs) {
		errs = append(errs, templateBounds(js, i)...)
	}
	return errs
}

// Create returns every violation of a new JobSet within bounds by itself. ExistingClaims
// returns those that depend on objects in its namespace.
func Create(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if errs := Bounds(js); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	for _, check := range createRules {
		errs = append(errs, check(js, g)...)
	}
	return errs
}

// Update returns every violation of a change. An unchanged field never
// causes a violation: it may have been admitted under other gates
// or by an older version, and removing finalizers must always work.
func Update(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	var errs field.ErrorList
	for _, check := range updateRules {
		errs = append(errs, check(old, new, g)...)
	}
	return errs
}

// ToStatusError turns violations into the error of the API server: 422
// Invalid with one cause per violation. It returns nil if there are none.
func ToStatusError(js *jobset.JobSet, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(jobset.GroupVersion.WithKind(jobset.Kind).GroupKind(), js.Name, errs)
}

// plain is a violation without a field, "<nil>: Internal error: ...". Clients rely on
// that form for these rules. New rules have a path instead.
func plain(message string) *field.Error {
	return field.InternalError(nil, errors.New(message))
}

// noValue, as the value of a violation, leaves long values out of the message.
var noValue = field.OmitValueType{}

var specPath = field.NewPath("spec")

func replicatedJobPath(i int) *field.Path {
	return specPath.Child("replicatedJobs").Index(i)
}

// jobPath is the path of the Job spec in a ReplicatedJob.
func jobPath(i int) *field.Path {
	return replicatedJobPath(i).Child("template", "spec")
}

// podPath is the path of the Pod spec in a ReplicatedJob.
func podPath(i int) *field.Path {
	return jobPath(i).Child("template", "spec")
}

// jobSpec is the Job spec in a ReplicatedJob.
func jobSpec(js *jobset.JobSet, i int) *batchv1.JobSpec {
	return &js.Spec.ReplicatedJobs[i].Template.Spec
}

// podSpec is the Pod spec in a ReplicatedJob.
func podSpec(js *jobset.JobSet, i int) *corev1.PodSpec { return &jobSpec(js, i).Template.Spec }

// containersOf yields the containers of a Pod template, init containers first. There are thousands, so paths are made where they
// are needed.
func containersOf(js *jobset.JobSet, i int) iter.Seq2[func() *field.Path, *corev1.Container] {
	spec := podSpec(js, i)
	return func(yield func(func() *field.Path, *corev1.Container) bool) {
		for k := range len(spec.InitContainers) + len(spec.Containers) {
			name, list, at := "initContainers", spec.InitContainers, k
			if at >= len(list) {
				name, list, at = "containers", spec.Containers, k-len(list)
			}
			if !yield(func() *field.Path { return podPath(i).Child(name).Index(at) }, &list[at]) {
				return
			}
		}
	}
}

// kept yields the ReplicatedJobs of before an update, by the index that each has now.
func kept(old, new *jobset.JobSet) iter.Seq2[int, *jobset.ReplicatedJob] {
	return func(yield func(int, *jobset.ReplicatedJob) bool) {
		for i := range new.Spec.ReplicatedJobs {
			if was := predecessor(old, new, i); was != nil && !yield(i, was) {
				return
			}
		}
	}
}

// unknown refuses names that are not known, by a message in which they stand.
func unknown(names []string, known func(string) bool, message string) (errs field.ErrorList) {
	for _, name := range names {
		if !known(name) {
			errs = append(errs, plain(fmt.Sprintf(message, name)))
		}
	}
	return errs
}

// invalids makes a violation of each message about a value.
func invalids(path *field.Path, value string, messages []string) (errs field.ErrorList) {
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// namesOf returns the names of the ReplicatedJobs, for those who look up many.
func namesOf(js *jobset.JobSet) sets.Set[string] {
	names := make(sets.Set[string], len(js.Spec.ReplicatedJobs))
	for i := range js.Spec.ReplicatedJobs {
		names.Insert(js.Spec.ReplicatedJobs[i].Name)
	}
	return names
}

// findReplicatedJob returns the ReplicatedJob of a name, or nil.
func findReplicatedJob(js *jobset.JobSet, name string) *jobset.ReplicatedJob {
	for i := range js.Spec.ReplicatedJobs {
		if js.Spec.ReplicatedJobs[i].Name == name {
			return &js.Spec.ReplicatedJobs[i]
		}
	}
	return nil
}
