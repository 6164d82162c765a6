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
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestStripPodKeepsWhatIsRead(t *testing.T) {
	t.Parallel()
	deleted := metav1.NewTime(now)
	always := corev1.ContainerRestartPolicyAlways
	env := []corev1.EnvVar{{Name: "other", Value: "x"}, {Name: workerpod.RestartExitCodeEnv, Value: "77"}}
	owner := []metav1.OwnerReference{{Kind: "Job", Name: "j", UID: "j-uid", Controller: ptr.To(true)}}
	full := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "ns", UID: "u", ResourceVersion: "7", CreationTimestamp: deleted, DeletionTimestamp: &deleted, OwnerReferences: owner,
			GenerateName: "p-", DeletionGracePeriodSeconds: ptr.To[int64](30),
			Labels:        map[string]string{jobset.JobSetNameKey: "js", jobset.JobSetUIDKey: "x", "app": "big"},
			Annotations:   map[string]string{jobset.EpochKey: "3", jobset.WorkerExitKey: "{}", jobset.AddressKey: "10.1.2.3", batchv1.JobCompletionIndexAnnotation: "1", "notes": "long"},
			Finalizers:    []string{"other", batchv1.JobTrackingFinalizer},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
		Spec: corev1.PodSpec{
			NodeName:       "n1",
			InitContainers: []corev1.Container{{Name: "agent", Image: "i", RestartPolicy: &always, RestartPolicyRules: workerpod.RestartAllUnless(64), Env: env}},
			Containers:     []corev1.Container{{Name: "up"}, {Name: "worker", Image: "i", RestartPolicyRules: workerpod.RestartAllUnless(0)}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Reason: "why", Message: "m", PodIP: "1.2.3.4",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}, {Type: corev1.AllContainersRestarting, Status: "True", Reason: "r"}},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "up", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
				{Name: "done", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
				{Name: "worker", Image: "i", RestartCount: 2, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 9, FinishedAt: deleted, Message: "m"}}},
			},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "agent", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 88}}}},
		},
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "ns", UID: "u", ResourceVersion: "7", CreationTimestamp: deleted, DeletionTimestamp: &deleted, OwnerReferences: owner,
			DeletionGracePeriodSeconds: ptr.To[int64](30),

			Labels:      map[string]string{jobset.JobSetNameKey: "js", jobset.JobSetUIDKey: "x"},
			Annotations: map[string]string{jobset.EpochKey: "3", jobset.WorkerExitKey: "{}", jobset.AddressKey: "10.1.2.3", batchv1.JobCompletionIndexAnnotation: "1"},
			Finalizers:  []string{batchv1.JobTrackingFinalizer},
		},
		Spec: corev1.PodSpec{
			NodeName:       "n1",
			InitContainers: []corev1.Container{{Name: "agent", RestartPolicy: &always, RestartPolicyRules: workerpod.RestartAllUnless(64), Env: env[1:]}},
			Containers:     []corev1.Container{{Name: "worker", RestartPolicyRules: workerpod.RestartAllUnless(0)}},
		},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Reason:     "why",
			Conditions: []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: "True", Reason: "r"}},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "worker", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 9, FinishedAt: deleted}}},
			},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "agent", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 88}}}},
		},
	}
	t.Run("C6, C353, P23: of a Pod", func(t *testing.T) {
		t.Parallel()
		wantStripped(t, full, want)
	})
	t.Run("C373, P23: of one that is not ready, what tells that, and no more", func(t *testing.T) {
		t.Parallel()
		unready := func(conditions ...corev1.PodCondition) *corev1.Pod {
			pod := want.DeepCopy()
			pod.Status.Conditions = append(pod.Status.Conditions, conditions...)
			return pod
		}
		ready := corev1.PodCondition{Type: corev1.PodReady, Status: "False", LastTransitionTime: deleted}
		containers := corev1.PodCondition{Type: corev1.ContainersReady, Status: "False", LastTransitionTime: deleted}
		noisy := func(c corev1.PodCondition) corev1.PodCondition {
			c.Message = "containers with unready status: [worker]"
			return c
		}
		wantStripped(t, unready(noisy(ready), noisy(containers)), unready(ready))
		containers.Status = "True"
		wantStripped(t, unready(ready, noisy(containers)), unready(ready, containers))
		pulling, kept := unready(ready), unready(ready)
		pulling.Status.ContainerStatuses = append(pulling.Status.ContainerStatuses, corev1.ContainerStatus{Name: "other", Image: "i",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "long"}}})
		kept.Status.ContainerStatuses = append(kept.Status.ContainerStatuses, corev1.ContainerStatus{Name: "other",
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}})
		wantStripped(t, pulling, kept)
	})
	t.Run("P45: of a Pod whose containers all ended with 0, that they did", func(t *testing.T) {
		t.Parallel()
		good, kept := full.DeepCopy(), want.DeepCopy()
		good.Status.ContainerStatuses, kept.Status.ContainerStatuses, kept.Spec.Containers = nil, nil, nil
		for _, c := range good.Spec.Containers {
			good.Status.ContainerStatuses = append(good.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, RestartCount: 2, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: deleted, Reason: "Completed"}},
			})
			kept.Spec.Containers = append(kept.Spec.Containers, corev1.Container{Name: c.Name})
			kept.Status.ContainerStatuses = append(kept.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}},
			})
		}
		wantStripped(t, good, kept)
		if !policy.EndedWell(good) || !policy.EndedWell(kept) {
			t.Errorf("ended well: before %v, after %v, want both", policy.EndedWell(good), policy.EndedWell(kept))
		}
	})
	t.Run("P74: of one that had started and lost its sandbox, since when, and that it had started", func(t *testing.T) {
		t.Parallel()
		gone := corev1.PodCondition{Type: corev1.PodReadyToStartContainers, Status: "False", LastTransitionTime: deleted}
		has := gone
		has.Status = "True"
		lost, kept := full.DeepCopy(), want.DeepCopy()
		lost.Status.Conditions, kept.Status.Conditions = []corev1.PodCondition{gone}, []corev1.PodCondition{gone}
		lost.Status.Conditions[0].Message = "long"
		wantStripped(t, lost, kept)

		lost.Status.Conditions[0], kept.Status.Conditions = has, nil
		wantStripped(t, lost, kept)

		silent := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{gone}, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "worker", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}},
		}, InitContainerStatuses: []corev1.ContainerStatus{exit("agent", 255, 0)}}}
		stripped, err := stripPod(silent)
		if err != nil {
			t.Fatal(err)
		}
		if since := policy.SandboxGoneSince(stripped.(*corev1.Pod)); !since.Equal(deleted.Time) {
			t.Errorf("its agent had started and not reported: without a sandbox since %v, want %v", since, deleted)
		}
		if again, err := stripPod(stripped); err != nil || !cmp.Equal(stripped, again) {
			t.Errorf("stripped twice (-once +twice), %v:\n%s", err, cmp.Diff(stripped, again))
		}
		silent.Status.InitContainerStatuses = nil
		if stripped, err = stripPod(silent); err != nil || len(stripped.(*corev1.Pod).Status.Conditions) > 0 {
			t.Errorf("of one that has not started: %v, %v, want no condition", stripped, err)
		}
	})
	t.Run("P48: of one that pulls images, that it does", func(t *testing.T) {
		t.Parallel()
		always := corev1.ContainerRestartPolicyAlways
		pulling := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "agent", RestartPolicy: &always}}}, Status: corev1.PodStatus{
			Phase:                 corev1.PodPending,
			Conditions:            []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: "True"}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "agent", Started: ptr.To(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}},
		}}
		stripped, err := stripPod(pulling)
		if err != nil || !policy.IsPulling(stripped.(*corev1.Pod)) {
			t.Errorf("the cache holds %v, %v, and does not show that it pulls", stripped, err)
		}
		if again, err := stripPod(stripped); err != nil || !cmp.Equal(stripped, again) {
			t.Errorf("stripped twice (-once +twice), %v:\n%s", err, cmp.Diff(stripped, again))
		}
		pulling.Status.Phase = corev1.PodRunning
		if stripped, err = stripPod(pulling); err != nil || len(stripped.(*corev1.Pod).Status.Conditions) > 0 {
			t.Errorf("of one that runs: %v, %v, want no condition", stripped, err)
		}
	})
	t.Run("C6: of a Node, what it is called, whether it is ready, and what its kubelet can do", func(t *testing.T) {
		t.Parallel()
		got, err := stripNode(fullNode())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strippedNode(), got); diff != "" {
			t.Errorf("what is kept (-want +got):\n%s", diff)
		}
	})
	t.Run("C6: of everything else all but the managed fields", func(t *testing.T) {
		t.Parallel()
		_, job := workers()
		managed := job.DeepCopy()
		managed.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
		got, err := CacheOptions(gates.Set{}).DefaultTransform(managed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(any(job), got); diff != "" {
			t.Errorf("what is kept (-want +got):\n%s", diff)
		}
	})
}

func fullNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"zone": "z"}, Annotations: map[string]string{"notes": "long"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
		Spec: corev1.NodeSpec{PodCIDR: "10.0.0.0/24", Taints: []corev1.Taint{{Key: "k"}}},
		Status: corev1.NodeStatus{
			NodeInfo:         corev1.NodeSystemInfo{KubeletVersion: "v1.36.0", OSImage: "os"},
			DeclaredFeatures: []string{"F"},
			Images:           []corev1.ContainerImage{{Names: []string{"i"}}},
			Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeDiskPressure, Status: "False"}, {Type: corev1.NodeReady, Status: "True", Reason: "r", Message: "m"},
			},
		},
	}
}

func strippedNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"zone": "z"}},
		Status: corev1.NodeStatus{
			NodeInfo:         corev1.NodeSystemInfo{KubeletVersion: "v1.36.0"},
			DeclaredFeatures: []string{"F"},
			Conditions:       []corev1.NodeCondition{{Type: corev1.NodeReady, Status: "True"}},
		},
	}
}

func wantStripped(t *testing.T, full, want *corev1.Pod) {
	t.Helper()
	before := full.DeepCopy()
	got, err := stripPod(full)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("P23: what is kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, full); diff != "" {
		t.Errorf("P23: the object that came in changed:\n%s", diff)
	}
	again, _ := stripPod(got)
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("P23: stripping again changed something:\n%s", diff)
	}
	tombstone := toolscache.DeletedFinalStateUnknown{Key: "ns/p", Obj: want}
	if kept, err := stripPod(tombstone); err != nil || kept != any(tombstone) {
		t.Errorf("P23: a tombstone came back as %v, %v", kept, err)
	}
}

func TestOnlyPodsOfJobSetsAreCached(t *testing.T) {
	t.Parallel()
	t.Run("C6, C353, P23: by the jobset-name label", func(t *testing.T) {
		t.Parallel()
		wantOnlyPodsOfJobSets(t)
	})
}

func wantOnlyPodsOfJobSets(t *testing.T) {
	t.Helper()
	seen := false
	for obj, options := range CacheOptions(gates.Set{}).ByObject {
		if _, ok := obj.(*corev1.Pod); !ok {
			continue
		}
		seen = true
		if !options.Label.Matches(labels.Set{jobset.JobSetNameKey: "js"}) || options.Label.Matches(labels.Set{"app": "x"}) {
			t.Errorf("P23: Pods are selected by %s", options.Label)
		}
	}
	if !seen {
		t.Error("P23: Pods have no options of their own")
	}
}
