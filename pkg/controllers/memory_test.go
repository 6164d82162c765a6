/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestPassesAreSpacedOut(t *testing.T) {
	t.Parallel()
	m := newMemory()
	a, b := types.NamespacedName{Namespace: "ns", Name: "a"}, types.NamespacedName{Namespace: "ns", Name: "b"}
	at := func(ms int) time.Time { return now.Add(time.Duration(ms) * time.Millisecond) }
	steps := []struct {
		why  string
		key  types.NamespacedName
		at   int
		want time.Duration
	}{
		{"P22: the first pass starts at once", a, 0, 0},
		{"P22: the next waits for the rest of 50 ms", a, 20, 30 * time.Millisecond},
		{"P22: having waited does not count", a, 49, time.Millisecond},
		{"P22: another JobSet does not wait", b, 21, 0},
		{"P22: after 50 ms it starts", a, 50, 0},
		{"P22: and counts from there", a, 99, time.Millisecond},
		{"P22: a clock that was put back stops nobody", a, -5000, 0},
	}
	for _, step := range steps {
		if got := m.startPass(step.key, at(step.at)); got != step.want {
			t.Errorf("%s: waits %v, want %v", step.why, got, step.want)
		}
	}
	m.failedPass(a)
	if got := m.startPass(a, at(-4999)); got != 0 {
		t.Errorf("C10: after an error the queue decides, but it waits %v", got)
	}
	for _, pods := range []int{100, 1000, 100000} {
		t.Run(fmt.Sprintf("P22, C304: a second in which %d Pods report has 20 passes at the most", pods), func(t *testing.T) {
			t.Parallel()
			m, passes := newMemory(), 0
			for i := range pods {
				if m.startPass(a, now.Add(time.Second*time.Duration(i)/time.Duration(pods))) == 0 {
					passes++
				}
			}
			if passes != 20 {
				t.Errorf("%d passes, want 20", passes)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	at := func(d, s int32) *jobset.JobSet { return builders.MakeJobSet("js", "ns").Epochs(d, s).Obj() }
	one, two := policy.Failure{Pod: "one"}, policy.Failure{Pod: "two"}
	expect := func(t *testing.T, m *memory, js *jobset.JobSet, want *policy.Failure) {
		t.Helper()
		if diff := cmp.Diff(want, m.failure(js)); diff != "" {
			t.Errorf("failure (-want +got):\n%s", diff)
		}
	}
	t.Run("P21: the first failure of the epoch that runs", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		expect(t, m, at(0, 1), nil)
		m.sawFailure(at(0, 1), one)
		m.sawFailure(at(0, 1), two)
		expect(t, m, at(0, 1), &one)
		expect(t, m, at(1, 2), nil)
		m.sawFailure(at(1, 2), two)
		expect(t, m, at(1, 2), &two)
	})
	t.Run("P21: while the group assembles nothing fails", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		m.sawFailure(at(1, 1), one)
		m.sawFailure(at(0, 0), one)
		expect(t, m, at(0, 1), nil)
		expect(t, m, at(0, 0), nil)
	})
	t.Run("P21: the clock of the restart under way", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		if got := m.brokenAt(at(1, 1)); !got.IsZero() {
			t.Errorf("broken at %v before it broke", got)
		}
		m.broke(at(0, 1), now)
		if got := m.brokenAt(at(1, 1)); !got.Equal(now) {
			t.Errorf("broken at %v, want %v", got, now)
		}
		if got := m.brokenAt(at(2, 2)); !got.IsZero() {
			t.Errorf("the clock of epoch 1 is read in epoch 2: %v", got)
		}
	})
	t.Run("C269: nothing of an earlier JobSet of that name", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		m.sawFailure(at(0, 1), one)
		m.complained(at(0, 1), "pod", "x")
		m.wrote(at(0, 1), now)
		another := at(0, 1)
		another.UID = "another"
		expect(t, m, another, nil)
		if m.complained(another, "pod", "x") {
			t.Error("its complaints are remembered")
		}
		if got := m.waitForCounts(another, now, time.Second); got != 0 {
			t.Errorf("its counts wait %v", got)
		}
	})
	t.Run("P22: nothing is kept of a JobSet that is gone", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		m.sawFailure(at(0, 1), one)
		m.startPass(types.NamespacedName{Namespace: "ns", Name: "js"}, now)
		m.forget(types.NamespacedName{Namespace: "ns", Name: "js"})
		if len(m.entries) != 0 {
			t.Errorf("%d entries", len(m.entries))
		}
	})
	t.Run("P22: counts that were never written do not wait", func(t *testing.T) {
		t.Parallel()
		if got := newMemory().waitForCounts(at(0, 0), now, time.Hour); got != 0 {
			t.Errorf("waits %v", got)
		}
	})
}
