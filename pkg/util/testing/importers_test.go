/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package testing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// P125a: other projects build the JobSets of their tests with these names. hack/dropin has the Trainer, which is a module;
// what Kueue calls is called here.
func TestWhatOtherProjectsImport(t *testing.T) {
	template := builders.MakeJobTemplate("job", "ns").
		SetLabels(map[string]string{"a": "1"}).SetAnnotations(map[string]string{"b": "2"}).
		PodSpec(corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}).Obj()
	js := builders.MakeJobSet("js", "ns").Suspend(true).Obj()
	js.Spec.ReplicatedJobs = make([]jobset.ReplicatedJob, 1)
	js.Spec.ReplicatedJobs[0] = builders.MakeReplicatedJob("w").Job(template).Replicas(2).Obj()

	want := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Name: "js", Namespace: "ns"},
		Spec: jobset.JobSetSpec{Suspend: ptr.To(true), ReplicatedJobs: []jobset.ReplicatedJob{{
			Name: "w", GroupName: "default", Replicas: 2,
			Template: batchv1.JobTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "ns", Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "2"}},
				Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}}},
			},
		}}},
	}
	js.TypeMeta, js.UID = metav1.TypeMeta{}, ""
	if diff := cmp.Diff(want, js); diff != "" {
		t.Errorf("the JobSet (-want +got):\n%s", diff)
	}
}
