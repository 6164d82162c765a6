/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Verdict is what the planner of elastic groups said about a JobSet: a fact like its Pods, from which the status follows.
// How it comes here is drawn in pkg/controllers/elastic/board.go.
type Verdict struct {
	About Subject
	// Held: a user wanted the sizes to be left alone.
	Held bool
	// Decisions are those about its ReplicatedJobs; none if it is not planned, because it is suspended or has ended.
	Decisions []elastic.Decision
}

// Subject is what of a JobSet a verdict depends on. Once that differs, the verdict says nothing.
type Subject struct {
	UID                types.UID
	Generation         int64
	Deprecated, Synced int32
	TerminalState      string
}

// SubjectOf returns what a verdict about a JobSet is about.
func SubjectOf(js *jobset.JobSet) Subject {
	deprecated, synced := EpochsOf(js)
	return Subject{js.UID, js.Generation, deprecated, synced, js.Status.TerminalState}
}

// NewVerdict returns what was decided about a JobSet.
func NewVerdict(js *jobset.JobSet, decisions []elastic.Decision) *Verdict {
	return &Verdict{SubjectOf(js), SizesHeld(js), decisions}
}

// SizesHeld reports whether a user wants the sizes of a JobSet to be left alone (P111).
func SizesHeld(js *jobset.JobSet) bool {
	_, held := js.Annotations[jobset.ElasticHoldKey]
	return held
}

// IsIn reports whether the status of the JobSet says all that a verdict about it does.
func (d *Verdict) IsIn(js *jobset.JobSet) bool {
	next := slices.Clone(js.Status.Conditions)
	return !d.writeCondition(&next, time.Time{}) && d.AllowsResize(js)
}

// AllowsResize reports whether the status of the JobSet has the ceilings and limits of a verdict about it. A size must not
// change before: without the ceiling for which it shrinks, the next plan would grow again what was refused (P108a). A
// condition holds no size up: its message may differ in each round.
func (d *Verdict) AllowsResize(js *jobset.JobSet) bool {
	sizes, most := sizesIn(&js.Status), maximums(js)
	for i := range d.Decisions {
		of := &d.Decisions[i]
		switch is := sizes[of.ReplicatedJob]; {
		case is == nil && of.Ceiling != nil:
			return false // there is no place for it yet
		case is != nil && !apiequality.Semantic.DeepEqual(is.Ceiling, ceilingOf(of.Ceiling)):
			return false
		case is != nil && !apiequality.Semantic.DeepEqual(is.Limit, d.limitOf(js, is.Limit, of, most[of.ReplicatedJob])):
			return false
		}
	}
	return true
}

// WriteTo brings a verdict into the next status of a JobSet, which must not be that of the cache.
func (d *Verdict) WriteTo(status *jobset.JobSetStatus, js *jobset.JobSet, now time.Time) {
	d.writeCondition(&status.Conditions, now)
	sizes, most := sizesIn(status), maximums(js)
	for i := range d.Decisions {
		of := &d.Decisions[i]
		if is := sizes[of.ReplicatedJob]; is != nil {
			is.Ceiling, is.Limit = ceilingOf(of.Ceiling), d.limitOf(js, is.Limit, of, most[of.ReplicatedJob])
		}
	}
}

// condition returns whether the planner cannot give the JobSet what it needs, and why (P109).
func (d *Verdict) condition() metav1.Condition {
	next := metav1.Condition{Type: string(jobset.JobSetElasticWaiting), Status: metav1.ConditionFalse,
		Reason: constants.ElasticRoomFoundReason, Message: constants.ElasticRoomFoundMessage}
	var messages []string
	for i := range d.Decisions {
		of := &d.Decisions[i]
		reason := map[elastic.State]string{elastic.Waits: constants.MinimumDoesNotFitReason, elastic.Stuck: constants.LostPodsReason}[of.State]
		if reason == "" {
			continue
		}
		if of.Refused {
			reason = constants.ElasticRefusedReason
		}
		if next.Status = metav1.ConditionTrue; len(messages) == 0 {
			next.Reason = reason
		}
		messages = append(messages, fmt.Sprintf("ReplicatedJob %s: %s", of.ReplicatedJob, of.Because))
	}
	if len(messages) == 0 { // it runs, with less than it might have
		for i := range d.Decisions {
			if of := &d.Decisions[i]; of.Ceiling != nil {
				next.Reason = constants.ElasticRefusedReason
				messages = append(messages, fmt.Sprintf("ReplicatedJob %s: %s", of.ReplicatedJob, of.Ceiling))
			}
		}
	}
	if len(messages) > 0 {
		next.Message = strings.Join(messages, "; ")
	}
	switch {
	case !d.Held || len(d.Decisions) == 0:
	case next.Status == metav1.ConditionFalse:
		next.Reason, next.Message = constants.ElasticHeldReason, constants.ElasticHeldMessage
	default:
		next.Message += "; " + constants.ElasticHeldMessage
	}
	return next
}

