/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package progress tells what the time of a JobSet went to: its goodput, its phases and steps, what each restart
// cost, and how its limits compare with the signs that its workers give. Values in, values out.
//
//	JobSet, Jobs, Pods, events, now  -> Of   -> Report
//	Report                           -> Text -> what a terminal shows
package progress

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// Report is what there is to tell.
type Report struct {
	// Time is when the report was made.
	Time      metav1.Time    `json:"time"`
	Namespace string         `json:"namespace"`
	Name      string         `json:"name"`
	State     restarts.State `json:"state"`
	// GoodputPercent is nil until a group has assembled or run.
	GoodputPercent *float64 `json:"goodputPercent,omitempty"`
	// Phases is nil if the status has no ledger.
	Phases *Phases `json:"phases,omitempty"`
	// Steps is nil if no worker told any.
	Steps *jobset.StepsStatus `json:"steps,omitempty"`
	// Advice is nil if no worker told of two signs, and no limit is set.
	Advice *Advice `json:"advice,omitempty"`
	// Restarts has the newest first.
	Restarts []Restart      `json:"restarts"`
	Notes    restarts.Notes `json:"notes,omitempty"`
}

// Phases are those of status.time, with the one that lasts up to the time of the report, in seconds.
type Phases struct {
	Running    float64 `json:"runningSeconds"`
	Assembling float64 `json:"assemblingSeconds"`
	Paused     float64 `json:"pausedSeconds"`
	// Starting is the part of Running before the first signs.
	Starting float64 `json:"startingSeconds"`
}

// Of makes the report. It fails if the JobSet has no group of workers that restarts in place.
func Of(in restarts.Input) (Report, error) {
	js := in.JobSet
	about := restarts.Of(in)
	if about.Strategy != jobset.InPlaceRestart {
		return Report{}, fmt.Errorf("JobSet %s/%s has restartStrategy %s: progress is kept of JobSets with InPlaceRestart only", js.Namespace, js.Name, about.Strategy)
	}
	told := toldBy(in)
	r := Report{Time: about.Time, Namespace: js.Namespace, Name: js.Name, State: about.State}
	r.addTime(js)
	r.addSteps(js, told)
	r.Restarts = restartsOf(about.LastRestarts, told)
	r.addAdvice(js.Spec.FailurePolicy, told)
	for _, unread := range []struct {
		what string
		err  error
	}{
		{"Jobs could not be read, so the reports of workers are missing here", in.JobsUnread},
		{"Pods could not be read, so the reports of workers are missing here", in.PodsUnread},
		{"Leases could not be read, so the reports of workers of large groups are missing here", in.LeasesUnread},
	} {
		if unread.err != nil {
			r.Notes.Add("%s: %v", unread.what, unread.err)
		}
	}
	return r, nil
}

// addTime adds the phases of the ledger, and to the one that lasts the time since it was written.
func (r *Report) addTime(js *jobset.JobSet) {
	if js.Status.Time == nil {
		r.Notes.Add("status.time is empty: no Job was created yet, or the manager does not keep it")
		return
	}
	ledger := js.Status.Time.DeepCopy()
	restarts.LastingOf(js).Spend(ledger, r.Time.Time)
	running, assembling, paused := ledger.Running.Duration, ledger.Assembling.Duration, ledger.Paused.Duration
	starting := min(ledger.Starting.Duration, running)
	r.Phases = &Phases{Running: running.Seconds(), Assembling: assembling.Seconds(), Paused: paused.Seconds(), Starting: starting.Seconds()}
	if paid := running + assembling; paid > 0 {
		percent := 100 * float64(running-starting) / float64(paid)
		r.GoodputPercent = &percent
	}
}

// addSteps adds the steps of the ledger, and those of the epoch that is not in it yet: the ledger has an epoch once the next is released.
func (r *Report) addSteps(js *jobset.JobSet, told []worker) {
	if js.Status.Time != nil {
		r.Steps = js.Status.Time.Steps
	}
	var now epoch
	for i := range told {
		if told[i].Epoch == ptr.Deref(js.Status.SyncedEpoch, 0) {
			now.add(&told[i])
		}
	}
	if now.steps {
		r.Steps = policy.StepsWith(r.Steps, now.first, now.highest)
	}
}
