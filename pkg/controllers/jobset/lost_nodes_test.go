/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// nodeLost is a group of two that broke a moment ago. The first worker is back; of the second, on node n1, nothing is heard.
func nodeLost(t *testing.T, live ...client.Object) (*shell, *jobset.JobSet, *corev1.Pod) {
	t.Helper()
	js, job := workers()
	js.Status.DeprecatedEpoch, js.Status.BreakTime = ptr.To[int32](1), ptr.To(metav1.NewMicroTime(now))
	js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{LostNode: &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](25)}}
	var pods []*corev1.Pod
	for index, epoch := range []string{"2", "1"} {
		pods = append(pods, builders.MakePod(job, index).Epoch(epoch).Phase(corev1.PodRunning).Change(func(pod *corev1.Pod) {
			pod.Spec.NodeName, pod.CreationTimestamp, pod.ResourceVersion = []string{"n0", "n1"}[index], metav1.NewTime(now.Add(-time.Hour)), ""
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}, {Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}
		}).Obj())
	}
	s := newShell(t, append(live, js, job, pods[0].DeepCopy(), pods[1].DeepCopy())...)
	s.deadlines = policy.Deadlines{Assembly: 10 * time.Minute}
	cached(t, s, []*batchv1.Job{job}, stored(t, s, pods[0]), stored(t, s, pods[1]))
	return s, js, pods[1]
}

func nodeLease(node string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: node},
		Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](40)}}
}

// passesFor makes a pass each second.
func passesFor(t *testing.T, s *shell, seconds int) {
	t.Helper()
	for range seconds {
		passes(t, s)
	}
}

// renew changes the Lease of a node as its kubelet does.
func renew(t *testing.T, s *shell, node string) {
	t.Helper()
	lease := stored(t, s, nodeLease(node))
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(s.Clock.Now()))
	if err := s.Fake.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}

func podRequests(s *shell) []string {
	return slices.DeleteFunc(s.Record.All(), func(line string) bool { return !strings.Contains(line, " Pod ") })
}

