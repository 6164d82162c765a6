/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func workers() (*jobset.JobSet, *batchv1.Job) {
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).Epochs(0, 1).
		ReplicatedJob(builders.MakeReplicatedJob("w").Workers(2)).Obj()
	return js, builders.MakeJob(js, "w", 0).Workers(2).Obj()
}

func TestWhatIsCached(t *testing.T) {
	t.Parallel()
	t.Run("C6, C353, P23: of a Pod, its facts", func(t *testing.T) {
		t.Parallel()
		js, job := workers()
		pod := builders.MakePod(job, 0).Epoch("1").Annotation("notes", "long").Obj()
		pod.Spec.NodeName = "n1"
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 7, FinishedAt: metav1.Now()},
		}}}
		pod.Spec.Containers = []corev1.Container{{Name: "worker", Image: "i", RestartPolicyRules: workerpod.RestartAllUnless(0)}}
		pod.Status.PodIP, pod.ManagedFields = "1.2.3.4", []metav1.ManagedFieldsEntry{{Manager: "m"}}
		got, err := keepMember(pod)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(facts.Of(pod)), got); diff != "" {
			t.Errorf("of JobSet %s is kept (-want +got):\n%s", js.Name, diff)
		}
		if again, err := keepMember(got); err != nil || again != got { // an informer shows a transform what it returned, too
			t.Errorf("P23: what was kept came back as %v, %v", again, err)
		}
		tombstone := toolscache.DeletedFinalStateUnknown{Key: "ns/p", Obj: got}
		if kept, err := keepMember(tombstone); err != nil || kept != any(tombstone) {
			t.Errorf("P23: a tombstone came back as %v, %v", kept, err)
		}
	})
	t.Run("C6: of a Node, its facts", func(t *testing.T) {
		t.Parallel()
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"zone": "z"}, Annotations: map[string]string{"notes": "long"}}}
		got, err := stripNode(node)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(facts.StripNode(node)), got); diff != "" {
			t.Errorf("what is kept (-want +got):\n%s", diff)
		}
	})
	t.Run("C6: of everything else all but the managed fields", func(t *testing.T) {
		t.Parallel()
		_, job := workers()
		managed := job.DeepCopy()
		managed.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
		got, err := CacheOptions().DefaultTransform(managed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(job), got); diff != "" {
			t.Errorf("what is kept (-want +got):\n%s", diff)
		}
	})
	t.Run("C6, C353, P23: only Pods with the label jobset-name", func(t *testing.T) {
		t.Parallel()
		seen := false
		for obj, options := range CacheOptions().ByObject {
			if _, ok := obj.(*corev1.Pod); !ok {
				continue
			}
			seen = true
			if !options.Label.Matches(labels.Set{jobset.JobSetNameKey: "js"}) || options.Label.Matches(labels.Set{"app": "x"}) {
				t.Errorf("Pods are selected by %s", options.Label)
			}
		}
		if !seen {
			t.Error("Pods have no options of their own")
		}
	})
}
