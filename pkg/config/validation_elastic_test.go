/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

func TestElasticAutoscaling(t *testing.T) {
	for name, tc := range map[string]struct {
		given configapi.ElasticAutoscaling
		want  []string
	}{
		"P107: nothing is set": {},
		"P107: all is set": {given: configapi.ElasticAutoscaling{
			Interval: &metav1.Duration{Duration: time.Second}, CooldownUp: &metav1.Duration{}, CooldownDown: &metav1.Duration{Duration: time.Hour}, ShrinkAfter: &metav1.Duration{},
			Accelerators: []corev1.ResourceName{"nvidia.com/gpu", "google.com/tpu"}, ReservePercent: ptr.To[int32](100),
		}},
		"P107: all is wrong": {
			given: configapi.ElasticAutoscaling{
				Interval: &metav1.Duration{}, CooldownUp: &metav1.Duration{Duration: -1}, CooldownDown: &metav1.Duration{Duration: -1}, ShrinkAfter: &metav1.Duration{Duration: -1},
				Accelerators: []corev1.ResourceName{"not a name", "a/b", "a/b", "cpu"}, ReservePercent: ptr.To[int32](101),
			},
			want: []string{
				"elasticAutoscaling.interval", "elasticAutoscaling.cooldownUp", "elasticAutoscaling.cooldownDown", "elasticAutoscaling.shrinkAfter", "elasticAutoscaling.accelerators[0]",
				"elasticAutoscaling.accelerators[2]", "elasticAutoscaling.accelerators[3]", "elasticAutoscaling.reservePercent",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range validateElasticAutoscaling(&configapi.Configuration{ElasticAutoscaling: &tc.given}) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}