func TestAWorkerOnALostNode(t *testing.T) {
	t.Parallel()
	t.Run("P174: is Failed since the break and deleted, once its node was silent for 25 s and is in the status", func(t *testing.T) {
		t.Parallel()
		s, js, pod := nodeLost(t, nodeLease("n1"))
		passesFor(t, s, 30)
		if requests := podRequests(s); len(requests) > 0 {
			t.Fatalf("after 30 s, of which the Lease was read for 20: %q", requests)
		}
		passesFor(t, s, 10)
		if got := policy.LostNodes(stored(t, s, js)); !slices.Equal(got, []string{"n1"}) {
			t.Errorf("status.lostNodes is %q", got)
		}
		if got, want := podRequests(s), []string{"patch status Pod js-w-0-1", "delete Pod js-w-0-1"}; !slices.Equal(got[:min(2, len(got))], want) {
			t.Errorf("requests %q, want %q", got, want)
		}
		got := stored(t, s, pod) // held by the finalizer of the Job controller, whose wait counts from the break
		if ready := facts.ConditionOf(got, corev1.PodReady); got.DeletionTimestamp == nil || got.Status.Phase != corev1.PodFailed || got.Status.Reason != "NodeLost" ||
			len(got.Status.Conditions) != 2 || ready.Status != corev1.ConditionFalse || !ready.LastTransitionTime.Time.Equal(now) {
			t.Errorf("deleted at %v, status %+v", got.DeletionTimestamp, got.Status)
		}
		if got := epochsOf(t, s, js); got != [3]int32{1, 1, 0} {
			t.Errorf("D, S, charged are %v", got)
		}
	})
	t.Run("P174: is Failed since the break, also if Kubernetes says that it has not been ready since later", func(t *testing.T) {
		t.Parallel()
		s, _, pod := nodeLost(t, nodeLease("n1"))
		live := stored(t, s, pod)
		live.Status.Conditions[0].Status, live.Status.Conditions[0].LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(now.Add(40*time.Second))
		if err := s.Fake.Status().Update(t.Context(), live); err != nil {
			t.Fatal(err)
		}
		passesFor(t, s, 40)
		if ready := facts.ConditionOf(stored(t, s, pod), corev1.PodReady); !ready.LastTransitionTime.Time.Equal(now) {
			t.Errorf("the Job controller counts from %v, want %v", ready.LastTransitionTime, now)
		}
	})
	t.Run("P172: stays while its node is heard", func(t *testing.T) {
		t.Parallel()
		s, js, _ := nodeLost(t, nodeLease("n1"))
		for range 6 {
			passesFor(t, s, 20)
			renew(t, s, "n1")
		}
		if requests := podRequests(s); len(requests)+len(policy.LostNodes(stored(t, s, js))) > 0 {
			t.Errorf("%q", requests)
		}
	})
	for name, back := range map[string]func(t *testing.T, s *shell, pod *corev1.Pod){
		"has reported on its Pod": func(t *testing.T, s *shell, pod *corev1.Pod) {
			live := stored(t, s, pod)
			live.Annotations[jobset.EpochKey] = "2"
			if err := s.Fake.Update(t.Context(), live); err != nil {
				t.Fatal(err)
			}
		},
		"has reported in its Lease": func(t *testing.T, s *shell, pod *corev1.Pod) {
			s.leasePolicy, s.reporting = &inForce{}, func(string) *facts.Lease { return nil }
			if err := s.Fake.Create(t.Context(), leaseOf(pod, "2")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run("P173: stays if it "+name+", which no cache shows yet", func(t *testing.T) {
			t.Parallel()
			s, _, pod := nodeLost(t, nodeLease("n1"))
			back(t, s, pod)
			passesFor(t, s, 60)
			if requests := podRequests(s); len(requests) > 0 {
				t.Errorf("%q", requests)
			}
			for _, line := range s.Record.All() {
				if strings.Contains(line, "WorkerOnLostNode") {
					t.Fatalf("nobody was replaced: %q", line)
				}
			}
		})
	}
	t.Run("P153b: is replaced whatever a Lease says that nothing guards", func(t *testing.T) {
		t.Parallel()
		s, _, pod := nodeLost(t, nodeLease("n1"), leaseOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "js-w-0-1", UID: "js-w-0-1-uid"}}, "2"))
		s.leasePolicy, s.reporting = &inForce{gap: "missing"}, func(string) *facts.Lease { return nil }
		passesFor(t, s, 60)
		if got := podRequests(s); pod.UID != "js-w-0-1-uid" || !slices.Contains(got, "delete Pod js-w-0-1") {
			t.Errorf("%q", got)
		}
	})
	t.Run("P174: is replaced although the Job controller writes in between", func(t *testing.T) {
		t.Parallel()
		s, _, pod := nodeLost(t, nodeLease("n1"))
		conflicts := 2
		s.Fail = func(request string) error {
			if conflicts > 0 && strings.HasPrefix(request, "patch status Pod") {
				conflicts--
				return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, pod.Name, errors.New("changed"))
			}
			return nil
		}
		passesFor(t, s, 40)
		if got := podRequests(s); !slices.Contains(got, "delete Pod js-w-0-1") {
			t.Errorf("%q", got)
		}
	})
	t.Run("P172: without the right to read Leases it waits, which an event says once", func(t *testing.T) {
		t.Parallel()
		s, _, _ := nodeLost(t)
		s.live = interceptor.NewClient(s.Fake, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "n1", nil)
		}})
		passesFor(t, s, 60)
		told := slices.DeleteFunc(s.Record.All(), func(line string) bool { return !strings.Contains(line, "NodeLeasesForbidden") })
		if len(told) != 1 || len(podRequests(s)) > 0 {
			t.Errorf("%q, %q", told, podRequests(s))
		}
	})
	t.Run("P176: an API server that was away says nothing about the node", func(t *testing.T) {
		t.Parallel()
		s, _, _ := nodeLost(t, nodeLease("n1"))
		away := false
		s.live = interceptor.NewClient(s.Fake, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if away {
				return errors.New("away")
			}
			return c.List(ctx, list, opts...)
		}})
		passesFor(t, s, 12)
		away = true
		passesFor(t, s, 120)
		away = false
		passesFor(t, s, 20)
		if requests := podRequests(s); len(requests) > 0 {
			t.Errorf("%q", requests)
		}
	})
}

// TestWhatIsHeardOfNodesIsForgotten: it is kept for nodes that are waited for, and for minutes.
func TestWhatIsHeardOfNodesIsForgotten(t *testing.T) {
	t.Parallel()
	var h heardNodes
	read := func(at time.Time) func(facts.Heard) facts.Heard {
		return func(known facts.Heard) facts.Heard { return known.Read("1", 0, at, at) }
	}
	h.set("gone", read(now), now)
	later := now.Add(heardFor + time.Second)
	h.set("n1", read(later), later)
	if all := h.all(); len(all) != 1 {
		t.Errorf("P172: %v is kept", all)
	}
}

// TestALostNodeWakesByItself: each pass comes when the one before asked for it, or wrote the status, as where nothing else changes.
// Read at 6, 17, 28 and 39 s, the Lease has been silent for 33 s; the last of these reads is decided on at once.
func TestALostNodeWakesByItself(t *testing.T) {
	t.Parallel()
	s, js, _ := nodeLost(t, nodeLease("n1"))
	for {
		before := stored(t, s, js).ResourceVersion
		result, err := pass(t, s) // takes a second
		if err != nil || result.RequeueAfter <= 0 {
			t.Fatalf("after %s: %+v, %v", s.Clock.Since(now), result, err)
		}
		if slices.Contains(podRequests(s), "delete Pod js-w-0-1") {
			break
		}
		if stored(t, s, js).ResourceVersion == before {
			s.Clock.SetTime(s.Clock.Now().Add(max(0, result.RequeueAfter-time.Second)))
		}
		if took := s.Clock.Since(now); took > 45*time.Second {
			t.Fatalf("P174: not replaced within %s", took)
		}
	}
}
