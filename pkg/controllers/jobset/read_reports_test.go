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

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// lateInLeases is a group of two that has assembled for longer than a period. The cache of Leases has seen the report of the first.
func lateInLeases(t *testing.T, live ...client.Object) (*shell, *jobset.JobSet, *corev1.Pod) {
	t.Helper()
	js, job := workers()
	js.Status.DeprecatedEpoch, js.Status.AssemblingSince = ptr.To[int32](1), ptr.To(metav1.NewTime(now.Add(-11*time.Minute)))
	leases := map[string]*facts.Lease{}
	inLeases(leases, job, "2", "1")
	var pods []*corev1.Pod
	for index := range 2 {
		pods = append(pods, builders.MakePod(job, index).Change(func(pod *corev1.Pod) {
			pod.Spec.NodeName, pod.CreationTimestamp, pod.ResourceVersion = "n1", metav1.NewTime(now.Add(-time.Hour)), ""
		}).Obj())
	}
	s := newShell(t, append(live, js, job, pods[0].DeepCopy(), pods[1].DeepCopy())...)
	s.reporting = func(key string) *facts.Lease { return leases[key] }
	s.leasePolicy = &inForce{}
	s.deadlines = policy.Deadlines{Assembly: 10 * time.Minute}
	s.memory.leading = now.Add(-time.Hour)
	cached(t, s, []*batchv1.Job{job}, stored(t, s, pods[0]), stored(t, s, pods[1]))
	return s, js, stored(t, s, pods[1])
}

func TestLateReports(t *testing.T) {
	t.Parallel()
	t.Run("P24c P153b: no Lease is read while its policy is not known to be in force", func(t *testing.T) {
		t.Parallel()
		for _, policy := range []*inForce{{gap: "missing"}, {unknown: true}} {
			_, job := workers()
			s, _, _ := lateInLeases(t, leaseOf(builders.MakePod(job, 1).Obj(), "2"))
			s.leasePolicy = policy
			passes(t, s)
			if !slices.Contains(s.Record.All(), "delete Pod js-w-0-1") {
				t.Errorf("%+v: a Lease is believed: %v", *policy, s.Record.All())
			}
		}
	})
	second := func() *corev1.Pod {
		_, job := workers()
		return builders.MakePod(job, 1).Obj()
	}
	earlier := leaseOf(second(), "2")
	earlier.OwnerReferences[0].UID = "earlier"
	for name, tc := range map[string]struct {
		live    []client.Object
		deletes int
		want    [3]int32
	}{
		"P24c: a report that the cache lacks lifts the group":  {[]client.Object{leaseOf(second(), "2")}, 0, [3]int32{1, 2, 0}},
		"P24c: an older one does not":                          {[]client.Object{leaseOf(second(), "1")}, 1, [3]int32{1, 1, 0}},
		"P24c: no Lease is no report":                          {nil, 1, [3]int32{1, 1, 0}},
		"P24c: nor is that of an earlier Pod of the same name": {[]client.Object{earlier}, 1, [3]int32{1, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, js, _ := lateInLeases(t, tc.live...)
			passes(t, s)
			if diff := cmp.Diff(tc.want, epochsOf(t, s, js)); diff != "" {
				t.Errorf("D, S, charged (-want +got):\n%s", diff)
			}
			deleted := slices.DeleteFunc(s.Record.All(), func(line string) bool { return !strings.HasPrefix(line, "delete Pod") })
			if len(deleted) != tc.deletes {
				t.Errorf("%q", deleted)
			}
		})
	}
	answering := func(s *shell, err error) {
		s.live = interceptor.NewClient(s.Fake, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, leases := list.(*coordinationv1.LeaseList); leases {
				return err
			}
			return c.List(ctx, list, opts...)
		}})
	}
	t.Run("P24c: nobody is deleted while the API server does not answer", func(t *testing.T) {
		t.Parallel()
		s, _, _ := lateInLeases(t)
		answering(s, errors.New("down"))
		if _, err := pass(t, s); err == nil || !strings.Contains(err.Error(), "reading whether Pod ns/js-w-0-1, which seems to be late, has reported in its Lease: down") {
			t.Errorf("error %v", err)
		}
		s.Record.Expect(t)
	})
	t.Run("P24c: a manager that may not read Leases sees no reports in them, and the deadline holds", func(t *testing.T) {
		t.Parallel()
		s, _, _ := lateInLeases(t)
		answering(s, apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "x", nil))
		passes(t, s)
		if all := s.Record.All(); !slices.ContainsFunc(all, func(line string) bool { return strings.HasPrefix(line, "delete Pod") }) {
			t.Errorf("%q", all)
		}
	})
	t.Run("P24c: nobody is told of a deletion that was refused because the Pod had changed", func(t *testing.T) {
		t.Parallel()
		s, _, pod := lateInLeases(t)
		s.Fail = func(request string) error {
			if strings.HasPrefix(request, "delete Pod") {
				return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, pod.Name, errors.New("changed"))
			}
			return nil
		}
		passes(t, s)
		if all := s.Record.All(); !slices.Contains(all, "delete Pod "+pod.Name) || strings.Contains(strings.Join(all, " "), "WorkersMissing") {
			t.Errorf("%q", all)
		}
	})
	t.Run("P24c: after a deletion no pass looks before the cache shows it", func(t *testing.T) {
		t.Parallel()
		s, js, pod := lateInLeases(t)
		s.cacheLag = 10 * time.Second
		passes(t, s)
		if waits, err := pass(t, s); err != nil || waits != (ctrl.Result{RequeueAfter: unseenInterval}) {
			t.Errorf("P24c: %+v, %v: the group may be lifted without the Pod, whose report comes now", waits, err)
		}
		pod = pod.DeepCopy()
		pod.DeletionTimestamp = ptr.To(metav1.NewTime(now))
		cached(t, s, nil, pod)
		if waits, err := pass(t, s); err != nil || waits.RequeueAfter == unseenInterval {
			t.Errorf("%+v, %v", waits, err)
		}
		if diff := cmp.Diff([3]int32{1, 1, 0}, epochsOf(t, s, js)); diff != "" {
			t.Errorf("D, S, charged (-want +got):\n%s", diff)
		}
	})
}
