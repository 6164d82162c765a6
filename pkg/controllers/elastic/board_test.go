/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/testshell"
)

// newAutoscaler is the planner of a new leader.
func newAutoscaler(s *testshell.API, config Autoscaling) *autoscaler {
	return &autoscaler{
		client: s.Client, board: &Board{}, bound: s.Fake, events: s.Record, clock: s.Clock, config: config, wake: make(chan struct{}, 1),
		pods: s.Pods,
	}
}

// round makes a round, and another one if the JobSet controller has written into a status what the first one says.
func round(t *testing.T, s *testshell.API, a *autoscaler) {
	t.Helper()
	if err := a.round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if writeStatuses(t, s, a) == 0 {
		return
	}
	if err := a.round(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := writeStatuses(t, s, a); again > 0 {
		t.Errorf("%d statuses change again", again)
	}
}

// writeStatuses does what the JobSet controller does about verdicts.
func writeStatuses(t *testing.T, s *testshell.API, a *autoscaler) (written int) {
	t.Helper()
	all := &jobset.JobSetList{}
	if err := s.Fake.List(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for i := range all.Items {
		js := &all.Items[i]
		verdict := a.board.Verdict(client.ObjectKeyFromObject(js))
		if verdict == nil || verdict.IsIn(js) {
			continue
		}
		update := js.DeepCopy()
		verdict.WriteTo(&update.Status, js, s.Clock.Now())
		if err := s.Client.Status().Update(t.Context(), update); err != nil {
			t.Fatal(err)
		}
		written++
	}
	return written
}

// refusing is a group of 6 that waits for 2 that the scheduler refuses, and a planner that would go back to 4.
func refusing(t *testing.T) (*testshell.API, func() *autoscaler) {
	t.Helper()
	pods := boundPods("a", "n", 6)
	for _, pod := range pods {
		pod.SetCreationTimestamp(metav1.NewTime(testshell.Now.Add(-time.Hour)))
	}
	for _, pod := range pods[4:] {
		pod := pod.(*corev1.Pod)
		pod.Spec.NodeName = ""
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "no"}}
	}
	objects := scaled("a", 6, 1, assemblesAt4)
	s := testshell.New(t, append(append(objects, gpuNode("n", "6")), pods...)...)
	for _, pod := range pods {
		s.Cached(t, nil, pod.(*corev1.Pod))
	}
	return s, func() *autoscaler {
		return newAutoscaler(s, Autoscaling{CooldownUp: 5 * time.Minute, ShrinkAfter: 2 * time.Minute, Accelerators: []corev1.ResourceName{someGPU}})
	}
}

// TestCeilingsComeBeforeSizes: whenever a manager stops, a size that was refused is not tried again at once (P108a).
func TestCeilingsComeBeforeSizes(t *testing.T) {
	s, newLeader := refusing(t)
	key := client.ObjectKey{Namespace: "ns", Name: "a"}
	next := func(a *autoscaler, want ...string) {
		t.Helper()
		if err := a.round(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Record.Expect(t, want...)
	}

	a := newLeader()
	var woken []types.NamespacedName
	a.board.OnPost(func(js types.NamespacedName) { woken = append(woken, js) })
	next(a)
	next(a)
	if len(woken) != 2 || woken[0] != key {
		t.Errorf("the JobSet controller is woken for %v, want ns/a in each round, until the status has the ceiling", woken)
	}

	s.Clock.SetTime(testshell.Now.Add(time.Minute)) // another leader: the board is empty, and the status says nothing yet
	a = newLeader()
	if a.board.Verdict(key) != nil {
		t.Error("a new board says something")
	}
	next(a)
	if got := writeStatuses(t, s, a); got != 1 {
		t.Fatalf("%d statuses written, want 1", got)
	}
	s.Record.Expect(t, "update status JobSet a")

	s.Clock.SetTime(testshell.Now.Add(2 * time.Minute)) // another one: the status has the ceiling, and the size is the old one
	a = newLeader()
	next(a, "patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 6 to 4 Pods: 2 of its 6 Pods have been refused for more than 2m0s (no): "+
		"it goes back to 4, with which it last ran, and more are tried after 2026-03-14T12:06:00Z, or when a node comes")
	if got := writeStatuses(t, s, a); got != 0 {
		t.Error("the refusal is counted twice")
	}
}

// TestTheStatusStartsARound: sizes that wait for a status are changed as soon as it is there, not after the interval.
func TestTheStatusStartsARound(t *testing.T) {
	s, newLeader := refusing(t)
	a := newLeader()
	was := testshell.Stored(t, s.Fake, &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}})
	is := was.DeepCopy()
	is.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetElasticWaiting)}}
	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"before a round", func() {}, false},
		{"while its size waits", func() {}, true},
		{"once it is written", func() { writeStatuses(t, s, a) }, false},
	} {
		step.do()
		if step.name != "before a round" {
			if err := a.round(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.jobSetMatters(was, is); got != step.want {
			t.Errorf("P107: %s a change of the status starts a round: %t, want %t", step.name, got, step.want)
		}
	}
}

// TestVerdictsEnd: what is not planned any more does not wait (P109), and the board forgets what the last round did not say.
func TestVerdictsEnd(t *testing.T) {
	waits := func(js *jobset.JobSet) {
		js.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetElasticWaiting), Status: metav1.ConditionTrue, Reason: "r", Message: "m"}}
	}
	t.Run("P107: a condition that ends holds no size up", func(t *testing.T) {
		js := scaled("a", 2, 1)
		waits(js[0].(*jobset.JobSet))
		s := testshell.New(t, append(append(js, gpuNode("n", "3")), boundPods("a", "n", 2)...)...)
		a := newAutoscaler(s, Autoscaling{Accelerators: []corev1.ResourceName{someGPU}})
		if err := a.round(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Record.Expect(t, "patch JobSet a", "event Normal ElasticResized Reconciling: ReplicatedJob w from 2 to 3 Pods: 1 more fit: score 0.00")
		if a.board.Verdict(client.ObjectKeyFromObject(js[0])) == nil {
			t.Error("P109: the board does not show that it is no longer waiting")
		}
	})
	for name, change := range map[string]func(*jobset.JobSet){
		"P109: one that is suspended": func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) },
		"P109: one that has ended":    func(js *jobset.JobSet) { js.Status.TerminalState = string(jobset.JobSetCompleted) },
	} {
		t.Run(name, func(t *testing.T) {
			js := scaled("a", 2, 1)[0].(*jobset.JobSet)
			change(js)
			waits(js)
			s := testshell.New(t, js)
			a := newAutoscaler(s, Autoscaling{})
			round(t, s, a)
			s.Record.Expect(t, "update status JobSet a")
			got := testshell.Stored(t, s.Fake, js).Status.Conditions[0]
			if got.Status != metav1.ConditionFalse || got.Reason != "ElasticRoomFound" {
				t.Errorf("P109: condition %+v, want False because of ElasticRoomFound", got)
			}
			if a.board.Verdict(client.ObjectKeyFromObject(js)) != nil {
				t.Error("the board keeps what the status has")
			}
		})
	}
}
