/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// pictureOf writes slots in one line: Job, index, state, Pod, epoch and marks.
func pictureOf(t *testing.T, in Input) []string {
	t.Helper()
	slots, err := WorkerSlots(in)
	if err != nil {
		t.Fatalf("WorkerSlots: %v", err)
	}
	var lines []string
	for _, slot := range slots {
		line := fmt.Sprintf("%s[%d] %s", slot.Job.Name, slot.Index, slot.State)
		if slot.Pod != nil {
			line += fmt.Sprintf(" %s %d", slot.Pod.Name, slot.Epoch)
		}
		for word, there := range map[string]bool{" back": slot.Back, " crowded": slot.Crowded, " invalid": slot.Invalid} {
			if there {
				line += word
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestWorkerSlots(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   Input
		want []string
	}{
		"While the group assembles, those at S+1 are back": {inPlace(1, 1, "2 1"),
			[]string{"js-w-0[0] Member js-w-0-0 2 back", "js-w-0[1] Member js-w-0-1 1"}},
		"While the group runs, those at S are back": {inPlace(0, 1, "2 1"),
			[]string{"js-w-0[0] Member js-w-0-0 2", "js-w-0[1] Member js-w-0-1 1 back"}},
		"A worker that has not reported is not back": {inPlace(0, 0, "1 _"),
			[]string{"js-w-0[0] Member js-w-0-0 1 back", "js-w-0[1] Member js-w-0-1 0"}},
		"An epoch above S+1 is no report": {inPlace(0, 0, "1 7"),
			[]string{"js-w-0[0] Member js-w-0-0 1 back", "js-w-0[1] Member js-w-0-1 7"}},
		"A slot without a Pod is lost": {inPlace(0, 1, "1 ."),
			[]string{"js-w-0[0] Member js-w-0-0 1 back", "js-w-0[1] Lost"}},
		"A Pod inside its grace leaves, one past it is lost": {inPlace(0, 1, "t1 T1"),
			[]string{"js-w-0[0] Leaving js-w-0-0 1", "js-w-0[1] Lost js-w-0-1 1"}},
		"A Failed Pod leaves until the Job controller has counted it": {inPlace(0, 1, "f1 F1"),
			[]string{"js-w-0[0] Leaving js-w-0-0 1", "js-w-0[1] Lost js-w-0-1 1"}},
		"A member stands before the Failed Pod that it replaces": {inPlace(1, 1, "2 2", more(0, 0, "F1")),
			[]string{"js-w-0[0] Member js-w-0-0 2 back", "js-w-0[1] Member js-w-0-1 2 back"}},
		"Two live Pods in a slot are not back": {inPlace(1, 1, "2 2", more(0, 1, "2")),
			[]string{"js-w-0[0] Member js-w-0-0 2 back", "js-w-0[1] Member js-w-0-1 2 crowded"}},
		"An annotation that is no epoch is told": {inPlace(0, 0, "1 x"),
			[]string{"js-w-0[0] Member js-w-0-0 1 back", "js-w-0[1] Member js-w-0-1 0 invalid"}},
		"A Succeeded Pod leaves no slot": {inPlace(1, 1, "ok1 2"),
			[]string{"js-w-0[1] Member js-w-0-1 2 back"}},
		"A completed index leaves no slot": {inPlace(1, 1, "2 2 2", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0,2" })),
			[]string{"js-w-0[1] Member js-w-0-1 2 back"}},
		"Neither a Complete Job nor one that is to fail nor one that is being deleted has slots": {
			inPlace(1, 1, "2|2|2|2", onJob(0, withCondition(batchv1.JobComplete)), onJob(1, withCondition(batchv1.JobFailureTarget)),
				onJob(2, func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1Time(past)) })),
			[]string{"js-w-3[0] Member js-w-3-0 2 back"}},
		"A Job of an earlier attempt has no slots": {inPlace(1, 1, "2|2", func(in *Input) { in.JobSet.Status.Restarts = 1 }), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, pictureOf(t, tc.in)); diff != "" {
				t.Errorf("slots (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkerSlotsRefusesAJobWhoseAttemptCannotBeRead(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 0, "1", onJob(0, func(job *batchv1.Job) { job.Labels, job.Annotations = nil, nil }))
	if _, err := WorkerSlots(in); err == nil {
		t.Error("no error")
	}
}

// TestSlotsAreThoseOfP10: whatever the Jobs and Pods are, the list and the sums that decisions go by
// are what P10 says of each index, read one by one.
func TestSlotsAreThoseOfP10(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	words := strings.Fields("1 2 3 _ . t1 T2 f1 F2 ok1 ok2 x")
	pick := func() string { return words[random.Intn(len(words))] }
	for range 3000 {
		size := 1 + random.Intn(4)
		var jobs []string
		for range 1 + random.Intn(3) {
			var pods []string
			for range size {
				pods = append(pods, pick())
			}
			jobs = append(jobs, strings.Join(pods, " "))
		}
		picture, extra, synced := strings.Join(jobs, "|"), pick(), int32(random.Intn(3))
		in := inPlace(max(0, synced-int32(random.Intn(2))), synced, picture)
		if extra != "." {
			more(random.Intn(len(jobs)), random.Intn(size+1), extra)(&in)
		}
		done := []string{"", "", "0", "1-2", "0-9", "junk"}[random.Intn(6)]
		in.Jobs[0].Status.CompletedIndexes = done
		name := fmt.Sprintf("%s + %s, S %d, done %q", picture, extra, synced, done)
		want, indexes := readByRule(in)
		if diff := cmp.Diff(want, sumsOfGroup(t, in)); diff != "" {
			t.Fatalf("%s (-P10 +sums of the group):\n%s", name, diff)
		}
		slots, err := WorkerSlots(in)
		if err != nil {
			t.Fatalf("WorkerSlots: %v", err)
		}
		var listed []string
		for _, slot := range slots {
			listed = append(listed, fmt.Sprintf("%s[%d] %s %v", slot.Job.Name, slot.Index, slot.State, slot.Crowded))
		}
		if diff := cmp.Diff(indexes, listed); diff != "" {
			t.Fatalf("%s (-P10 +listed):\n%s", name, diff)
		}
	}
}

type sums struct {
	Size, Members, Leaving int64
	Crowded                bool
	Invalid                int
	Lacking                string
}

func sumsOfGroup(t *testing.T, in Input) sums {
	t.Helper()
	v, err := newView(in)
	if err != nil {
		t.Fatalf("newView: %v", err)
	}
	g := &v.Group
	s := sums{Size: g.Size, Members: g.Members, Leaving: g.Leaving, Crowded: g.Crowded, Invalid: len(group.InvalidEpochs(v, pass.Result{}).Reports.InvalidEpochs)}
	if g.Lacking != nil {
		s.Lacking = g.Lacking.Name
	}
	return s
}

// readByRule reads P10 index by index.
func readByRule(in Input) (s sums, indexes []string) {
	for _, job := range in.Jobs {
		for index := range int64(*job.Spec.Completions) {
			live, leaving, done := readIndex(in, job, index)
			if done {
				continue
			}
			state := "Lost"
			s.Size++
			switch {
			case len(live) > 0:
				state = "Member"
				s.Members++
				s.Crowded = s.Crowded || len(live) > 1
			case leaving:
				state = "Leaving"
				s.Leaving++
			case s.Lacking == "":
				s.Lacking = job.Name
			}
			for _, pod := range live {
				if pod.Reported.Text == "x" {
					s.Invalid++
				}
			}
			indexes = append(indexes, fmt.Sprintf("%s[%d] %s %v", job.Name, index, state, len(live) > 1))
		}
	}
	return s, indexes
}

// readIndex returns the live Pods of an index, whether one is leaving, and whether the index is done.
func readIndex(in Input, job *batchv1.Job, index int64) (live []*facts.Member, leaving, done bool) {
	first, last := map[string][2]int64{"0": {0, 0}, "1-2": {1, 2}, "0-9": {0, 9}}[job.Status.CompletedIndexes], int64(-1)
	if job.Status.CompletedIndexes != "" && job.Status.CompletedIndexes != "junk" {
		last = first[1]
	}
	done = first[0] <= index && index <= last
	for _, pod := range in.Pods[job.UID] {
		if int64(pod.Index) != index {
			continue
		}
		switch {
		case pod.Phase == corev1.PodSucceeded:
			done = true
		case pod.Phase == corev1.PodFailed:
			leaving = leaving || pod.Tracked
		case pod.Terminating():
			leaving = leaving || pod.Deadline.After(in.Now)
		default:
			live = append(live, pod)
		}
	}
	return live, leaving, done
}
