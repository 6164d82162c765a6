/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func metav1Time(at time.Time) metav1.Time { return metav1.NewTime(at) }

// lifted: S := epoch and nothing else, as at a first start.
func lifted(epoch int32) func(*summary) {
	return func(w *summary) {
		w.CountsInterval = time.Second
		w.Status.SyncedEpoch = &epoch
		w.Status.LastSyncTime = ptr.To(metav1.NewTime(now))
	}
}

// assembling: wait, and write counts once a second at most.
func assembling(w *summary) { w.CountsInterval = time.Second }

func wordsInvalid(pods ...string) func(*summary) {
	return func(w *summary) {
		assembling(w)
		w.Invalid = pods
	}
}

func TestLift(t *testing.T) {
	t.Parallel()
	terminating := func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1.NewTime(now)) }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P13, P21: a first start, and a wiped status, lift at epoch 1":    {inPlace(0, 0, "1 1"), lifted(1)},
		"P13: nil epochs read as 0":                                       {inPlace(0, 0, "1 1", onJobSet(func(js *jobset.JobSet) { js.Status.DeprecatedEpoch, js.Status.SyncedEpoch = nil, nil })), lifted(1)},
		"P13: all Jobs count":                                             {inPlace(1, 1, "2 2|2 2"), lifted(2)},
		"P13: no lift with N-1 reports":                                   {inPlace(1, 1, "2 1"), assembling},
		"P13: no lift with N-1 reports in another Job":                    {inPlace(1, 1, "2 2|2 1"), assembling},
		"P13: no lift while a Pod has not reported":                       {inPlace(0, 0, "1 _"), assembling},
		"P13: no lift while a slot is empty":                              {inPlace(0, 0, "1 ."), assembling},
		"P13: no lift without slots, all workers are done":                {inPlace(1, 1, "ok0 ok0"), assembling},
		"P13: no lift without slots, no ReplicatedJob":                    {inPlace(0, 0, "1", onJobSet(func(js *jobset.JobSet) { js.Spec.ReplicatedJobs = nil }), func(in *Input) { in.Jobs = nil }), assembling},
		"P13: no lift while a Job terminates":                             {inPlace(1, 1, "2 2|2 2", onJob(1, terminating)), assembling},
		"P13: no lift while a finished Job terminates":                    {inPlace(1, 1, "2 2|ok0 ok0", onJob(1, terminating), onJob(1, withCondition(batchv1.JobComplete))), assembling},
		"P13: S ends at the largest int32":                                {inPlace(math.MaxInt32, math.MaxInt32, "2147483647 2147483647"), assembling},
		"P10: two live Pods in one slot block the lift":                   {inPlace(1, 1, "2 2", more(0, 0, "2")), assembling},
		"P10: a second live Pod that reported is no second member":        {inPlace(1, 1, "2 .", more(0, 0, "2")), assembling},
		"P10: an old Pod that stops is no second Pod":                     {inPlace(1, 1, "2 2", more(0, 0, "t1")), lifted(2)},
		"P10: a failed Pod beside its replacement is nothing":             {inPlace(1, 1, "2 2", more(0, 0, "F1")), lifted(2)},
		"P10: a terminating Pod is no member":                             {inPlace(1, 1, "t2 2"), assembling},
		"P10: a failed Pod is no member":                                  {inPlace(1, 1, "F2 2"), assembling},
		"P10: a completed index needs no worker":                          {inPlace(0, 0, "1 . 1", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "1" })), lifted(1)},
		"P10: a completed range needs no workers":                         {inPlace(0, 0, "1 . .", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "1-2" })), lifted(1)},
		"P10: completedIndexes beyond the size count for nothing":         {inPlace(1, 1, "2 .", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "7-9" })), assembling},
		"P10: a Succeeded Pod is done before the Job says so":             {inPlace(0, 0, "ok_ 1"), lifted(1)},
		"P10: done once, though Pod and Job both say so":                  {inPlace(0, 0, "ok_ 1 .", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0" })), assembling},
		"P10: a live Pod beside a Succeeded one stands in no slot":        {inPlace(0, 0, "ok_ _", more(0, 0, "1")), assembling},
		"P10: a live Pod in a completed index stands in no slot":          {inPlace(0, 0, "1 _", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0" })), assembling},
		"P10: a Complete Job has no slots":                                {inPlace(1, 1, "2 2|. .", onJob(1, withCondition(batchv1.JobComplete))), lifted(2)},
		"P10: a Job that met its success criteria has no slots":           {inPlace(1, 1, "2 2|. .", onJob(1, withCondition(batchv1.JobSuccessCriteriaMet))), lifted(2)},
		"P10: no lift with FailureTarget anywhere":                        {inPlace(1, 1, "2 2|2 2", onJob(1, withCondition(batchv1.JobFailureTarget))), nil},
		"P10: a Pod without an index is nothing":                          {inPlace(1, 1, "2 .", more(0, 1, "2"), noIndex), assembling},
		"P10: a Pod with an index beyond the size is no member":           {inPlace(1, 1, "2 .", more(0, 2, "2")), assembling},
		"P47: a live Pod with an index beyond the size blocks the lift":   {inPlace(1, 1, "2 2", more(0, 2, "2")), assembling},
		"P47: so does one far beyond it that has not reported":            {inPlace(1, 1, "2 2|2 2", more(1, 99, "_")), assembling},
		"P47: so does one that stops":                                     {inPlace(1, 1, "2 2", more(0, 2, "t1")), assembling},
		"P47: so does one that should be gone":                            {inPlace(1, 1, "2 2", more(0, 2, "T1")), assembling},
		"P47: one that has ended blocks it no more":                       {inPlace(1, 1, "2 2", more(0, 2, "F2"), more(0, 3, "ok2")), lifted(2)},
		"P47: a Pod without an index is no outsider":                      {inPlace(1, 1, "2 2", more(0, 1, "2"), noIndex), lifted(2)},
		"P10, C270: Pods of a Job that is not ours are nothing":           {inPlace(1, 1, "2 .", foreign("2")), assembling},
		"P11, C273: the size is that of the Job, not of the spec":         {inPlace(1, 1, "2 2", onJobSet(unevenSpec)), lifted(2)},
		"P11, C273: without completions the parallelism is the size":      {inPlace(1, 1, "2 2", onJob(0, func(job *batchv1.Job) { job.Spec.Completions = nil })), lifted(2)},
		"P11, C273: without both the size is one":                         {inPlace(1, 1, "2", onJob(0, func(job *batchv1.Job) { job.Spec.Completions, job.Spec.Parallelism = nil, nil })), lifted(2)},
		"P11: more completions than Pods at a time: never whole":          {inPlace(1, 1, "2 2", onJob(0, func(job *batchv1.Job) { job.Spec.Completions = ptr.To[int32](4) })), assembling},
		"P11, C272: sizes beyond int32 neither overflow nor end the pass": {inPlace(1, 1, "2|2|2", huge), func(w *summary) { w.CountsInterval = time.Minute }},
		"P12: 0 is no epoch":                                              {inPlace(0, 0, "1 0"), wordsInvalid("js-w-0-1")},
		"P12: a signed number is no epoch":                                {inPlace(0, 0, "1 +1"), wordsInvalid("js-w-0-1")},
		"P12: a leading zero is no epoch":                                 {inPlace(0, 0, "1 01"), wordsInvalid("js-w-0-1")},
		"P12, C272: 2147483648 is no epoch":                               {inPlace(0, 0, "1 2147483648"), wordsInvalid("js-w-0-1")},
		"P12, C272: 4294967297 is not 1":                                  {inPlace(0, 0, "1 4294967297"), wordsInvalid("js-w-0-1")},
		"P12, C271: text is no epoch":                                     {inPlace(0, 0, "abc 1"), wordsInvalid("js-w-0-0")},
		"P12, C271: -1 is no epoch":                                       {inPlace(0, 0, "1 -1"), wordsInvalid("js-w-0-1")},
		"P12: an empty annotation is no epoch": {inPlace(0, 0, "1 x", func(in *Input) {
			edit(in.Pods["js-w-0-uid"][1], func(pod *corev1.Pod) { pod.Annotations[jobset.EpochKey] = "" })
		}), wordsInvalid("js-w-0-1")},
		"P12: all invalid ones are named, in order":                            {inPlace(0, 0, "a b|1 c"), wordsInvalid("js-w-0-0", "js-w-0-1", "js-w-1-1")},
		"P12, C274: an epoch above S+1 is not reported, and not complained of": {inPlace(0, 0, "1 2"), assembling},
		"P12: 2147483647 is an epoch, here above S+1":                          {inPlace(0, 0, "1 2147483647"), assembling},
		"P12, C271: a dead Pod is not complained of":                           {inPlace(0, 0, "1 1", more(0, 0, "Fabc"), more(0, 1, "tabc")), lifted(1)},
		"P21, C275: status wiped: Pods of later epochs are not reported":       {inPlace(0, 0, "5 5"), assembling},
		"P49: while the group runs too":                                        {inPlace(0, 1, "1", wide, onJob(0, completed("1-2499"))), func(w *summary) { w.CountsInterval = 25 * time.Second }},
		"P49: more than 6,000 workers do not make it longer":                   {inPlace(0, 1, "1", huge, onJob(0, completed("1-2147483646"))), func(w *summary) { w.CountsInterval = time.Minute }},
		"P49: and while it is suspended":                                       {inPlace(1, 1, ".", wide, suspend, suspendedAlready), func(w *summary) { w.CountsInterval = 25 * time.Second }},
		"P22: counts are written once per 10 N milliseconds":                   {inPlace(0, 0, "1", wide), func(w *summary) { w.CountsInterval = 25 * time.Second }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func noIndex(in *Input) {
	pods := in.Pods[in.Jobs[0].UID]
	edit(pods[len(pods)-1], func(pod *corev1.Pod) { delete(pod.Annotations, batchv1.JobCompletionIndexAnnotation) })
}

func foreign(word string) func(*Input) {
	return func(in *Input) {
		other := in.Jobs[0].DeepCopy()
		other.UID = "another"
		in.Pods[types.UID("another")] = []*facts.Member{worker(other, 1, word)}
	}
}

func unevenSpec(js *jobset.JobSet) {
	js.Spec.ReplicatedJobs[0].Template.Spec.Completions = ptr.To[int32](8)
	js.Spec.ReplicatedJobs[0].Template.Spec.Parallelism = nil
}

func huge(in *Input) {
	for _, job := range in.Jobs {
		job.Spec.Completions = ptr.To[int32](math.MaxInt32)
	}
}

func wide(in *Input) { in.Jobs[0].Spec.Completions = ptr.To[int32](2500) }

// TestLiftWaitsForTheJobsWanted: what there is to do comes first (P13).
func TestLiftWaitsForTheJobsWanted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P13: a Job is to be created": {
			inPlace(1, 1, "2 2|2 2", func(in *Input) { in.Jobs = in.Jobs[:1] }),
			func(w *summary) { assembling(w); w.Creates = [][]string{{"js-w-1"}} },
		},
		"P13, C268: a Job of an older attempt is to be deleted": {
			inPlace(1, 1, "2 2|2 2", onJobSet(func(js *jobset.JobSet) { js.Status.Restarts = 1 }),
				onJob(0, func(job *batchv1.Job) { job.Labels["jobset.sigs.k8s.io/restart-attempt"] = "1" })),
			func(w *summary) { assembling(w); w.Deletes = []string{"js-w-1"} },
		},
		"P13, C268: a Job of an older attempt still terminates": {
			inPlace(1, 1, "2 2|2 2", onJobSet(func(js *jobset.JobSet) { js.Status.Restarts = 1 }),
				onJob(0, func(job *batchv1.Job) {
					job.Labels["jobset.sigs.k8s.io/restart-attempt"] = "1"
				}),
				onJob(1, func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1.NewTime(past)) })),
			assembling,
		},
		"P46: a Job is missing and cannot be created while a claim terminates": {
			inPlace(1, 1, "2 2|2 2", func(in *Input) { in.Jobs = in.Jobs[:1] }, claimTerminates),
			func(w *summary) { assembling(w); waitsForClaim(w) },
		},
		"P46: no Job is missing, and a claim that terminates holds nobody back": {inPlace(1, 1, "2 2|2 2", claimTerminates), lifted(2)},
		"P46: a Job whose turn has not come is not missing": {
			inPlace(1, 1, "2 2", claimTerminates, func(in *Input) {
				in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs,
					builders.MakeReplicatedJob("x").Workers(1).DependsOn("w", jobset.DependencyComplete).Obj())
			}),
			lifted(2),
		},
		"P13: a Job is to be resumed": {
			inPlace(1, 1, "2 2|2 2", onJob(1, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) })),
			func(w *summary) { assembling(w); w.Resumes = []string{"js-w-1"} },
		},
		"P20, C284: a Job is to be suspended, and nobody is lifted": {
			inPlace(1, 1, "2 2", suspend),
			func(w *summary) {
				w.Suspends = []string{"js-w-0"}
				w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", now)}
				w.Events = []Event{{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"}}
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

// claimTerminates: a claim that the Jobs mount has to go before Jobs are created.
func claimTerminates(in *Input) {
	in.JobSet.Spec.VolumeClaimPolicies = builders.MakeJobSet("js", "ns").Claims(jobset.RetentionPolicyDelete, "data").Obj().Spec.VolumeClaimPolicies
	in.Claims = map[string]*metav1.PartialObjectMetadata{"data-js": existing(terminating)}
}
