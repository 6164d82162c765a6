/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestCreatePodTemplates(t *testing.T) {
	const template = "spec.replicatedJobs[1].template.spec.template"
	runCreate(t, plainJobSet, map[string]createCase{
		"Q26: labels, annotations and node selectors that no Pod can have": {
			mut: func(js *jobset.JobSet) {
				job(js, 1).Template.Labels = map[string]string{"b": "not a value", "a/b/c": "", "ok": "ok"}
				job(js, 1).Template.Annotations = map[string]string{"-": "", "Ok.io/OK": "any thing"}
				pod(js, 1).NodeSelector = map[string]string{"zone": "x y"}
			},
			want: []violation{
				invalid(template+".metadata.labels", "a valid label key must consist"),
				invalid(template+".metadata.labels", "a valid label must be"),
				invalid(template+".metadata.annotations", "name part must consist of"),
				invalid(template+".spec.nodeSelector", "a valid label must be"),
			},
		},
		"Q26: tolerations and scheduling gates that no Pod can have": {
			mut: func(js *jobset.JobSet) {
				pod(js, 1).Tolerations = []corev1.Toleration{
					{Key: "a b"}, {}, {Key: "a", Value: "no value"},
					{Operator: corev1.TolerationOpExists, Value: "b"},
					{Key: "a", Effect: corev1.TaintEffectNoSchedule, TolerationSeconds: ptr.To[int64](30)},
				}
				pod(js, 1).SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}, {Name: "a b"}}
			},
			want: []violation{
				invalid(template+".spec.tolerations[0].key", "name part must consist of"),
				invalid(template+".spec.tolerations[1].operator", "must be Exists if key is empty"),
				invalid(template+".spec.tolerations[2].value", "a valid label must be"),
				invalid(template+".spec.tolerations[3].value", "must be empty with operator Exists"),
				invalid(template+".spec.tolerations[4].effect", "must be NoExecute with tolerationSeconds"),
				invalid(template+".spec.schedulingGates[1].name", "name part must consist of"),
			},
		},
		"W84 W140: a list is read to its tenth mistake": {
			mut: func(js *jobset.JobSet) { pod(js, 1).Tolerations = make([]corev1.Toleration, 1000) },
			want: slices.Collect(func(yield func(violation) bool) {
				for i := range 10 {
					yield(invalid(fmt.Sprintf("%s.spec.tolerations[%d].operator", template, i), "must be Exists if key is empty"))
				}
			}),
		},
		"Q26: tolerations that a Pod can have, or that this version does not know": {
			mut: func(js *jobset.JobSet) {
				pod(js, 1).Tolerations = []corev1.Toleration{
					{Operator: corev1.TolerationOpExists}, {Key: "a", Value: "b"}, {Key: "a", Operator: "Lt", Value: "-1"},
					{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](30)},
				}
			},
		},
	})
}
