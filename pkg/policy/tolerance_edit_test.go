/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// deed is what a plan does, and for how long it waits; what it says is left out.
func deed(t *testing.T, in Input) string {
	t.Helper()
	s := summarize(decideOnce(t, in))
	f := s.Status.FaultTolerance
	return fmt.Sprint("deletes ", s.Deletes, " Pods ", s.Pods, " creates ", s.Creates, " restarts ", s.Status.Restarts, " ends ", s.Status.TerminalState,
		" resets ", f.Reset != nil, " keeps ", f.PodsKeptUntil != nil, " unhealthy ", s.Outcomes, " waits ", s.RequeueAfter)
}

// fields are those of spec.faultTolerance that hold a number, by their names in the API.
func fields() []string {
	var all []string
	for f := range reflect.TypeFor[jobset.FaultTolerance]().Fields() {
		if f.Type != reflect.TypeFor[*int32]() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

// edited is the input with one field of spec.faultTolerance at another value.
func edited(in Input, name string, value int32) Input {
	in = clone(in)
	field := reflect.ValueOf(in.JobSet.Spec.FaultTolerance).Elem().FieldByNameFunc(func(of string) bool { return strings.EqualFold(of, name) })
	field.Set(reflect.ValueOf(&value))
	return in
}

// TestEditsOfEveryFieldAtEveryPoint: a field that a JobSet waits for counts from where the wait began, at the next
// pass; any other changes nothing of what is done.
func TestEditsOfEveryFieldAtEveryPoint(t *testing.T) {
	t.Parallel()
	failsSecond := func(in *Input) {
		in.JobSet.Status.Restarts, in.JobSet.Status.RestartsCountTowardsMax = 1, 1
		has(1, 0, 1)(in)
		onJob(0, failed)(in)
	}
	keeps := tolerates(func(f *jobset.FaultTolerance) { f.DeletionOnFailureGracePeriodSeconds = ptr.To[int32](60) })
	points := map[string]struct {
		in Input
		// governs are the fields that are waited for here.
		governs []string
	}{
		"P80: Pods are missing":          {pods(30*time.Second, "R ."), []string{"admissionGracePeriodSeconds"}},
		"P80: Pods do not run yet":       {pods(2*time.Minute, "R P"), []string{"admissionGracePeriodSeconds", "warmupGracePeriodSeconds"}},
		"P80: the JobSet is unhealthy":   {pods(time.Hour, "R F", unhealthySince(20*time.Second)), []string{"failureGracePeriodSeconds"}},
		"P80: it runs":                   {pods(time.Hour, "R R"), nil},
		"P82: a Job failed":              {tolerant(failsSecond), []string{"retryLimit"}},
		"P82: Jobs are being deleted":    {tolerant(afterReset(time.Minute, -1), has(0, 0, 1)), nil},
		"P83: it pauses":                 {tolerant(afterReset(time.Hour, 30*time.Second)), []string{"retryPauseSeconds"}},
		"P84: it is suspended":           {pods(time.Hour, ". .", suspend, onJob(0, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }), read), nil},
		"P85: a Pod stops":               {pods(time.Hour, "R t", another(0, 1, "Running")), []string{"forcefulDeletionGracePeriodSeconds"}},
		"P87: it failed, and keeps Pods": {pods(time.Hour, "R R", keeps, ends(jobset.JobSetFailed, 40*time.Second)), []string{"deletionOnFailureGracePeriodSeconds"}},
		"P88: it completed":              {pods(time.Hour, "S S", onJob(0, withCondition(batchv1.JobComplete)), ends(jobset.JobSetCompleted, time.Minute), read), []string{"successTTLSeconds"}},
	}
	for point, tc := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			before := deed(t, tc.in)
			for _, field := range fields() {
				shorter := int32(1)
				after := deed(t, edited(tc.in, field, shorter))
				if governs := slices.Contains(tc.governs, field); governs == (after == before) {
					t.Errorf("%s: 1 governs here: %t\n%s", field, governs, cmp.Diff(before, after))
				}
				longer := deed(t, edited(tc.in, field, 10*60*60))
				if !slices.Contains(tc.governs, field) && longer != before {
					t.Errorf("%s: 10 h changes what is done:\n%s", field, cmp.Diff(before, longer))
				}
			}
		})
	}
}
