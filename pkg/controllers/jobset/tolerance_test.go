/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestChildrenAreReadByTheirOwner: a Job without its label is no deleted Job, which would fail the JobSet (P81).
func TestChildrenAreReadByTheirOwner(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(5)).Obj()
	job := func(index int, label string) *batchv1.Job {
		return builders.MakeJob(js, "w", index).Label(jobset.JobSetUIDKey, label).Obj()
	}
	labelled, unlabelled, edited := job(0, string(js.UID)), job(1, ""), job(2, "x")
	delete(unlabelled.Labels, jobset.JobSetUIDKey)
	gone, recreated := job(3, "x"), job(4, "x")
	another := recreated.DeepCopy()
	another.UID = "another"
	foreign := builders.MakeJob(js, "w", 0).UID("x").Label(constants.RestartsKey, "x").Change(func(job *batchv1.Job) { job.Name = "forged" }).Obj()
	s := newShell(t, js, labelled, unlabelled, edited, another, foreign)
	var read []string
	s.live = interceptor.NewClient(s.Fake, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
		read = append(read, key.Name)
		return c.Get(ctx, key, obj, opts...)
	}})
	in, err := s.readChildren(t.Context(), policy.Input{JobSet: js, Jobs: []*batchv1.Job{labelled, unlabelled, edited, gone, recreated, foreign}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, job := range in.Jobs {
		got = append(got, job.Name)
	}
	if diff := cmp.Diff([]string{"js-w-0", "js-w-1", "js-w-2"}, got); diff != "" || !in.ChildrenRead {
		t.Errorf("P81: Jobs past the cache (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"js-w-1", "js-w-2", "js-w-3", "js-w-4"}, read); diff != "" {
		t.Errorf("P81: what is read besides the list (-want +got):\n%s", diff)
	}
}
