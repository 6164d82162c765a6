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

// subdomain is the domain of Pods and the name of a Service, so it is
// checked against both formats.
func subdomain(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if js.Spec.Network == nil || js.Spec.Network.Subdomain == "" {
		return nil
	}
	name, path := js.Spec.Network.Subdomain, specPath.Child("network", "subdomain")
	return append(invalids(path, name, validation.IsDNS1123Subdomain(name)), dns1035Label(path, name,
		".spec.network.subdomain is too long, must be less than 63 characters")...)
}
