/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// jumpingClock is a wall clock that may be set, beside a monotonic one that may not.
type jumpingClock struct {
	wall time.Time
	ran  time.Duration
	// looks are the looks at the monotonic clock, by what the wall clock showed then.
	looks map[time.Time]time.Duration
}

func (c *jumpingClock) Now() time.Time {
	c.looks[c.wall] = c.ran
	return c.wall
}

func (c *jumpingClock) Since(look time.Time) time.Duration { return c.ran - c.looks[look] }

func (c *jumpingClock) run(by time.Duration)  { c.wall, c.ran = c.wall.Add(by), c.ran+by }
func (c *jumpingClock) jump(by time.Duration) { c.wall = c.wall.Add(by) }

func TestClocksThatJump(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"forward": 30 * time.Minute, "back": -30 * time.Minute} {
		t.Run("P21a: "+name, func(t *testing.T) {
			t.Parallel()
			c, m := &jumpingClock{wall: now, looks: map[time.Time]time.Duration{}}, newMemory()
			for _, step := range []struct {
				run, jump       time.Duration
				leading, jumped bool // since now
			}{
				{run: 0, leading: true},
				{run: time.Hour},
				{run: time.Minute, jump: 900 * time.Millisecond},
				{run: 3 * time.Second, jump: jump, leading: true, jumped: true},
				{run: 3 * time.Second},
			} {
				c.run(step.run)
				c.jump(step.jump)
				at, leading, jumped := m.look(c)
				if leading.Equal(at) != step.leading || jumped.Equal(at) != step.jumped {
					t.Errorf("after %s and a jump of %s: leads since %s, jumped at %s, and it is %s", step.run, step.jump, leading, jumped, at)
				}
			}
		})
	}
	t.Run("P21a: the real clock does not", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		for range 1000 {
			if _, _, jumped := s.memory.look(clockOfThisMachine); !jumped.IsZero() {
				t.Fatalf("it jumped at %s", jumped)
			}
		}
	})
}

// TestAGroupWhoseManagersClockJumps: 3 s into its assembly the clock is set, by more than two periods.
func TestAGroupWhoseManagersClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"forward": 30 * time.Minute, "back": -30 * time.Minute} {
		t.Run("P21a: "+name, func(t *testing.T) {
			t.Parallel()
			js, job := workers()
			js.Status.DeprecatedEpoch, js.Status.AssemblingSince = ptr.To[int32](1), ptr.To(metav1.NewTime(now))
			pod := func(index int) *corev1.Pod {
				return builders.MakePod(job, index).Epoch([]string{"2", "1"}[index]).Change(func(pod *corev1.Pod) {
					pod.Spec.NodeName, pod.CreationTimestamp = "n1", metav1.NewTime(now.Add(-time.Hour))
				}).Obj()
			}
			s := newShell(t, js, job)
			s.deadlines = policy.Deadlines{Assembly: 10 * time.Minute}
			cached(t, s, []*batchv1.Job{job}, pod(0), pod(1))
			c := &jumpingClock{wall: now.Add(-time.Hour), looks: map[time.Time]time.Duration{}}
			s.clock = c
			s.memory.look(c)
			c.run(time.Hour + 3*time.Second)
			decides := func() policy.Plan {
				t.Helper()
				seen := stored(t, s, js)
				plan, err := s.decide(t.Context(), seen)
				if err != nil {
					t.Fatal(err)
				}
				seen.Status = plan.Status
				if err := s.Fake.Status().Update(t.Context(), seen); err != nil {
					t.Fatal(err)
				}
				return plan
			}
			if plan := decides(); plan.RequeueAfter != 10*time.Minute-3*time.Second {
				t.Fatalf("before the jump: the next look is in %s", plan.RequeueAfter)
			}
			c.jump(jump)
			for range 2 {
				plan := decides()
				if plan.Does(policy.DeletePod) || plan.Status.Restarts > 0 || plan.RequeueAfter <= 0 || plan.RequeueAfter > 10*time.Minute {
					t.Errorf("%d Pods are deleted, %d restarts, the next look is in %s", len(plan.Of(policy.DeletePod)), plan.Status.Restarts, plan.RequeueAfter)
				}
				if since := plan.Status.AssemblingSince; since.After(c.wall) {
					t.Errorf("the group assembles since %s, and it is %s", since, c.wall)
				}
				c.run(4 * time.Minute)
			}
			c.run(3 * time.Minute)
			if deleted := len(decides().Of(policy.DeletePod)); deleted != 1 {
				t.Errorf("a period after the jump %d Pods are deleted, want 1", deleted)
			}
		})
	}
}

// clockOfThisMachine has a monotonic reading.
var clockOfThisMachine = clock.RealClock{}
