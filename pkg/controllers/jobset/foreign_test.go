/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/tolerance"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// elsewhere moves an object to another namespace. Its owner references stay as they are: whoever may create it may write
// any, and a finalizer keeps it from the garbage collector.
func elsewhere[T client.Object](obj T) T {
	obj.SetNamespace("elsewhere")
	obj.SetUID("elsewhere-" + obj.GetUID())
	return obj
}

func TestForeignJobOfTheNamespace(t *testing.T) {
	t.Parallel()
	t.Run("C97: a Job that the JobSet did not create and that cannot be read ends no pass, and is told once", func(t *testing.T) {
		t.Parallel()
		s, js, _ := running(t)
		foreign := builders.MakeJob(js, "w", 0).UID("x").Label(constants.RestartsKey, "x").Failed(now, "R", "m").
			Change(func(job *batchv1.Job) { job.Name = "forged" }).Obj()
		cached(t, s, []*batchv1.Job{foreign})
		passes(t, s)
		s.Record.Expect(t, "event Warning ForeignJob Reconciling: Jobs that name this JobSet as their controller have neither its labels nor a name that it gives, "+
			"so they are ignored and not deleted: forged (1 in all)")
		passes(t, s)
		s.Record.Expect(t)
	})
}

// TestStrays: the labels of a Pod are written by whoever creates it.
func TestStrays(t *testing.T) {
	t.Parallel()
	js, job := workers()
	js.Spec.FaultTolerance = &jobset.FaultTolerance{}
	stray := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		return builders.MakePod(job, 0).Name(name).Change(func(pod *corev1.Pod) {
			pod.Labels[jobset.JobSetUIDKey], pod.OwnerReferences[0].UID, pod.OwnerReferences[0].Name = string(js.UID), "gone", "js-w-1"
			change(pod)
		}).Obj()
	}
	others := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "others", UID: "others"}}
	s := newShell(t, js, others)
	s.gates, s.tolerance = gates.Set{FaultTolerance: true}, tolerance.Builtin()
	s.podsOfJobSet = shared.Indexed[*facts.Member]{Index: constants.PodsIndexByJobSetKey, Store: toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{
		constants.PodsIndexByJobSetKey: func(obj any) ([]string, error) { return shared.ByJobSetLabel(obj.(*facts.Member)), nil },
	})}
	for _, pod := range []*corev1.Pod{
		stray("left-behind", func(*corev1.Pod) {}),
		elsewhere(stray("elsewhere", func(*corev1.Pod) {})),
		stray("orphaned", func(pod *corev1.Pod) { pod.OwnerReferences = nil }),
		stray("of-a-replicaset", func(pod *corev1.Pod) {
			pod.OwnerReferences[0].Kind, pod.OwnerReferences[0].APIVersion = "ReplicaSet", "apps/v1"
		}),
		stray("of-another-job", func(pod *corev1.Pod) {
			pod.OwnerReferences[0].UID, pod.OwnerReferences[0].Name = others.UID, others.Name
		}),
	} {
		if err := s.podsOfJobSet.Store.Add(facts.Of(pod)); err != nil {
			t.Fatal(err)
		}
	}
	in, err := s.gather(t.Context(), js)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, pod := range in.Strays {
		got = append(got, pod.Name)
	}
	if diff := cmp.Diff([]string{"left-behind", "orphaned"}, slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("P86: strays (-want +got):\n%s", diff)
	}
}
