/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// recreated is a JobSet of ReplicatedJobs a(3) and b(2) with strategy Recreate and maxRestarts 2.
func recreated(rules ...jobset.FailurePolicyRule) *builders.JobSetWrapper {
	return builders.MakeJobSet("js", "ns").FailurePolicy(jobset.Recreate, 2, rules...).ReplicatedJob(
		builders.MakeReplicatedJob("a").Replicas(3), builders.MakeReplicatedJob("b").Replicas(2))
}

// fell is a failed Job that a test names.
type fell struct {
	rjob    string
	index   int
	minute  int
	reason  string
	message string
}

func failing(w *builders.JobSetWrapper, jobs ...fell) Input {
	js := w.Obj()
	in := Input{JobSet: js, Now: now, Gates: gateOn}
	for _, f := range jobs {
		in.Jobs = append(in.Jobs, builders.MakeJob(js, f.rjob, f.index).Failed(past.Add(time.Duration(f.minute)*time.Minute), f.reason, f.message).Obj())
	}
	return in
}

func failsWith(reason, message string) func(*summary) {
	return func(w *summary) {
		outOfBudget(w)
		w.Status.Conditions[0].Reason, w.Status.Conditions[0].Message = reason, message
		w.Events = []Event{{Type: "Warning", Reason: reason, Message: message}}
	}
}

func restartsBy(condition string, action jobset.FailurePolicyAction, counted int32, job string) func(*summary) {
	return func(w *summary) {
		message := "applying " + string(action) + " failure policy action (first failed job: " + job + ")"
		w.Status.Restarts++
		w.Status.RestartsCountTowardsMax += counted
		w.Restart = action
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, condition, message, now)}
		w.Events = []Event{{Type: "Warning", Reason: condition, Message: message}, {Type: "Warning", Reason: string(action) + "FailurePolicyAction", Message: message}}
	}
}

func byDefault(job string) func(*summary) {
	return restartsBy("DefaultFailurePolicy", jobset.RestartJobSet, 1, job)
}

