/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package features

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/component-base/featuregate"
)

// Apply sets gates by name. It reports every name that does not exist, with those that do,
// and every locked gate; gates are then left as they are.
func Apply(gate featuregate.MutableFeatureGate, values map[string]bool) error {
	known := gate.GetAll()
	var unknown []string
	var errs []error
	for name, value := range values {
		spec, ok := known[featuregate.Feature(name)]
		switch {
		case !ok:
			unknown = append(unknown, name)
		case spec.LockToDefault && spec.Default != value:
			errs = append(errs, fmt.Errorf("feature gate %s is locked to %t", name, spec.Default))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if len(unknown) > 0 {
		slices.Sort(unknown)
		errs = append(errs, fmt.Errorf("unknown feature gates: %s (known are %s)",
			strings.Join(unknown, ", "), strings.Join(Known(gate), ", ")))
	}
	if len(errs) > 0 {
		return utilerrors.NewAggregate(errs)
	}
	if err := gate.SetFromMap(values); err != nil {
		return fmt.Errorf("setting feature gates: %w", err)
	}
	return nil
}

// Known lists the gates, each with its stage and what it is now, for help and error texts.
func Known(gate featuregate.MutableFeatureGate) []string {
	var names []string
	for name, spec := range gate.GetAll() {
		stage := cmp.Or(string(spec.PreRelease), "GA")
		names = append(names, fmt.Sprintf("%s (%s, default %t)", name, stage, spec.Default))
	}
	slices.Sort(names)
	return names
}
