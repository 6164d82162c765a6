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

	"sigs.k8s.io/jobset/pkg/elastic"
)

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
