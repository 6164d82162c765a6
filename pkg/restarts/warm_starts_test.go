/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestHowWorkersStartedAgain(t *testing.T) {
	began := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	took := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	js := training(1, 4, 0, 3).Obj()
	for i, starts := range []*jobset.RestartStarts{
		nil,
		{Warm: 4, WarmSign: took(600 * time.Millisecond)},
		{Warm: 3, Cold: 1, WarmSign: took(400 * time.Millisecond), ColdSign: took(4 * time.Second)},
	} {
		r := restarted(began.Add(time.Duration(-i)*time.Minute), time.Second, int32(3-i), "a worker failed")
		r.Starts = starts
		js.Status.RestartHistory = append(js.Status.RestartHistory, r)
	}
	r := &Report{Time: metav1.NewTime(began.Add(time.Hour)), LastRestarts: History(js)}
	r.explainStarts()
	var got []string
	for i := range r.LastRestarts {
		got = append(got, fmt.Sprintf("%d: %s", r.LastRestarts[i].Epoch, startsText(r.LastRestarts[i].Starts)))
	}
	want := []string{"3: -", "2: 4 warm, 0 cold", "1: 3 warm, 1 cold"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("P165: how the workers started after each epoch (-want +got):\n%s", diff)
	}
	if want := (Notes{"a warm start takes 0.5 s to the last first sign, a cold one 4.0 s: warm start saves 3.5 s of each restart"}); !cmp.Equal(r.Notes, want) {
		t.Errorf("P165: notes %q, want %q", r.Notes, want)
	}
	if text := Text(r, false); !strings.Contains(text, "WORKERS") || !strings.Contains(text, "3 warm, 1 cold") {
		t.Errorf("P165: the table does not say how workers started:\n%s", text)
	}
}

func TestStandbysThatEndedEarlyAreNamed(t *testing.T) {
	pod := func(name, told string) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{jobset.ProgressKey: told}}}
	}
	r := &Report{}
	r.explainStandbys(&Input{JobSet: &jobset.JobSet{}, Pods: []corev1.Pod{
		pod("a", `{"epoch":3,"warm":{"early":1,"code":7}}`), pod("b", `{"epoch":3,"warm":{"early":2,"code":1,"off":true}}`),
		pod("c", `{"epoch":3,"warm":{"off":true}}`), pod("d", `{"epoch":3,"warm":{"warm":true}}`), pod("e", `nonsense`), pod("f", `{"epoch":3}`),
	}})
	want := []string{
		"a standby of Pod a ended before its gate with exit code 7",
		"2 standbys of Pod b ended before their gate, the last with exit code 1: none is started there any more",
		"Pod c starts no standby: one existed when its container was killed, most likely for its memory",
	}
	if diff := cmp.Diff(Notes(want), r.Notes); diff != "" {
		t.Errorf("P165: notes (-want +got):\n%s", diff)
	}
	many := &Report{}
	var pods []corev1.Pod
	for i := range 9 {
		pods = append(pods, pod(fmt.Sprint(i), `{"epoch":3,"warm":{"early":1,"code":7}}`))
	}
	many.explainStandbys(&Input{JobSet: &jobset.JobSet{}, Pods: pods})
	if n := len(many.Notes); n != 6 || many.Notes[5] != "standbys of 4 more Pods ended before their gate" {
		t.Errorf("P165: %d notes, the last of them %q; want 5 and how many more", n, many.Notes[n-1])
	}
}
