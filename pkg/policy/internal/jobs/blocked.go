/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// A JobSet that neither runs nor ends says what it waits for in the condition JobsBlocked (C388):
//
//	an object cannot be created   from the first refusal until nothing is left to create; the shell reports it, see Refused
//	a Job does not go or fail     a Job that is deleted, or fails, ends once all its Pods have; after a while they are named
//
// A group that restarts in place says the second in WorkersStuck (P24), and with faultTolerance such Pods are deleted by force (P85).

// lingerPatience is how long a Job may be about to go or fail before it is reported, lingerInterval how often that is looked at.
const (
	lingerPatience = 30 * time.Second
	lingerInterval = time.Minute
)

// refusals are the reasons of JobsBlocked that say what cannot be created or resumed.
var refusals = []string{
	constants.JobCreationFailedReason, constants.JobResumeFailedReason, constants.FailedResourcePropagationReason,
	constants.HeadlessServiceCreationFailedReason, constants.PVCCreationFailedReason,
}

// lingersSince is since when a Job waits for its Pods to end, zero if it does not, and whether it is about to fail.
func lingersSince(job *batchv1.Job) (since time.Time, fails bool) {
	if job.DeletionTimestamp != nil {
		return job.DeletionTimestamp.Time, false
	}
	if _, finished := view.FinishedCondition(job); finished {
		return time.Time{}, false
	}
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailureTarget && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// Lingers reports whether a Job has waited for its Pods to end for so long that they are named.
func Lingers(job *batchv1.Job, now time.Time) bool {
	since, _ := lingersSince(job)
	return !since.IsZero() && now.Sub(since) >= lingerPatience
}

// JobsBlocked says what keeps the Jobs from running or ending, or that nothing does any more.
func JobsBlocked(v *view.View, sum pass.Result) pass.Result {
	var r pass.Result
	if !v.Finished && !v.InPlace && !v.Tolerant {
		var texts []string
		if texts, r = lingering(v); len(texts) > 0 {
			return r.And(pass.Tell(pass.BecomesTrue(jobset.JobSetJobsBlocked, constants.PodsNotGoneReason, strings.Join(texts, "; "))))
		}
	}
	was := v.TrueCondition(jobset.JobSetJobsBlocked)
	if was == nil {
		return r
	}
	ends := pass.BecomesFalse(jobset.JobSetJobsBlocked, constants.JobsNotBlockedReason, constants.JobsNotBlockedMessage)
	if slices.Contains(refusals, was.Reason) {
		if !v.Finished && creates(&sum.Writes) {
			return r
		}
		ends.Event = pass.Event{} // nor was the refusal told by this condition
	}
	return r.And(pass.Tell(ends))
}

// lingering says which Jobs have waited for their Pods for long, up to five of them, and asks for the next look.
func lingering(v *view.View) (texts []string, r pass.Result) {
	var late []*batchv1.Job
	for _, job := range v.Jobs {
		switch since, _ := lingersSince(job); {
		case since.IsZero():
		case !Lingers(job, v.Now):
			r = r.And(pass.RequeueAfter(v.Until(since.Add(lingerPatience))))
		default:
			late = append(late, job)
		}
	}
	slices.SortFunc(late, view.CompareJobs)
	for _, job := range late[:min(len(late), view.MaxNamed)] {
		since, fails := lingersSince(job)
		texts = append(texts, whyLingering(v, job, since, fails))
	}
	if more := len(late) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more Jobs", more))
	}
	if len(texts) > 0 {
		r = r.And(pass.RequeueAfter(lingerInterval))
	}
	return texts, r
}

func whyLingering(v *view.View, job *batchv1.Job, since time.Time, fails bool) string {
	doing := "has been terminating"
	if fails {
		doing = "has been failing"
	}
	pods := view.SortByName(slices.Clone(v.Lingering[job.UID]))
	if fails { // whoever is counted may stay; a Job that is deleted goes last
		pods = slices.DeleteFunc(pods, func(pod *facts.Member) bool { return pod.Ended() && !pod.Tracked })
	}
	switch {
	case len(pods) == 0 && fails:
		return fmt.Sprintf("Job %s %s since %s, and all of its Pods have ended: check the Job controller, which has not marked the Job as failed",
			job.Name, doing, stamp(since))
	case len(pods) == 0:
		return fmt.Sprintf("Job %s %s since %s, and no Pod of it is left: check its finalizers and the controller that removes them",
			job.Name, doing, stamp(since))
	}
	var names view.Named
	for _, pod := range pods {
		names.Add(whereIs(pod))
	}
	return fmt.Sprintf("Job %s %s since %s and waits for Pods %s", job.Name, doing, stamp(since), names.String())
}

// whereIs says where a Pod is and when it should be gone.
func whereIs(m *facts.Member) string {
	where, when := "", "not being deleted"
	if m.Node != "" {
		where = "node " + m.Node + ", "
	}
	if m.Terminating() {
		when = "should have been gone at " + stamp(m.Deadline)
	}
	return fmt.Sprintf("%s (%s%s)", m.Name, where, when)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// creates reports whether a plan creates or resumes anything, or has left some of that to a later one.
func creates(w *pass.Writes) bool {
	return w.Does(pass.CreateService|pass.CreateClaim|pass.CreateJob|pass.ResumeJob) || w.Uncreated+w.Unresumed > 0
}

// Refused writes into a status that an object could not be created or resumed. It reports whether the JobSet was not blocked
// for that reason until now.
func Refused(status *jobset.JobSetStatus, reason, message string, now time.Time) (news bool) {
	was := apimeta.FindStatusCondition(status.Conditions, string(jobset.JobSetJobsBlocked))
	news = was == nil || was.Status != metav1.ConditionTrue || was.Reason != reason
	n := pass.Silently(jobset.JobSetJobsBlocked, metav1.ConditionTrue, reason, message)
	n.Apply(&status.Conditions, now)
	return news
}
