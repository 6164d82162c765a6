/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func limit(seconds int64) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) { js.Spec.ActiveDeadlineSeconds = &seconds }
}

var (
	limited      = gates.Set{JobSetActiveDeadlineSeconds: true}
	noDeadline   = []violation{forbidden("spec.activeDeadlineSeconds", "cannot be set when JobSetActiveDeadlineSeconds feature gate is disabled: start the manager with --feature-gates=JobSetActiveDeadlineSeconds=true")}
	tooShort     = []violation{invalid("spec.activeDeadlineSeconds", "must be at least 1: remove it if the JobSet may run without limit")}
	somethingFor = func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }
)

func TestActiveDeadline(t *testing.T) {
	runCreate(t, plainJobSet, map[string]createCase{
		"W143: with the gate on it is admitted": {gates: limited, mut: limit(1)},
		"W143: with the gate off it is refused": {mut: limit(1), want: noDeadline},
		"W143: it is at least 1":                {gates: limited, mut: limit(0), want: tooShort},
	})
}

func TestUpdateActiveDeadline(t *testing.T) {
	remove := func(js *jobset.JobSet) { js.Spec.ActiveDeadlineSeconds = nil }
	runUpdate(t, plainJobSet, map[string]updateCase{
		"W143: it may come":                           {gates: limited, mut: limit(5)},
		"W143: it may change while the JobSet runs":   {gates: limited, old: limit(5), mut: limit(7)},
		"W143: it may go":                             {gates: limited, old: limit(5), mut: remove},
		"W143: not to less than 1":                    {gates: limited, old: limit(5), mut: limit(-1), want: tooShort},
		"W143: with the gate off it may not come":     {mut: limit(5), want: noDeadline},
		"W143: with the gate off it may change":       {old: limit(5), mut: limit(7)},
		"W143: with the gate off it may go":           {old: limit(5), mut: remove},
		"W143: with the gate off other fields change": {old: limit(5), mut: each(limit(5), somethingFor)},
	})
}
