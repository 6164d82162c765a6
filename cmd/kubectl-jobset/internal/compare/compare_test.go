/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// written is a manifest with two workers.
func written(changes ...func(*jobset.JobSet)) *jobset.JobSet {
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Name: "train", Namespace: "research"},
		Spec: jobset.JobSetSpec{ReplicatedJobs: []jobset.ReplicatedJob{{Name: "workers", Replicas: 1, Template: batchv1.JobTemplateSpec{
			Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](2), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "worker"}}}}},
		}}}},
	}
	for _, change := range changes {
		change(js)
	}
	return js
}

func podOf(js *jobset.JobSet) *corev1.PodSpec {
	return &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
}

func TestCopiesDifferInNothingButTheStrategy(t *testing.T) {
	js := written(func(js *jobset.JobSet) {
		js.UID, js.ResourceVersion = "a", "7"
		js.Labels = map[string]string{"team": "a"}
		js.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "note": "b"}
		js.Spec.Suspend = ptr.To(true)
		js.Spec.ReplicatedJobs[0].Template.Spec.BackoffLimit = ptr.To[int32](6)
		podOf(js).RestartPolicy = corev1.RestartPolicyOnFailure
		js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1, RestartStrategy: jobset.Recreate,
			InPlaceRestart: &jobset.InPlaceRestartPolicy{
				StopGracePeriodSeconds: ptr.To[int32](9), PlannedStopGracePeriodSeconds: ptr.To[int32](60), PlannedStopSignal: jobset.PlannedStopUSR1,
				RecreatePodOnExitCodes: []int32{7}, Environment: jobset.TorchEnvironment,
				Progress: &jobset.ProgressPolicy{}, WarmStart: &jobset.WarmStartPolicy{},
			}}
	})
	before := js.DeepCopy()
	process := before.Spec.FailurePolicy.InPlaceRestart.DeepCopy()
	process.Mode = jobset.ProcessMode
	for i, want := range []struct {
		inPlace *jobset.InPlaceRestartPolicy
		limit   *int32
		restart corev1.RestartPolicy
		size    *int32
	}{
		{process, nil, corev1.RestartPolicyOnFailure, nil},
		{&jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode, RecreatePodOnExitCodes: []int32{7}, Environment: jobset.TorchEnvironment}, nil, corev1.RestartPolicyOnFailure, nil},
		{nil, ptr.To[int32](0), corev1.RestartPolicyNever, ptr.To[int32](2)},
	} {
		t.Run("P128: "+Strategies[i].String(), func(t *testing.T) {
			expected := written(func(js *jobset.JobSet) {
				js.Name, js.Labels, js.Annotations = "compare-x", map[string]string{"team": "a"}, map[string]string{"note": "b"}
				js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 6, RestartStrategy: Strategies[i].Restart, InPlaceRestart: want.inPlace}
				js.Spec.ReplicatedJobs[0].Template.Spec.BackoffLimit, js.Spec.ReplicatedJobs[0].Template.Spec.Completions = want.limit, want.size
				podOf(js).RestartPolicy = want.restart
			})
			if diff := cmp.Diff(expected, Strategies[i].Copy(js, "compare-x", 3)); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
	limited := written(func(js *jobset.JobSet) { js.Spec.FaultTolerance = &jobset.FaultTolerance{RetryLimit: ptr.To[int32](5)} })
	if got := Strategies[0].Copy(limited, "x", 3).Spec; got.FaultTolerance.RetryLimit != nil || got.FailurePolicy.MaxRestarts != 6 {
		t.Errorf("P128 P82: a limit under two names: %+v", got)
	}
	if diff := cmp.Diff(before, js); diff != "" {
		t.Errorf("P128: the manifest is changed (-before, +after):\n%s", diff)
	}
	if got := Strategies[0].Copy(written(func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 50} }), "x", 3); got.Spec.FailurePolicy.MaxRestarts != 50 {
		t.Errorf("P128: maxRestarts becomes %d, want the 50 that are written", got.Spec.FailurePolicy.MaxRestarts)
	}
}

func TestWhatWouldHarmOthersIsRefused(t *testing.T) {
	queued := func(js *jobset.JobSet) { js.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "gold"} }
	claims := func(js *jobset.JobSet) {
		podOf(js).Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		podOf(js).ResourceClaims = []corev1.PodResourceClaim{{ResourceClaimName: ptr.To("gpus")}, {ResourceClaimTemplateName: ptr.To("own")}}
		js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{Templates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "scratch"}}}}}
	}
	for name, tc := range map[string]struct {
		js    *jobset.JobSet
		allow Allow
		want  []string
	}{
		"P128: nothing of an ordinary JobSet":  {written(), Allow{}, nil},
		"P128: one with a queue name":          {written(queued), Allow{Claims: true}, []string{"kueue.x-k8s.io/queue-name is gold"}},
		"P128: unless it is allowed":           {written(queued), Allow{Queue: true}, nil},
		"P128: one with claims":                {written(claims), Allow{Queue: true}, []string{"(PersistentVolumeClaim data, ResourceClaim gpus, template scratch)"}},
		"P128: unless these are allowed":       {written(claims), Allow{Claims: true}, nil},
		"P128: one with both, for both":        {written(queued, claims), Allow{}, []string{"--allow-queue", "--allow-claims"}},
		"P128: one that another one restarts":  {written(func(js *jobset.JobSet) { js.Spec.ManagedBy = ptr.To("example.com/other") }), Allow{true, true}, []string{"another controller"}},
		"P128: not one that says our own name": {written(func(js *jobset.JobSet) { js.Spec.ManagedBy = ptr.To(jobset.JobSetControllerName) }), Allow{}, nil},
		"P128: not claims of the Pod's own": {written(func(js *jobset.JobSet) {
			podOf(js).ResourceClaims = []corev1.PodResourceClaim{{ResourceClaimTemplateName: ptr.To("own")}}
		}), Allow{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Refusals(tc.js, tc.allow)
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %d of them", got, len(tc.want))
			}
			for i := range got {
				if !strings.Contains(got[i], tc.want[i]) {
					t.Errorf("got %q, want it to contain %q", got[i], tc.want[i])
				}
			}
		})
	}
}

