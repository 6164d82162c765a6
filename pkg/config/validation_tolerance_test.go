/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config_test

import (
	"testing"
)

func TestValidateFaultTolerance(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"P83: what it may say": {text: `faultTolerance: {gracePeriodMaximum: 1s, retryPause: 0s, retryLimit: 0}`},
		"P83: nothing":         {text: `faultTolerance: {}`},
		"P83: everything is wrong": {text: `faultTolerance: {gracePeriodMaximum: 0s, retryPause: 1500ms, retryLimit: -1}`, want: []string{
			`faultTolerance.gracePeriodMaximum: Invalid value: "0s": must be whole seconds, and at least 1s`,
			`faultTolerance.retryPause: Invalid value: "1.5s": must be whole seconds, and at least 0s`,
			`faultTolerance.retryLimit: Invalid value: -1: must be >= 0`,
		}},
		"P83: a time that is negative": {text: `faultTolerance: {retryPause: -1s}`, want: []string{
			`faultTolerance.retryPause: Invalid value: "-1s": must be whole seconds, and at least 0s`,
		}},
	} {
		t.Run(name, func(t *testing.T) { says(t, tc.text, tc.want) })
	}
}
