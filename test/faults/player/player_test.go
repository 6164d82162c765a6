/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package player

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/supervisor"
)

func pod(name, index string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), Labels: map[string]string{batchv1.JobNameLabel: "job"},
		Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index},
	}}
}

// begin is an agent that reports and lifts, and its worker.
func begin(p *Players, pod *corev1.Pod, epoch int32) *workerRun {
	process := p.agentStarts(pod, false, nil)
	p.chooses(process, epoch)
	p.lifts(process)
	return p.workerStarts(pod, nil)
}

// round is an agent that reports in process mode, and the worker that its supervisor starts then.
func round(p *Players, pod *corev1.Pod, epoch int32) *workerRun {
	p.chooses(p.agentStarts(pod, true, nil), epoch)
	return p.processStarts(pod, supervisor.Run{Epoch: epoch}, nil)
}

func TestWorkers(t *testing.T) {
	a, b, again := pod("a", "0"), pod("b", "1"), pod("a2", "0")
	cases := map[string]struct {
		play  func(p *Players)
		wrong []string
	}{
		"1: a group that runs in one epoch, and then in the next, is right": {play: func(p *Players) {
			first, second := begin(p, a, 1), begin(p, b, 1)
			p.workerEnds(first)
			p.workerEnds(second)
			begin(p, again, 2)
			begin(p, b, 2)
		}},
		"1: a worker that runs on while another starts in the next epoch is found": {play: func(p *Players) {
			begin(p, a, 1)
			begin(p, b, 2)
		}, wrong: []string{"mixed epochs"}},
		"2: a worker that runs twice in an epoch is found": {play: func(p *Players) {
			p.workerEnds(begin(p, a, 1))
			begin(p, a, 1)
		}, wrong: []string{"had run in epoch 1"}},
		"2: so is one whose Pod was replaced": {play: func(p *Players) {
			p.workerEnds(begin(p, a, 1))
			begin(p, again, 1)
		}, wrong: []string{"had run in epoch 1"}},
		"a worker that starts before the barrier is lifted is found": {play: func(p *Players) {
			p.chooses(p.agentStarts(a, false, nil), 1)
			p.workerStarts(a, nil)
		}, wrong: []string{"barrier that holds", "started in epoch 0"}},
		"a worker without an agent is found": {play: func(p *Players) {
			p.workerStarts(a, nil)
		}, wrong: []string{"without an agent", "started in epoch 0"}},
		"an agent that reports two epochs is found": {play: func(p *Players) {
			process := p.agentStarts(a, false, nil)
			p.chooses(process, 1)
			p.chooses(process, 2)
		}, wrong: []string{"reported epoch 1 and then 2"}},
		"P62: in process mode an agent lives through epochs, and its workers run in them": {play: func(p *Players) {
			first, second := round(p, a, 1), round(p, b, 1)
			p.workerEnds(first)
			p.workerEnds(second)
			round(p, a, 2)
			round(p, b, 2)
		}},
		"P62: in process mode a worker that starts in another epoch than its agent reported is found": {play: func(p *Players) {
			p.chooses(p.agentStarts(a, true, nil), 1)
			p.processStarts(a, supervisor.Run{Epoch: 2}, nil)
		}, wrong: []string{"its agent reported epoch 1"}},
		"P34: in process mode a worker that starts outside of all epochs is found": {play: func(p *Players) {
			p.processStarts(a, supervisor.Run{Bypass: true}, nil)
		}, wrong: []string{"in no epoch", "started in epoch 0"}},
		"in process mode an agent that goes back is found": {play: func(p *Players) {
			process := p.agentStarts(a, true, nil)
			p.chooses(process, 2)
			p.chooses(process, 1)
		}, wrong: []string{"reported epoch 2 and then 1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := New()
			tc.play(p)
			got := p.Violations()
			if len(got) != len(tc.wrong) {
				t.Fatalf("got %q, want %q", got, tc.wrong)
			}
			for i := range got {
				if !strings.Contains(got[i], tc.wrong[i]) {
					t.Errorf("got %q, want %q", got[i], tc.wrong[i])
				}
			}
		})
	}
}
