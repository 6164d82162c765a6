/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	spec := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
	owner := func(js *jobset.JobSet) []metav1.OwnerReference { return []metav1.OwnerReference{OwnerReference(js)} }
	tests := map[string]struct {
		policy jobset.VolumeClaimPolicy
		owned  bool
	}{
		"C179: Delete: the claim belongs to the JobSet":                  {jobset.VolumeClaimPolicy{RetentionPolicy: retention(jobset.RetentionPolicyDelete)}, true},
		"C179: Retain: the claim belongs to nobody":                      {jobset.VolumeClaimPolicy{RetentionPolicy: retention(jobset.RetentionPolicyRetain)}, false},
		"C179: no policy: the claim belongs to nobody":                   {jobset.VolumeClaimPolicy{}, false},
		"C340: a policy that does not say when is the default of Delete": {jobset.VolumeClaimPolicy{RetentionPolicy: &jobset.VolumeRetentionPolicy{}}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").Obj()
			tc.policy.Templates = []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"k": "v", jobset.JobSetNameKey: "theirs"}, Annotations: map[string]string{"a": "b"}},
				Spec:       spec,
			}}
			js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{tc.policy}
			want := &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{
					Name: "data-js", Namespace: "ns",
					Labels: map[string]string{"k": "v", jobset.JobSetNameKey: "js"}, Annotations: map[string]string{"a": "b"},
				},
				Spec: spec,
			}
			if tc.owned {
				want.OwnerReferences = owner(js)
			}
			if diff := cmp.Diff([]*corev1.PersistentVolumeClaim{want}, Claims(js)); diff != "" {
				t.Errorf("C178: claims (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("C178: in the order of policies and templates", func(t *testing.T) {
		t.Parallel()
		js := builders.MakeJobSet("js", "ns").Claims(jobset.RetentionPolicyDelete, "b", "a").Claims(jobset.RetentionPolicyRetain, "c").Obj()
		var got []string
		for _, claim := range Claims(js) {
			got = append(got, claim.Name)
		}
		if diff := cmp.Diff([]string{"b-js", "a-js", "c-js"}, got); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(got, ClaimNames(js)); diff != "" {
			t.Errorf("names without the claims (-want +got):\n%s", diff)
		}
	})
}

func retention(whenDeleted jobset.RetentionPolicyType) *jobset.VolumeRetentionPolicy {
	return &jobset.VolumeRetentionPolicy{WhenDeleted: &whenDeleted}
}

func TestClaimsAreMounted(t *testing.T) {
	t.Parallel()
	mounting := func(name string) corev1.Container {
		return corev1.Container{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "other"}, {Name: name, MountPath: "/" + name}}}
	}
	volume := func(template string) corev1.Volume {
		return corev1.Volume{Name: template, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: template + "-js"},
		}}
	}
	tests := map[string]struct {
		pod  func(*corev1.PodSpec)
		want []corev1.Volume
	}{
		"C89: a container mounts one of two": {
			func(s *corev1.PodSpec) { s.Containers = []corev1.Container{{}, mounting("models")} }, []corev1.Volume{volume("models")},
		},
		"C89: an init container mounts it": {
			func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{mounting("data")} }, []corev1.Volume{volume("data")},
		},
		"C89: both are mounted, in the order of the templates, once each": {
			func(s *corev1.PodSpec) {
				s.Containers = []corev1.Container{mounting("models"), mounting("data"), mounting("data")}
			}, []corev1.Volume{volume("data"), volume("models")},
		},
		"C89: nobody mounts any": {func(s *corev1.PodSpec) { s.Containers = []corev1.Container{{}} }, nil},
		"C89: an ephemeral container does not count": {
			func(s *corev1.PodSpec) {
				s.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon(mounting("data"))}}
			}, nil,
		},
		"C89: the user's volumes stay in front": {
			func(s *corev1.PodSpec) {
				s.Volumes, s.Containers = []corev1.Volume{{Name: "mine"}}, []corev1.Container{mounting("data")}
			}, []corev1.Volume{{Name: "mine"}, volume("data")},
		},
		"C89: a volume of that name is not doubled": {
			func(s *corev1.PodSpec) {
				s.Volumes, s.Containers = []corev1.Volume{{Name: "data"}}, []corev1.Container{mounting("data")}
			}, []corev1.Volume{{Name: "data"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").Claims(jobset.RetentionPolicyDelete, "data").Claims(jobset.RetentionPolicyRetain, "models").
				ReplicatedJob(builders.MakeReplicatedJob("a").PodSpec(tc.pod)).Obj()
			if diff := cmp.Diff(tc.want, build(t, js, 0, 0).Spec.Template.Spec.Volumes); diff != "" {
				t.Errorf("volumes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobRestartAttempt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		restarts []int32
		on       bool
		want     string
	}{
		"C72: the gate is off":                                   {nil, false, ""},
		"C72: never restarted alone":                             {nil, true, "0"},
		"C72: restarted alone":                                   {[]int32{0, 3}, true, "3"},
		"C329: restarted alone, and the gate went off since":     {[]int32{0, 3}, false, "3"},
		"C329: another was restarted alone, and the gate is off": {[]int32{3, 0}, false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2)).JobRestarts("a", tc.restarts, nil).Obj()
			job := NewBuilder(js).CountJobRestarts(tc.on).Job(&js.Spec.ReplicatedJobs[0], 1)
			for i, place := range fourPlaces(job) {
				if got := place[constants.JobRestartAttemptKey]; got != tc.want {
					t.Errorf("place %d: %q, want %q", i, got, tc.want)
				}
			}
		})
	}
}

func TestOwnValue(t *testing.T) {
	t.Parallel()
	job := build(t, builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a")).Obj(), 0, 0)
	if got := OwnValue(job, jobset.JobIndexKey); got != "0" {
		t.Errorf("C327: with both: %q, want 0", got)
	}
	delete(job.Labels, jobset.JobIndexKey)
	if got := OwnValue(job, jobset.JobIndexKey); got != "0" {
		t.Errorf("C327: without the label: %q, want 0", got)
	}
	delete(job.Annotations, jobset.JobIndexKey)
	if got := OwnValue(job, jobset.JobIndexKey); got != "" {
		t.Errorf("C327: with neither: %q, want nothing", got)
	}
}