func TestFailurePolicy(t *testing.T) {
	t.Parallel()
	failRule := jobset.FailurePolicyRule{Name: "fail", Action: jobset.FailJobSet}
	ignore := func(name string) jobset.FailurePolicyRule {
		return jobset.FailurePolicyRule{Name: name, Action: jobset.RestartJobSetAndIgnoreMaxRestarts}
	}
	reasons := func(rule jobset.FailurePolicyRule, reasons ...string) jobset.FailurePolicyRule {
		rule.OnJobFailureReasons = reasons
		return rule
	}
	patterns := func(rule jobset.FailurePolicyRule, patterns ...string) jobset.FailurePolicyRule {
		rule.OnJobFailureMessagePatterns = patterns
		return rule
	}
	targets := func(rule jobset.FailurePolicyRule, targets ...string) jobset.FailurePolicyRule {
		rule.TargetReplicatedJobs = targets
		return rule
	}
	ignored := func(name, job string) func(*summary) {
		return restartsBy("FailurePolicy_"+name, jobset.RestartJobSetAndIgnoreMaxRestarts, 0, job)
	}
	failedBy := func(job string) func(*summary) {
		return failsWith("FailJobSetFailurePolicyAction", "applying FailJobSet failure policy action (first failed job: "+job+")")
	}
	spent := func(job string) func(*summary) {
		return failsWith("ReachedMaxRestarts", "jobset failed due to reaching max number of restarts (first failed job: "+job+")")
	}
	noPolicy := recreated()
	noPolicyJS := noPolicy.Obj()
	noPolicyJS.Spec.FailurePolicy = nil
	withoutPolicy := failing(noPolicy, fell{"a", 0, 5, "R", "m"}, fell{"b", 1, 3, "R", "m"})
	withoutPolicy.JobSet = noPolicyJS
	noName := failing(recreated(failRule), fell{"a", 0, 1, "R", "m"})
	delete(noName.Jobs[0].Labels, jobset.ReplicatedJobNameKey)
	withSuccess := failing(recreated(), fell{"a", 0, 1, "R", "m"})
	withSuccess.JobSet.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny}
	withSuccess.Jobs = append(withSuccess.Jobs, builders.MakeJob(withSuccess.JobSet, "b", 0).Complete().Obj())
	withPrevious := failing(recreated().Restarts(1, 1), fell{"a", 0, 1, "R", "m"})
	withPrevious.Jobs = append(withPrevious.Jobs, builders.MakeJob(withPrevious.JobSet, "b", 0).Attempt(0).Obj(),
		builders.MakeJob(withPrevious.JobSet, "b", 1).Attempt(0).Terminating(recent).Obj())
	suspendedJS := failing(recreated(), fell{"a", 0, 1, "R", "m"})
	suspendedJS.JobSet.Spec.Suspend = ptr.To(true)

	one := fell{"a", 1, 1, "BackoffLimitExceeded", "Job has reached the specified backoff limit"}
	two := fell{"b", 0, 2, "PodFailurePolicy", "Container main for pod ns/x-0 failed with exit code 42"}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C122: no policy: fails, naming the earliest":                    {withoutPolicy, failsWith("FailedJobs", "jobset failed due to one or more job failures (first failed job: js-b-1)")},
		"C127: no rules: RestartJobSet for the earliest":                 {failing(recreated(), two, one), byDefault("js-a-1")},
		"C127: no rule matches: RestartJobSet for the earliest":          {failing(recreated(reasons(failRule, "DeadlineExceeded")), two, one), byDefault("js-a-1")},
		"C124, C332: at one time the first by name":                      {failing(recreated(), fell{"b", 0, 1, "R", "m"}, fell{"a", 2, 1, "R", "m"}, fell{"a", 1, 1, "R", "m"}), byDefault("js-a-1")},
		"C123, C331, O303: an earlier rule wins over an earlier failure": {failing(recreated(reasons(ignore("first"), "PodFailurePolicy"), failRule), one, two), ignored("first", "js-b-0")},
		"C123: within a rule the earliest failure wins":                  {failing(recreated(ignore("all")), two, one), ignored("all", "js-a-1")},
		"C123, O302: of two rules that match the first":                  {failing(recreated(failRule, ignore("second")), one), failedBy("js-a-1")},
		"C125: a reason of several":                                      {failing(recreated(reasons(failRule, "X", "PodFailurePolicy")), two), failedBy("js-b-0")},
		"C125, O286: another reason":                                     {failing(recreated(reasons(failRule, "X")), two), byDefault("js-b-0")},
		"C125, O300: a target":                                           {failing(recreated(targets(failRule, "b")), one, two), failedBy("js-b-0")},
		"C125, O301: another target":                                     {failing(recreated(targets(failRule, "c")), one, two), byDefault("js-a-1")},
		"C125: all filters have to pass":                                 {failing(recreated(targets(reasons(failRule, "PodFailurePolicy"), "a")), one, two), byDefault("js-a-1")},
		"C125: a Job without its ReplicatedJob's name matches none":      {noName, byDefault("js-a-0")},
		"C126, O290: a pattern is found anywhere":                        {failing(recreated(patterns(failRule, "exit code 4[0-9]$")), one, two), failedBy("js-b-0")},
		"C126, O289: its reason and its message":                         {failing(recreated(patterns(reasons(failRule, "PodFailurePolicy"), "42$")), two), failedBy("js-b-0")},
		"C126, O288: its reason, and another message":                    {failing(recreated(patterns(reasons(failRule, "PodFailurePolicy"), "never")), two), byDefault("js-b-0")},
		"C126: one pattern of several is enough":                         {failing(recreated(patterns(failRule, "nothing", "main")), two), failedBy("js-b-0")},
		"C126, O287: no pattern is found":                                {failing(recreated(patterns(failRule, "^exit")), two), byDefault("js-b-0")},
		"C126: an invalid pattern is no match":                           {failing(recreated(patterns(failRule, "(")), two), byDefault("js-b-0")},
		"C126, C387: a pattern that is too large is no match":            {failing(recreated(patterns(failRule, "main|(?:"+strings.Repeat("a", 3000)+"){1000}")), two), byDefault("js-b-0")},
		"C126: an invalid pattern does not hide a valid one":             {failing(recreated(patterns(failRule, "(", "main")), two), failedBy("js-b-0")},

		"C130, O285: FailJobSet ignores the budget left": {failing(recreated(failRule), one), failedBy("js-a-1")},
		"C131: the last restart of two":                  {failing(recreated().Restarts(1, 1), one), byDefault("js-a-1")},
		"C131: the third of two":                         {failing(recreated().Restarts(2, 2), one), spent("js-a-1")},
		"C131: ignored restarts do not count":            {failing(recreated().Restarts(9, 1), one), byDefault("js-a-1")},
		"P15: group restarts count":                      {failing(recreated().Restarts(1, 1).InPlaceRestarts(1), one), spent("js-a-1")},
		"P15: one group restart leaves one":              {failing(recreated().InPlaceRestarts(1), one), byDefault("js-a-1")},
		"C132: ignoring goes beyond the budget":          {failing(recreated(ignore("on")).Restarts(2, 2), one), ignored("on", "js-a-1")},
		"C132: and beyond one that group restarts spent": {failing(recreated(ignore("on")).InPlaceRestarts(2), one), ignored("on", "js-a-1")},
		"C141: maxRestarts 0 is ReachedMaxRestarts":      {failing(builders.MakeJobSet("js", "ns").FailurePolicy(jobset.Recreate, 0), one), spent("js-a-1")},
		"C128: one action for several failures":          {failing(recreated(), one, two, fell{"a", 2, 0, "R", "m"}), byDefault("js-a-2")},
		"C145: suspended JobSets are not exempt":         {suspendedJS, byDefault("js-a-0")},
		"C51: failure beats success":                     {withSuccess, byDefault("js-a-0")},
		"C39: previous Jobs are deleted in the same pass, not those that terminate": {withPrevious, func(w *summary) {
			byDefault("js-a-0")(w)
			w.Deletes, w.RequeueAfter = []string{"js-b-0"}, 29*time.Second // C388
		}},
		"C140: failing ends a restart": {
			failing(recreated(failRule).Condition(jobset.JobSetRestarting, true, "DefaultFailurePolicy", "m", past), one),
			func(w *summary) {
				failedBy("js-a-1")(w)
				w.Status.Conditions = append([]metav1.Condition{builders.Condition(jobset.JobSetRestarting, false, "JobSetFailed", "jobset failed", now)}, w.Status.Conditions...)
				w.Events = append(w.Events, Event{Type: "Normal", Reason: "JobSetFailed", Message: "jobset failed"})
			},
		},
		"C318: failing does not rewrite a restart that ended": {
			failing(recreated(failRule).Condition(jobset.JobSetRestarting, false, "JobsReady", "m", past), one),
			func(w *summary) {
				before := w.Status.Conditions
				failedBy("js-a-1")(w)
				w.Status.Conditions = append(before, w.Status.Conditions...)
			},
		},
		"C54: a later restart is True again from now": {
			failing(recreated().Condition(jobset.JobSetRestarting, false, "JobsReady", "m", past), one), byDefault("js-a-1"),
		},
		"C55: another reason keeps the time of the transition": {
			failing(recreated().Condition(jobset.JobSetRestarting, true, "MovedOffNodes", "m", past), one),
			func(w *summary) {
				byDefault("js-a-1")(w)
				w.Status.Conditions[0].LastTransitionTime = metav1Time(past)
			},
		},
		"C53: the same reason again is no event, whatever the message was": {
			failing(recreated().Condition(jobset.JobSetRestarting, true, "DefaultFailurePolicy", "m", past), one),
			func(w *summary) {
				byDefault("js-a-1")(w)
				w.Status.Conditions[0].LastTransitionTime = metav1Time(past)
				w.Events = w.Events[1:]
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func TestUnknownActions(t *testing.T) {
	t.Parallel()
	t.Run("C129: an unknown action is an error", func(t *testing.T) {
		t.Parallel()
		in := failing(recreated(jobset.FailurePolicyRule{Name: "r", Action: "Explode"}), fell{"a", 0, 0, "R", "m"})
		if _, err := Decide(in); err == nil {
			t.Error("no error")
		}
	})
}

// TestFullRestart follows a failure until all Jobs are those of the new attempt (C52, C104, C144, C62).
func TestFullRestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		strategy jobset.JobSetRestartStrategy
		early    [][]string
	}{
		"C62: Recreate creates each name once it is free": {jobset.Recreate, [][]string{{"js-a-0"}}},
		"C62: BlockingRecreate waits for the last":        {jobset.BlockingRecreate, nil},
		"C62: InPlaceRestart is like Recreate":            {jobset.InPlaceRestart, [][]string{{"js-a-0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := builders.MakeJobSet("js", "ns").FailurePolicy(tc.strategy, 1).ReplicatedJob(
				builders.MakeReplicatedJob("a"), builders.MakeReplicatedJob("b"))
			in := failing(w, fell{"a", 0, 0, "R", "m"})
			in.Jobs = append(in.Jobs, builders.MakeJob(in.JobSet, "b", 0).Complete().Obj())
			in.JobSet.Status = decideOnce(t, in).Status
			expect := func(deletes []string, creates [][]string) {
				t.Helper()
				interval := time.Duration(0)
				if tc.strategy == jobset.InPlaceRestart {
					interval = time.Second
				}
				check(t, in, func(w *summary) {
					w.Deletes, w.Creates, w.CountsInterval = deletes, creates, interval
					if slices.ContainsFunc(in.Jobs, pass.IsTerminating) && tc.strategy != jobset.InPlaceRestart {
						w.RequeueAfter = 30 * time.Second
					}
				})
			}
			expect([]string{"js-a-0", "js-b-0"}, nil)
			for _, job := range in.Jobs {
				job.DeletionTimestamp = ptr.To(metav1.NewTime(now))
			}
			expect(nil, nil)
			in.Jobs = in.Jobs[1:]
			expect(nil, tc.early)
			in.Jobs = []*batchv1.Job{builders.MakeJob(in.JobSet, "a", 0).Obj(), in.Jobs[0]}
			expect(nil, nil)
			in.Jobs = in.Jobs[:1]
			expect(nil, [][]string{{"js-b-0"}})
		})
	}
}
