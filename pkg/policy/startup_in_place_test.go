/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// ordered is a group in process mode: Jobs "w" with the Pods of the picture, and then a Job "l", the launcher, of one
// worker. launcher is the picture of its Pod, "" if it has no Job yet.
func ordered(deprecated, synced int32, picture, launcher string, changes ...func(*Input)) Input {
	in := inPlace(deprecated, synced, picture, supervised)
	in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, builders.MakeReplicatedJob("l").Workers(1).Obj())
	if launcher != "" {
		l := builders.MakeJob(in.JobSet, "l", 0).Workers(1).Obj()
		in.Jobs = append(in.Jobs, l)
		if launcher != "." {
			in.Pods[l.UID] = append(in.Pods[l.UID], worker(l, 0, launcher))
		}
	}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func afterReady(in *Input) {
	in.JobSet.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "w", Status: jobset.DependencyReady}}
}

func oneAfterAnother(in *Input) {
	in.JobSet.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: jobset.InOrder}
}

// startIsOver says of a JobSet that its start in order is over.
func startIsOver(in *Input) {
	in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions,
		builders.Condition(jobset.JobSetStartupPolicyCompleted, true, "InOrderStartupPolicyCompleted", startedAll, past))
}

func allReady(in *Input) {
	for _, job := range in.Jobs {
		job.Status.Active, job.Status.Ready = ptr.Deref(job.Spec.Parallelism, 0), job.Spec.Parallelism
	}
}

func asleep(j int) func(*Input) {
	return onJob(j, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) })
}

// TestOrderOfAGroup: what others wait for in process mode are reports. All of the group start at one lift.
func TestOrderOfAGroup(t *testing.T) {
	t.Parallel()
	createsLauncher := func(w *summary) { w.Creates = [][]string{{"js-l-0"}} }
	intent := func(w *summary) { w.Status.DeprecatedEpoch = ptr.To[int32](1) }
	for name, tc := range map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P126: the launcher waits for the last report":                              {ordered(0, 0, "1 _", "", afterReady), nil},
		"P126: readiness is not a report":                                           {ordered(0, 0, "_ _", "", afterReady, allReady), nil},
		"P126: the pass that sees the last report creates the launcher, no lift":    {ordered(0, 0, "1 1", "", afterReady), createsLauncher},
		"P126: every Job of the target is waited for":                               {ordered(0, 0, "1 1|1 _", "", afterReady), nil},
		"P126: all Jobs of the target have reported":                                {ordered(0, 0, "1 1|1 1", "", afterReady), createsLauncher},
		"P126: two Pods in one slot are no report":                                  {ordered(0, 0, "1 1", "", afterReady, more(0, 0, "1")), nil},
		"P126: a worker that is done is waited for no longer":                       {ordered(0, 0, "ok0 1", "", afterReady), createsLauncher},
		"P126: a Job that is done is waited for no longer":                          {ordered(0, 0, "ok0 ok0|1 1", "", afterReady, onJob(0, withCondition(batchv1.JobComplete))), createsLauncher},
		"P126: a Job whose success criteria are met is waited for no longer":        {ordered(0, 0, "_ _|1 1", "", afterReady, onJob(0, withCondition(batchv1.JobSuccessCriteriaMet))), createsLauncher},
		"P126: no lift before the launcher reports":                                 {ordered(0, 0, "1 1", "_", afterReady), nil},
		"P126: all start at one lift":                                               {ordered(0, 0, "1 1", "1", afterReady), lifted(1)},
		"P126: after a break all start at one lift as well":                         {ordered(1, 1, "2 2", "2", afterReady), lifted(2)},
		"P126: a launcher that somebody deleted joins when the group stands":        {ordered(0, 1, "1 1", "", afterReady), intent},
		"P126: while the group assembles, the launcher waits for the new reports":   {ordered(1, 1, "2 1", "", afterReady), nil},
		"P126: the launcher is resumed after the last report":                       {ordered(0, 0, "1 1", ".", afterReady, asleep(1)), func(w *summary) { w.Resumes = []string{"js-l-0"} }},
		"P126: the launcher stays suspended until then":                             {ordered(0, 0, "1 _", ".", afterReady, asleep(1)), nil},
		"P126: InOrder: no lift while the next are to come, readiness is no report": {ordered(0, 0, "1 _", "", oneAfterAnother, allReady), toldInProgress},
		"P126: InOrder: the next have their turn at the last report": {ordered(0, 0, "1 1", "", oneAfterAnother), func(w *summary) {
			createsLauncher(w)
			toldInProgress(w)
		}},
		"P126: InOrder: all start at one lift, and the start is over": {ordered(0, 0, "1 1", "1", oneAfterAnother), func(w *summary) {
			lifted(1)(w)
			w.Status.Conditions = append(w.Status.Conditions, builders.Condition(jobset.JobSetStartupPolicyCompleted, true, "InOrderStartupPolicyCompleted", startedAll, now))
			w.Events = append(w.Events, Event{Type: "Normal", Reason: "InOrderStartupPolicyCompleted", Message: startedAll})
		}},
		"P126: InOrder: a group restart is no other start":                     {ordered(1, 1, "2 1", "1", oneAfterAnother, startIsOver), nil},
		"P126, P20: agents that pass by report nothing, and readiness decides": {ordered(0, 0, "_ _", "", afterReady, allReady, disabled), createsLauncher},
		"P126: in container mode readiness decides": {ordered(0, 0, "_ _", "", afterReady, allReady, onJobSet(func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.InPlaceRestart.Mode = jobset.ContainerMode
		})), createsLauncher},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestTheClockOfThoseWhoWaited: workers that waited for others have all of the deadline (P24).
func TestTheClockOfThoseWhoWaited(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in    Input
		since time.Time
	}{
		"P24, P126: the clock starts over when the launcher is created": {ordered(0, 0, "1 1", "", afterReady), now},
		"P24, P126: and goes on while it is waited for":                 {ordered(0, 0, "1 1", "_", afterReady), past},
		"P24, P126: and while the workers are waited for":               {ordered(0, 0, "1 _", "", afterReady), past},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.in.Deadlines.Assembly = 10 * time.Hour
			tc.in.JobSet.Status.AssemblingSince = ptr.To(metav1.NewTime(past))
			if got := decideOnce(t, tc.in).Status.AssemblingSince; got == nil || !got.Time.Equal(tc.since) {
				t.Errorf("the clock counts from %v, want %v", got, tc.since)
			}
		})
	}
}
