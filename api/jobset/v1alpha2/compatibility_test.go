/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Other projects, such as queues and trainers, compile against these names
// and types. This file uses them as such a program does: if it has to change, so do they.

var (
	_ runtime.Object = &jobset.JobSet{}
	_ runtime.Object = &jobset.JobSetList{}

	_ schema.GroupVersion                        = jobset.GroupVersion
	_ schema.GroupVersion                        = jobset.SchemeGroupVersion
	_ runtime.SchemeBuilder                      = jobset.SchemeBuilder
	_ func(*runtime.Scheme) error                = jobset.AddToScheme
	_ func(resource string) schema.GroupResource = jobset.Resource

	_ jobset.Operator              = jobset.OperatorAny
	_ jobset.FailurePolicyAction   = jobset.RestartJobSet
	_ jobset.JobSetRestartStrategy = jobset.Recreate
	_ jobset.StartupPolicyOptions  = jobset.InOrder
	_ jobset.DependsOnStatus       = jobset.DependencyComplete
	_ jobset.RetentionPolicyType   = jobset.RetentionPolicyDelete
	_ jobset.JobSetConditionType   = jobset.JobSetCompleted
)

// everyField spells out the type of each field.
func everyField() *jobset.JobSet {
	var (
		replicas, maxRestarts, ttl int32 = 2, 3, 60
		jobIndex, podIndex               = 1, 2
		yes                              = true
		manager                          = jobset.JobSetControllerName
		retain                           = jobset.RetentionPolicyRetain
		template                   batchv1.JobTemplateSpec
		conditions                 []metav1.Condition
		dependencies               = []jobset.DependsOn{{Name: "a", Status: jobset.DependencyReady}}
		replicatedJobs             = []jobset.ReplicatedJob{{
			Name: "b", GroupName: "default", Template: template, Replicas: replicas, DependsOn: dependencies,
		}}
	)
	return &jobset.JobSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: jobset.GroupVersion.String(), Kind: "JobSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "js"},
		Spec: jobset.JobSetSpec{
			ReplicatedJobs: replicatedJobs,
			Network:        &jobset.Network{EnableDNSHostnames: &yes, Subdomain: "net", PublishNotReadyAddresses: &yes},
			SuccessPolicy:  &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"b"}},
			FailurePolicy: &jobset.FailurePolicy{
				MaxRestarts: maxRestarts, RestartStrategy: jobset.BlockingRecreate,
				Rules: []jobset.FailurePolicyRule{{
					Name: "rule", Action: jobset.FailJobSet, TargetReplicatedJobs: []string{"b"},
					OnJobFailureReasons: []string{"PodFailurePolicy"}, OnJobFailureMessagePatterns: []string{"x"},
				}},
			},
			StartupPolicy:           &jobset.StartupPolicy{StartupPolicyOrder: jobset.AnyOrder},
			Suspend:                 &yes,
			Coordinator:             &jobset.Coordinator{ReplicatedJob: "b", JobIndex: jobIndex, PodIndex: podIndex},
			ManagedBy:               &manager,
			TTLSecondsAfterFinished: &ttl,
			VolumeClaimPolicies: []jobset.VolumeClaimPolicy{{
				Templates:       []corev1.PersistentVolumeClaim{{}},
				RetentionPolicy: &jobset.VolumeRetentionPolicy{WhenDeleted: &retain},
			}},
		},
		Status: jobset.JobSetStatus{
			Conditions: conditions, Restarts: int32(1), RestartsCountTowardsMax: int32(1), TerminalState: string(jobset.JobSetFailed),
			ReplicatedJobsStatus: []jobset.ReplicatedJobStatus{{
				Name: "b", Ready: int32(1), Succeeded: int32(1), Failed: int32(1), Active: int32(1), Suspended: int32(1),
				JobRestarts: []int32{1}, JobRestartsCountTowardsMax: []int32{1},
			}},
		},
	}
}

