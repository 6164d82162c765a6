/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

func TestServiceTrouble(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Network(jobset.Network{EnableDNSHostnames: ptr.To(true), Subdomain: "ring"}).
		ReplicatedJob(builders.MakeReplicatedJob("a").PodMeta("team", "red")).ReplicatedJob(builders.MakeReplicatedJob("b")).Obj()
	service := func(selector map[string]string, changes ...func(*corev1.Service)) *corev1.Service {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "ring"}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: selector}}
		for _, change := range changes {
			change(s)
		}
		return s
	}
	ofJobSet := func(name, uid string) func(*corev1.Service) {
		return func(s *corev1.Service) {
			s.OwnerReferences = []metav1.OwnerReference{OwnerReference(&jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}})}
		}
	}
	reachable := func(s *corev1.Service) { s.Spec.ClusterIP = "10.0.0.1" }
	ours := map[string]string{jobset.JobSetNameKey: "js"}
	for name, tc := range map[string]struct {
		service *corev1.Service
		want    string
	}{
		"C94a: ours":                              {service(map[string]string{"edited": "x"}, ofJobSet("js", string(js.UID))), ""},
		"C94a: one that is not known":             {nil, ""},
		"C94a: one of an earlier JobSet":          {service(ours, ofJobSet("js", "earlier")), ""},
		"C94a: one that selects our Pods":         {service(map[string]string{jobset.JobSetUIDKey: string(js.UID)}), ""},
		"C94a: one with endpoints of somebody":    {service(nil, reachable), ""},
		"C94a: one of another JobSet":             {service(map[string]string{jobset.JobSetNameKey: "one"}, ofJobSet("one", "u")), "Service ring, which belongs to JobSet one, selects jobset.sigs.k8s.io/jobset-name=one, which Pods of ReplicatedJob a do not have, so "},
		"C94a: one that selects some of our Pods": {service(map[string]string{"team": "red"}), "Service ring selects team=red, which Pods of ReplicatedJob b do not have, so "},
		"C94a: one that is not headless":          {service(ours, reachable), "Service ring is not headless, so "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ServiceTrouble(js, tc.service); tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
