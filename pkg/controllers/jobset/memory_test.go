/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").UID("first").Obj()
	key := client.ObjectKeyFromObject(js)
	t.Run("C269: keeps what was learned about a JobSet, under its name too", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		m.forJobSet(js).firstFailure.keep(1, policy.Failure{})
		if m.forJobSet(js).firstFailure.in(1) == nil || m.forKey(key).firstFailure.in(1) == nil {
			t.Error("it was forgotten")
		}
		if m.forKey(types.NamespacedName{Namespace: "ns", Name: "other"}).firstFailure.in(1) != nil {
			t.Error("another JobSet has it")
		}
	})
	t.Run("C269: keeps nothing of an earlier JobSet of the same name", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		m.forJobSet(js).firstFailure.keep(1, policy.Failure{})
		if m.forJobSet(builders.MakeJobSet("js", "ns").UID("second").Obj()).firstFailure.in(1) != nil {
			t.Error("the first failure is that of the earlier JobSet")
		}
	})
	t.Run("P22: keeps nothing of a JobSet that is gone", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		m.forJobSet(js)
		m.forget(key)
		if len(m.entries) != 0 {
			t.Errorf("%d entries, want none", len(m.entries))
		}
	})
	t.Run("P48 P24b: leads from its first pass on, and of a JobSet that could not be read since it can", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		other := js.DeepCopy()
		other.Name, other.UID = "other", "other"
		later := now.Add(time.Minute)
		for _, step := range []struct {
			lost             bool
			at, want, others time.Time
		}{{false, now, now, now}, {false, later, now, now}, {true, later, later, now}, {false, later.Add(time.Minute), later, now}} {
			m.forJobSet(js).lostTouch = step.lost
			_, leading, _ := m.look(testingclock.NewFakePassiveClock(step.at))
			if got := m.forJobSet(js).ledSince(leading, step.at); !got.Equal(step.want) {
				t.Errorf("leads since %v, want %v", got, step.want)
			}
			if got := m.forJobSet(other).ledSince(leading, step.at); !got.Equal(step.others) {
				t.Errorf("P24b: of another JobSet since %v, want %v", got, step.others)
			}
		}
	})
	t.Run("P45: remembers since when a drastic break has been wanted without a pause", func(t *testing.T) {
		t.Parallel()
		e := newMemory().forJobSet(js)
		at := func(second int) time.Time { return now.Add(time.Duration(second) * time.Second) }
		for i, step := range []struct {
			held bool
			want time.Time
		}{{false, time.Time{}}, {true, at(1)}, {true, at(1)}, {false, time.Time{}}, {true, at(4)}} {
			if keepSince(&e.heldSince, step.held, at(i)); !e.heldSince.Equal(step.want) {
				t.Errorf("after step %d held since %v, want %v", i, e.heldSince, step.want)
			}
		}
	})
}
