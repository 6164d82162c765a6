/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

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
	})
}
