/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

const maxManagedBy = 63

func managedBy(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if js.Spec.ManagedBy == nil {
		return nil
	}
	path, value := specPath.Child("managedBy"), *js.Spec.ManagedBy
	errs := validation.IsDomainPrefixedPath(path, value)
	if len(value) > maxManagedBy {
		errs = append(errs, field.TooLong(path, value, maxManagedBy))
	}
	return errs
}
