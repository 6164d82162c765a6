/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestAssemblyClock(t *testing.T) {
	t.Parallel()
	var c assemblyClock
	at := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	since := ptr.To(metav1.NewTime(now))
	expect := func(why string, moment float64, want time.Duration) {
		t.Helper()
		if got := c.stoodFor(since, at(moment)); got != want {
			t.Errorf("P48: %s: it stood for %v, want %v", why, got, want)
		}
	}
	expect("a clock that never stopped", 1, 0)
	c.set(true, at(1))
	expect("a clock that stands", 3, 2*time.Second)
	c.set(true, at(4))
	expect("one that was stopped again", 5, 4*time.Second)
	c.set(false, at(5.5))
	expect("one that goes again", 9, 4500*time.Millisecond)
	since = ptr.To(metav1.NewTime(at(4)))
	c.moved(ptr.To(metav1.NewTime(at(4.4))), 4*time.Second)
	expect("what the status does not say yet, once it says the seconds", 9, 500*time.Millisecond)
	since = ptr.To(metav1.NewTime(at(100)))
	expect("another clock", 101, 0)
}
