/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestNeedsService(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		network *jobset.Network
		want    bool
	}{
		"C91: no network":        {nil, false},
		"C91: no answer":         {&jobset.Network{}, false},
		"C91: no host names":     {&jobset.Network{EnableDNSHostnames: ptr.To(false)}, false},
		"C91: host names wanted": {&jobset.Network{EnableDNSHostnames: ptr.To(true)}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := NeedsService(&jobset.JobSet{Spec: jobset.JobSetSpec{Network: tc.network}}); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestService(t *testing.T) {
	t.Parallel()
	service := func(name string, publish bool) *corev1.Service {
		return &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "js", UID: "js-uid", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}}},
			Spec: corev1.ServiceSpec{
				ClusterIP: "None", Selector: map[string]string{"jobset.sigs.k8s.io/jobset-name": "js"}, PublishNotReadyAddresses: publish,
			},
		}
	}
	tests := map[string]struct {
		network jobset.Network
		want    *corev1.Service
	}{
		"C92, C93: by default":               {jobset.Network{}, service("js", true)},
		"C92: a subdomain is the name":       {jobset.Network{Subdomain: "sub"}, service("sub", true)},
		"C93: addresses not ready, wanted":   {jobset.Network{PublishNotReadyAddresses: ptr.To(true)}, service("js", true)},
		"C93: addresses not ready, unwanted": {jobset.Network{PublishNotReadyAddresses: ptr.To(false)}, service("js", false)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").Network(tc.network).Obj()
			if diff := cmp.Diff(tc.want, Service(js)); diff != "" {
				t.Errorf("Service (-want +got):\n%s", diff)
			}
		})
	}
}