func TestNamesThatAreWrittenInAProgramAreWarnedOf(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Container)
		want   int
	}{
		"P128: no name": {func(*corev1.Container) {}, 0},
		"P128: in a variable": {func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "MASTER_ADDR", Value: "train-workers-0-0.train"}}
		}, 1},
		"P128: in an argument":         {func(c *corev1.Container) { c.Args = []string{"--host=train-workers-0-0"} }, 1},
		"P128: another name in a path": {func(c *corev1.Container) { c.Command = []string{"/opt/train-model"} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Warnings(written(func(js *jobset.JobSet) { tc.change(&podOf(js).Containers[0]) })); len(got) != tc.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// member is a Pod that runs and is ready, with an epoch and the ID of its container.
func member(uid types.UID, epoch, container string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, Annotations: map[string]string{jobset.EpochKey: epoch}}, Spec: corev1.PodSpec{NodeName: "n"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{ContainerID: container}}}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func seen(deprecated, synced, restarts int32, pods ...*corev1.Pod) Group {
	js := written()
	js.Status.DeprecatedEpoch, js.Status.SyncedEpoch, js.Status.Restarts = ptr.To(deprecated), ptr.To(synced), restarts
	return Group{js, pods}
}

func TestWhenAllRunAgain(t *testing.T) {
	process, container, recreate := Strategies[0], Strategies[1], Strategies[2]
	unready := func(pod *corev1.Pod) { pod.Status.Conditions = nil }
	leaving := func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{} }
	done := func(pod *corev1.Pod) { pod.Status.Phase, pod.Status.Conditions = corev1.PodSucceeded, nil }
	const held, untold, one, two = "the workers are held until all are back", "the group was not told to restart",
		"1 of 2 workers are not running and ready", "2 of 2 workers are not running and ready"
	before := seen(0, 1, 0, member("a", "1", "1"), member("b", "1", "2"))
	for name, tc := range map[string]struct {
		strategy Strategy
		before   *Group
		now      Group
		want     string
	}{
		"P128: before the group is lifted for the first time":      {process, nil, seen(0, 0, 0), held},
		"P128: at the first start":                                 {process, nil, before, ""},
		"P128: before a Pod is ready":                              {process, nil, seen(0, 1, 0, member("a", "1", "1"), member("b", "1", "2", unready)), one},
		"P128: before the failure is seen":                         {process, &before, before, untold},
		"P128: while the group assembles":                          {process, &before, seen(1, 1, 0, before.Pods...), held},
		"P128: in place, in the same containers":                   {process, &before, seen(1, 2, 0, member("a", "2", "1"), member("b", "2", "2")), ""},
		"P128: before the view of a Pod shows the epoch":           {process, &before, seen(1, 2, 0, member("a", "2", "1"), member("b", "1", "2")), one},
		"P128: in place, with a Pod in the place of another":       {process, &before, seen(1, 2, 0, member("a", "2", "1"), member("c", "2", "3"), member("b", "1", "2", leaving)), ""},
		"P128: in other containers, in container mode":             {container, &before, seen(1, 2, 0, member("a", "2", "3"), member("b", "2", "4")), ""},
		"P128: not while a status shows the container from before": {container, &before, seen(1, 2, 0, member("a", "2", "3"), member("b", "2", "2")), one},
		"P128: one that has finished is not waited for":            {process, &before, seen(1, 2, 0, member("a", "2", "1"), member("b", "1", "2", done)), ""},
		"P128: Recreate, at the first start":                       {recreate, nil, seen(0, 0, 0, member("a", "", "1"), member("b", "", "2")), ""},
		"P128: Recreate, before the failure is seen":               {recreate, &before, seen(0, 0, 0, before.Pods...), untold},
		"P128: Recreate, while the old Pods are there":             {recreate, &before, seen(0, 0, 1, before.Pods...), two},
		"P128: Recreate, in new Pods":                              {recreate, &before, seen(0, 0, 1, member("c", "", "3"), member("d", "", "4")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.now.Waits(tc.strategy, tc.before); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAJobSetThatIsOverIsNotWaitedFor(t *testing.T) {
	g := seen(0, 1, 0)
	if err := g.Over(); err != nil {
		t.Errorf("P128: got %v while it runs", err)
	}
	g.JobSet.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetFailed), Status: metav1.ConditionTrue, Message: "no restart is left"}}
	if err := g.Over(); err == nil || err.Error() != "the JobSet is Failed: no restart is left" {
		t.Errorf("P128: got %v", err)
	}
}