func TestOtherProgramsCompileAndReadTheirZeros(t *testing.T) {
	t.Run("S5: an object with every field of v0.12 survives its own JSON", func(t *testing.T) {
		want := everyField()
		text, err := json.Marshal(jobset.JobSetList{Items: []jobset.JobSet{*want.DeepCopy()}})
		if err != nil {
			t.Fatal(err)
		}
		var got jobset.JobSetList
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]jobset.JobSet{*want}, got.Items); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("S5: replicas of 0 are left out of what a program sends, and read as 0 from what it gets", func(t *testing.T) {
		text, err := json.Marshal(jobset.ReplicatedJob{Name: "b"})
		if err != nil {
			t.Fatal(err)
		}
		var sent map[string]any
		got := jobset.ReplicatedJob{Replicas: 7}
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(`{"name":"b","replicas":0}`), &got); err != nil {
			t.Fatal(err)
		}
		if _, there := sent["replicas"]; there || got.Replicas != 0 {
			t.Errorf("sent %v, read %d", sent, got.Replicas)
		}
	})
}

func TestNamesThatOtherProgramsUseKeepTheirValues(t *testing.T) {
	for value, name := range map[string]string{
		"All": string(jobset.OperatorAll),
		"Any": string(jobset.OperatorAny),

		"FailJobSet":                        string(jobset.FailJobSet),
		"RestartJobSet":                     string(jobset.RestartJobSet),
		"RestartJobSetAndIgnoreMaxRestarts": string(jobset.RestartJobSetAndIgnoreMaxRestarts),
		"RestartJob":                        string(jobset.RestartJob),
		"RestartJobAndIgnoreMaxRestarts":    string(jobset.RestartJobAndIgnoreMaxRestarts),

		"Recreate":         string(jobset.Recreate),
		"BlockingRecreate": string(jobset.BlockingRecreate),
		"InPlaceRestart":   string(jobset.InPlaceRestart),

		"AnyOrder": string(jobset.AnyOrder),
		"InOrder":  string(jobset.InOrder),
		"Ready":    string(jobset.DependencyReady),
		"Complete": string(jobset.DependencyComplete),
		"Delete":   string(jobset.RetentionPolicyDelete),
		"Retain":   string(jobset.RetentionPolicyRetain),

		"Completed":               string(jobset.JobSetCompleted),
		"Failed":                  string(jobset.JobSetFailed),
		"Suspended":               string(jobset.JobSetSuspended),
		"StartupPolicyInProgress": string(jobset.JobSetStartupPolicyInProgress),
		"StartupPolicyCompleted":  string(jobset.JobSetStartupPolicyCompleted),
		"RestartingJobSet":        string(jobset.JobSetRestarting),

		"jobset.sigs.k8s.io/jobset-controller":      jobset.JobSetControllerName,
		"jobset.sigs.k8s.io/jobset-name":            jobset.JobSetNameKey,
		"jobset.sigs.k8s.io/jobset-uid":             jobset.JobSetUIDKey,
		"jobset.sigs.k8s.io/replicatedjob-name":     jobset.ReplicatedJobNameKey,
		"jobset.sigs.k8s.io/replicatedjob-replicas": jobset.ReplicatedJobReplicas,
		"jobset.sigs.k8s.io/global-replicas":        jobset.GlobalReplicasKey,
		"jobset.sigs.k8s.io/job-index":              jobset.JobIndexKey,
		"jobset.sigs.k8s.io/job-global-index":       jobset.JobGlobalIndexKey,
		"jobset.sigs.k8s.io/job-key":                jobset.JobKey,
		"jobset.sigs.k8s.io/group-name":             jobset.GroupNameKey,
		"jobset.sigs.k8s.io/group-replicas":         jobset.GroupReplicasKey,
		"jobset.sigs.k8s.io/job-group-index":        jobset.JobGroupIndexKey,
		"jobset.sigs.k8s.io/coordinator":            jobset.CoordinatorKey,

		"alpha.jobset.sigs.k8s.io/exclusive-topology": jobset.ExclusiveKey,
		"alpha.jobset.sigs.k8s.io/node-selector":      jobset.NodeSelectorStrategyKey,
		"jobset.sigs.k8s.io/disable-in-place-restart": jobset.DisableInPlaceRestartKey,
		"alpha.jobset.sigs.k8s.io/namespaced-job":     jobset.NamespacedJobKey,
		"alpha.jobset.sigs.k8s.io/no-schedule":        jobset.NoScheduleTaintKey,

		"jobset.x-k8s.io/v1alpha2": jobset.SchemeGroupVersion.String(),
		"jobsets.jobset.x-k8s.io":  jobset.Resource("jobsets").String(),
	} {
		if name != value {
			t.Errorf("%q is now %q", value, name)
		}
	}
}
