/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// activeDeadline refuses a deadline that no controller would keep, or that is none.
func activeDeadline(js *jobset.JobSet, g gates.Set) field.ErrorList {
	path, seconds := specPath.Child("activeDeadlineSeconds"), js.Spec.ActiveDeadlineSeconds
	switch {
	case seconds == nil:
		return nil
	case !g.JobSetActiveDeadlineSeconds:
		return field.ErrorList{field.Forbidden(path, "cannot be set when JobSetActiveDeadlineSeconds feature gate is disabled: start the manager with "+
			"--feature-gates=JobSetActiveDeadlineSeconds=true, or set featureGates: {JobSetActiveDeadlineSeconds: true} in its configuration")}
	case *seconds < 1:
		return field.ErrorList{field.Invalid(path, *seconds, "must be at least 1: remove it if the JobSet may run without limit")}
	}
	return nil
}

// activeDeadlineIfAdded: it may change at any time. With the gate off it may change where it is, and not come in.
func activeDeadlineIfAdded(old, new *jobset.JobSet, g gates.Set) field.ErrorList {
	if ptr.Equal(old.Spec.ActiveDeadlineSeconds, new.Spec.ActiveDeadlineSeconds) {
		return nil
	}
	if old.Spec.ActiveDeadlineSeconds != nil {
		g.JobSetActiveDeadlineSeconds = true
	}
	return activeDeadline(new, g)
}
