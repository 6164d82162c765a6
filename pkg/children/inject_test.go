/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestAgentsAreAddedWhenAJobIsBuilt(t *testing.T) {
	claim := corev1.PersistentVolumeClaim{}
	claim.Name = "data"
	for name, tc := range map[string]struct {
		strategy jobset.JobSetRestartStrategy
		want     []string // volumes
		agents   int
	}{
		"P50: beside what else the Job gets": {jobset.InPlaceRestart, []string{"data", workerpod.TokenVolumeName}, 1},
		"P50: not with another strategy":     {jobset.Recreate, []string{"data"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			js := builders.MakeJobSet("train", "ns").FailurePolicy(tc.strategy, 3).ReplicatedJob(builders.MakeReplicatedJob("workers")).Obj()
			js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{Templates: []corev1.PersistentVolumeClaim{claim}}}
			pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
			pod.Containers = []corev1.Container{{Name: "worker", VolumeMounts: []corev1.VolumeMount{{Name: "data"}}}}
			before := js.DeepCopy()

			job := NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent"}).Job(&js.Spec.ReplicatedJobs[0], 0)

			var volumes []string
			for _, volume := range job.Spec.Template.Spec.Volumes {
				volumes = append(volumes, volume.Name)
			}
			if diff := cmp.Diff(tc.want, volumes); diff != "" {
				t.Errorf("volumes (-want +got):\n%s", diff)
			}
			if got := len(job.Spec.Template.Spec.InitContainers); got != tc.agents {
				t.Errorf("%d agents, want %d", got, tc.agents)
			}
			if diff := cmp.Diff(before, js); diff != "" {
				t.Errorf("the JobSet changed:\n%s", diff)
			}
		})
	}
}

// TestTheJobControllerCountsEachIndexByItself: else every further Pod that a Job loses doubles the wait of the whole group.
func TestTheJobControllerCountsEachIndexByItself(t *testing.T) {
	t.Parallel()
	indexed := func(job *batchv1.JobSpec) { job.CompletionMode = ptr.To(batchv1.IndexedCompletion) }
	for name, tc := range map[string]struct {
		strategy jobset.JobSetRestartStrategy
		template func(*batchv1.JobSpec)
		want     *int32
	}{
		"P170: in a group that restarts in place": {jobset.InPlaceRestart, indexed, ptr.To[int32](2147483647)},
		"P170: also if the template brings an agent": {jobset.InPlaceRestart, func(job *batchv1.JobSpec) {
			indexed(job)
			job.Template.Spec.InitContainers = []corev1.Container{workerpod.Agent(workerpod.Options{AgentImage: "own"})}
		}, ptr.To[int32](2147483647)},
		"P170: not with another strategy":                              {jobset.Recreate, indexed, nil},
		"P170: not without indexes, which the API server would refuse": {jobset.InPlaceRestart, func(*batchv1.JobSpec) {}, nil},
		"P170: not for more indexes than the API server lets count": {jobset.InPlaceRestart, func(job *batchv1.JobSpec) {
			indexed(job)
			job.Completions = ptr.To[int32](100_001)
		}, nil},
		"P170: what an older version admitted stays": {jobset.InPlaceRestart, func(job *batchv1.JobSpec) { indexed(job); job.BackoffLimitPerIndex = ptr.To[int32](3) }, ptr.To[int32](3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("train", "ns").FailurePolicy(tc.strategy, 3).ReplicatedJob(builders.MakeReplicatedJob("workers").JobSpec(tc.template)).Obj()
			stored := js.Spec.ReplicatedJobs[0].Template.Spec.BackoffLimitPerIndex
			job := NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent"}).Job(&js.Spec.ReplicatedJobs[0], 0)
			if got := job.Spec.BackoffLimitPerIndex; !ptr.Equal(got, tc.want) {
				t.Errorf("backoffLimitPerIndex %v, want %v", ptr.Deref(got, -1), ptr.Deref(tc.want, -1))
			}
			if js.Spec.ReplicatedJobs[0].Template.Spec.BackoffLimitPerIndex != stored {
				t.Error("the JobSet changed")
			}
		})
	}
}

func TestWhereAgentsReport(t *testing.T) {
	t.Parallel()
	own := workerpod.Agent(workerpod.Options{AgentImage: "own"})
	for name, tc := range map[string]struct {
		mode     jobset.InPlaceRestartMode
		from     int64
		own      bool
		inLeases bool
	}{
		"P150: in Leases, in a group that is as large": {jobset.ProcessMode, 7, false, true},
		"P150: in Leases, at any size":                 {jobset.ProcessMode, 1, false, true},
		"P150: on Pods, in a smaller group":            {jobset.ProcessMode, 8, false, false},
		"P150: on Pods, if Leases are not asked for":   {jobset.ProcessMode, 0, false, false},
		"P150: on Pods, in container mode":             {jobset.ContainerMode, 1, false, false},
		"P150: on Pods, by an agent of the template":   {jobset.ProcessMode, 1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("train", "ns").FailurePolicy(jobset.InPlaceRestart, 3).
				ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2).Workers(3), builders.MakeReplicatedJob("b")).Obj()
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: tc.mode}
			pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
			pod.Containers = []corev1.Container{{Name: "worker", Command: []string{"train"}}}
			if tc.own {
				pod.InitContainers = []corev1.Container{own}
			}
			build := func(from int64) corev1.PodTemplateSpec {
				with := workerpod.Injection{Image: "agent", LeaseReportsFrom: from}
				return NewBuilder(js).InjectAgents(with).Job(&js.Spec.ReplicatedJobs[0], 1).Spec.Template
			}
			want, got := build(0), build(tc.from)
			unread := workerpod.Injection{Image: "agent", LeaseReportsFrom: tc.from, LeasesUnread: true}
			if diff := cmp.Diff(want, NewBuilder(js).InjectAgents(unread).Job(&js.Spec.ReplicatedJobs[0], 1).Spec.Template); diff != "" {
				t.Errorf("P153b: template where no Lease is read (-want +got):\n%s", diff)
			}
			if tc.inLeases {
				agent := &want.Spec.InitContainers[0]
				agent.Env = append(agent.Env,
					corev1.EnvVar{Name: "POD_UID", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.uid"}}},
					corev1.EnvVar{Name: "JOBSET_REPORTS", Value: "Lease"})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("P150: template (-want +got):\n%s", diff)
			}
		})
	}
}
