/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/pkg/elastic"
)

func TestAntiAffinityByHostNameIsToldToThePlanner(t *testing.T) {
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "w"}}
	for name, tc := range map[string]struct {
		term corev1.PodAffinityTerm
		want bool
	}{
		"P112: to Pods with a label of its own":  {corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: own}, true},
		"P112: by zone it is left to P108a":      {corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: own}, false},
		"P112: to others":                        {corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}, false},
		"P112: to no Pods: no selector":          {corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname}, false},
		"P112: to Pods of another namespace":     {corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: own, Namespaces: []string{"other"}}, false},
		"P112: to Pods with the same values yet": {corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: own, MismatchLabelKeys: []string{"app"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			template := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "w"}}}
			template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{tc.term}}}
			if got := isAlone(template); got != tc.want {
				t.Errorf("one for each node: got %t, want %t", got, tc.want)
			}
		})
	}
	if isAlone(&corev1.PodTemplateSpec{}) {
		t.Error("a template without affinity has anti-affinity")
	}
}

func TestTheLeastOfSeveralQuotasCounts(t *testing.T) {
	quota := func(hard, used map[corev1.ResourceName]string) *corev1.ResourceQuota {
		amounts := func(of map[corev1.ResourceName]string) corev1.ResourceList {
			list := corev1.ResourceList{}
			for name, amount := range of {
				list[name] = resource.MustParse(amount)
			}
			return list
		}
		return &corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Hard: amounts(hard), Used: amounts(used)}}
	}
	got := elastic.Headroom{Request: elastic.Resources{}, Limit: elastic.Resources{}}
	limit(got, quota(map[corev1.ResourceName]string{"requests.cpu": "4", "limits.cpu": "8", "limits.memory": "1Ki", "requests.nvidia.com/gpu": "8", "count/pods": "9", "services": "2"},
		map[corev1.ResourceName]string{"requests.cpu": "1500m", "limits.cpu": "7", "requests.nvidia.com/gpu": "3", "count/pods": "5"}))
	limit(got, quota(map[corev1.ResourceName]string{"cpu": "10", "pods": "6"}, map[corev1.ResourceName]string{"cpu": "9500m", "pods": "7"}))
	want := elastic.Headroom{
		Request: elastic.Resources{"cpu": 500, "nvidia.com/gpu": 5, "pods": -1, "services": 2},
		Limit:   elastic.Resources{"cpu": 1000, "memory": 1024},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("P112: headroom (-want +got):\n%s", diff)
	}
}
