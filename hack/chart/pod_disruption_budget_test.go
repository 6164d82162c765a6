/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestPodDisruptionBudget(t *testing.T) {
	const id = "PodDisruptionBudget jobset-controller-pdb"
	value := func(v intstr.IntOrString) *intstr.IntOrString { return &v }
	number := func(n int) *intstr.IntOrString { return value(intstr.FromInt(n)) }

	tests := map[string]struct {
		values   string // of podDisruptionBudget
		min, max *intstr.IntOrString
	}{
		"O147, O264: by default one Pod has to stay":          {values: `{}`, min: number(1)},
		"O264: more may have to stay":                         {values: `{minAvailable: 2}`, min: number(2)},
		"a share may have to stay":                            {values: `{minAvailable: 50%}`, min: value(intstr.FromString("50%"))},
		"O264: none has to stay":                              {values: `{minAvailable: 0}`, min: number(0)},
		"O264: some may be missing":                           {values: `{minAvailable: null, maxUnavailable: 3}`, max: number(3)},
		"O147, O264: how many may be missing wins":            {values: `{minAvailable: 2, maxUnavailable: 3}`, max: number(3)},
		"O264: none may be missing":                           {values: `{minAvailable: null, maxUnavailable: 0}`, max: number(0)},
		"O147, O264: that none may be missing wins as well":   {values: `{minAvailable: 2, maxUnavailable: 0}`, max: number(0)},
		"O147: null is no number of Pods that may be missing": {values: `{minAvailable: 2, maxUnavailable: null}`, min: number(2)},
		"a share may be missing, and wins as a number does":   {values: `{maxUnavailable: 10%}`, max: value(intstr.FromString("10%"))},
		"a large number is written as one":                    {values: `{minAvailable: 1000000}`, min: number(1000000)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := release{values: "controller: {podDisruptionBudget: " + tc.values + "}"}
			if find(t, r.objects(t), id) != nil {
				t.Errorf("O264: there is a %s, though nobody enabled it", id)
			}
			r.values = "{commonLabels: {team: batch}, controller: {podDisruptionBudget: " + "{enabled: true, " + tc.values[1:] + "}}"
			got := get[policyv1.PodDisruptionBudget](t, r, id)
			always := policyv1.AlwaysAllow
			want := policyv1.PodDisruptionBudgetSpec{
				UnhealthyPodEvictionPolicy: &always,
				MinAvailable:               tc.min,
				MaxUnavailable:             tc.max,
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{
					"app.kubernetes.io/name": "jobset", "app.kubernetes.io/instance": "jobset", "app.kubernetes.io/component": "controller"}},
			}
			if diff := cmp.Diff(want, got.Spec); diff != "" {
				t.Errorf("budget (-want +got):\n%s", diff)
			}
		})
	}
}