// writeCondition reports whether that changed anything. That there is room is not said if nothing was lacking before.
func (d *Verdict) writeCondition(conditions *[]metav1.Condition, now time.Time) bool {
	next := d.condition()
	next.LastTransitionTime = metav1.NewTime(now)
	if next.Reason == constants.ElasticRoomFoundReason && apimeta.FindStatusCondition(*conditions, next.Type) == nil {
		return false
	}
	return apimeta.SetStatusCondition(conditions, next)
}

// limitOf returns what keeps a ReplicatedJob from one more Pod (P113). All agents see each write, so it stays as it was
// while the group assembles, and as long as only amounts and nodes differ.
func (d *Verdict) limitOf(js *jobset.JobSet, was *jobset.ElasticLimit, of *elastic.Decision, most int32) *jobset.ElasticLimit {
	if workerpod.WantsInPlace(js) && !Runs(js) {
		return was
	}
	l := of.Limit
	if l != nil && l.Reason == elastic.LimitFixed {
		l = d.whyFixed(of, most)
	}
	if l == nil {
		return nil
	}
	next := &jobset.ElasticLimit{Reason: l.Reason, Resource: l.Resource, Message: l.Message}
	if !l.Until.IsZero() {
		next.Until = ptr.To(metav1.NewTime(l.Until.Truncate(time.Second)))
	}
	if was != nil && was.Reason == next.Reason && was.Resource == next.Resource && was.Until.Equal(next.Until) {
		return was
	}
	return next
}

// whyFixed says why nothing changes a size that is not the maximum.
func (d *Verdict) whyFixed(of *elastic.Decision, most int32) *elastic.Limit {
	switch {
	case of.Size >= most:
		return nil
	case d.Held:
		return &elastic.Limit{Reason: "Held", Message: "the annotation jobset.sigs.k8s.io/elastic-hold keeps its size"}
	}
	return &elastic.Limit{Reason: "Finished", Message: "a worker of the group has finished, and a change of size would start it again"}
}

func ceilingOf(c *elastic.Ceiling) *jobset.ElasticCeiling {
	if c == nil {
		return nil
	}
	return &jobset.ElasticCeiling{Size: c.Size, Refusals: c.Refusals, RefusedTime: metav1.NewTime(c.Since.Truncate(time.Second)),
		RetryTime: metav1.NewTime(c.Until.Truncate(time.Second)), Nodes: c.Nodes, Message: c.Message}
}

// sizesIn returns the places of a status for the sizes of elastic ReplicatedJobs, by name.
func sizesIn(status *jobset.JobSetStatus) map[string]*jobset.ElasticSize {
	sizes := make(map[string]*jobset.ElasticSize, len(status.ReplicatedJobsStatus))
	for i := range status.ReplicatedJobsStatus {
		sizes[status.ReplicatedJobsStatus[i].Name] = status.ReplicatedJobsStatus[i].Elastic
	}
	return sizes
}

// maximums returns the greatest sizes of elastic ReplicatedJobs, by name.
func maximums(js *jobset.JobSet) map[string]int32 {
	most := make(map[string]int32, len(js.Spec.ReplicatedJobs))
	for i := range js.Spec.ReplicatedJobs {
		if rjob := &js.Spec.ReplicatedJobs[i]; rjob.Elastic != nil {
			most[rjob.Name] = rjob.Elastic.MaxInstances
		}
	}
	return most
}
