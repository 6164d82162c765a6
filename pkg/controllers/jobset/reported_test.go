/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestLittleIsRememberedOfAnInvalidEpoch(t *testing.T) {
	t.Parallel()
	js, job := workers()
	s := newShell(t, js)
	pod := builders.MakePod(job, 0).Epoch(strings.Repeat("x", 1<<18)).Obj()
	for range 2 {
		s.tellInvalidEpochs(js, []*facts.Member{facts.Of(pod)})
	}
	if got := len(s.memory.forJobSet(js).reported.values[pod.UID]); got > 80 {
		t.Errorf("P12: %d bytes are remembered, want at most 80", got)
	}
	if got := len(s.Record.All()); got != 1 {
		t.Errorf("P12: %d events, want 1", got)
	}
}

func TestTold(t *testing.T) {
	t.Parallel()
	reported := newReported()
	for _, step := range []struct {
		value string
		want  bool
	}{{"", true}, {"", false}, {"x", true}, {"x", false}, {"", true}} {
		if got := reported.changed("pod", step.value); got != step.want {
			t.Errorf("P12: value %q: news %v, want %v", step.value, got, step.want)
		}
	}
	if !reported.changed("another", "") {
		t.Error("P12: what was reported about a Pod is no longer news of another")
	}
}

func TestReportedForgetsPodsOfLongAgo(t *testing.T) {
	t.Parallel()
	reported := newReported()
	for pod := range 10 * mostReported {
		reported.changed(types.UID(strconv.Itoa(pod)), "x")
		reported.forgetMany(1)
	}
	if n := len(reported.values); n > mostReported+2 {
		t.Errorf("%d Pods are remembered, one after the other, want at most %d", n, mostReported+2)
	}
	for pod := range 10 * mostReported {
		reported.changed(types.UID(strconv.Itoa(pod)), "y")
	}
	reported.forgetMany(10 * mostReported)
	if reported.changed("5", "y") {
		t.Error("a Pod is reported twice of a JobSet that has as many")
	}
}
