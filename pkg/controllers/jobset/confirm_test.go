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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestOnlyTheLostAreRead: confirming a loss reads the Job and the Pods of the lost indexes, in pages (P14).
func TestOnlyTheLostAreRead(t *testing.T) {
	t.Parallel()
	js, _ := workers()
	job := builders.MakeJob(js, "w", 0).Workers(5).Obj()
	pod := func(index int, epoch string) *corev1.Pod { return builders.MakePod(job, index).Epoch(epoch).Obj() }
	foreign := builders.MakePod(job, 3).Name("foreign").Change(func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "another" }).Obj()
	s := newShell(t, job, pod(0, "2"), pod(1, "2"), pod(2, "2"), pod(3, "2"), foreign)
	type request struct {
		Namespace, Selector, Continue string
		Limit                         int64
	}
	var lists []request
	s.live = interceptor.NewClient(s.Fake, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		asked := (&client.ListOptions{}).ApplyOptions(opts)
		lists = append(lists, request{asked.Namespace, asked.LabelSelector.String(), asked.Continue, asked.Limit})
		if err := c.List(ctx, list, opts...); err != nil {
			return err
		}
		pods := list.(*corev1.PodList) // the fake knows no pages: the first Pod, and the others
		if asked.Continue == "" {
			pods.Items, pods.Continue = pods.Items[:1], "more"
		} else {
			pods.Items = pods.Items[1:]
		}
		return nil
	}})
	cached := policy.Input{
		JobSet: js,
		Jobs:   []*batchv1.Job{job},
		Pods:   map[types.UID][]*facts.Member{job.UID: membersOf([]*corev1.Pod{pod(0, "1"), pod(1, "1")}), "other": membersOf([]*corev1.Pod{foreign})},
	}
	loss := &policy.Loss{Job: job, Indexes: []int64{2, 3, 4}}
	got, err := s.confirm(t.Context(), cached, loss)
	if err != nil {
		t.Fatal(err)
	}
	const selector = "batch.kubernetes.io/controller-uid=js-w-0-uid,batch.kubernetes.io/job-completion-index in (2,3,4)"
	if diff := cmp.Diff([]request{{"ns", selector, "", 100}, {"ns", selector, "more", 100}}, lists); diff != "" {
		t.Errorf("what is asked for (-want +got):\n%s", diff)
	}
	epochs := func(pods []*facts.Member) map[string]int32 {
		byName := map[string]int32{}
		for _, pod := range pods {
			byName[pod.Name] = pod.Reported.Epoch
		}
		return byName
	}
	want := map[string]int32{"js-w-0-0": 1, "js-w-0-1": 1, "js-w-0-2": 2, "js-w-0-3": 2}
	if diff := cmp.Diff(want, epochs(got.Pods[job.UID])); diff != "" {
		t.Errorf("Pods and their epochs (-want +got):\n%s", diff)
	}
	if len(cached.Pods[job.UID]) != 2 || len(got.Pods["other"]) != 1 || got.Confirmed != loss {
		t.Errorf("cached %v, of others %v, confirmed %v", cached.Pods[job.UID], got.Pods["other"], got.Confirmed)
	}
}
