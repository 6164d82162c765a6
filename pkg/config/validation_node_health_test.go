/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config_test

import (
	"testing"
)

func TestValidateNodeHealth(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"P91: nothing is the default": {text: "nodeHealth: {}"},
		"P91: labels of two resources": {
			text: `nodeHealth: {injectAntiAffinities: true, monitorNodes: true, resourceTaints: {
				nvidia.com/gpu: [{key: example.com/gpu, value: sick, effect: NoSchedule}, {key: example.com/gpu, value: dead, effect: NoExecute}],
				example.com/nic: [{key: example.com/gpu, value: dead, effect: NoExecute}]}}`,
		},
		"P92: both off":                        {text: "nodeHealth: {injectAntiAffinities: false, monitorNodes: false}"},
		"P92: keeping away without moving off": {text: "nodeHealth: {injectAntiAffinities: true, monitorNodes: false}"},
		"P92: without the affinity nobody is moved, so nobody may be told so": {
			text: "nodeHealth: {injectAntiAffinities: false, monitorNodes: true}",
			want: []string{"nodeHealth.monitorNodes: Invalid value: true: must not be true while injectAntiAffinities is false: " +
				"Pods could come back to the node that they are moved off; leave it out, or set both to true"},
		},
		"P91: no resource at all": {
			text: "nodeHealth: {resourceTaints: {}}",
			want: []string{"nodeHealth.resourceTaints: Required value: must name a resource; leave it out for the default, " +
				"or set injectAntiAffinities to false to keep away from no node"},
		},
		"P91: every mistake at once": {
			text: `nodeHealth: {resourceTaints: {
				"example.com/a b": [{key: a, value: a, effect: NoSchedule}],
				example.com/empty: [],
				nvidia.com/gpu: [{key: "", value: "", effect: ""}, {key: a, value: "a b", effect: PreferNoSchedule},
					{key: b, value: x, effect: NoSchedule}, {key: b, value: x, effect: NoExecute}]}}`,
			want: []string{
				`nodeHealth.resourceTaints[example.com/a b]: Invalid value: "example.com/a b": name part must consist of alphanumeric characters, '-', '_' or '.', ` +
					`and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
				"nodeHealth.resourceTaints[example.com/empty]: Required value: must list a label; leave the resource out to keep away from no node because of it",
				`nodeHealth.resourceTaints[nvidia.com/gpu][0].key: Invalid value: "": name part must be non-empty`,
				`nodeHealth.resourceTaints[nvidia.com/gpu][0].key: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', ` +
					`and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
				"nodeHealth.resourceTaints[nvidia.com/gpu][0].value: Required value: must be the value of the label on a sick node",
				`nodeHealth.resourceTaints[nvidia.com/gpu][0].effect: Unsupported value: "": supported values: "NoSchedule", "NoExecute"`,
				`nodeHealth.resourceTaints[nvidia.com/gpu][1].value: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ` +
					`and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
				`nodeHealth.resourceTaints[nvidia.com/gpu][1].effect: Unsupported value: "PreferNoSchedule": supported values: "NoSchedule", "NoExecute"`,
				`nodeHealth.resourceTaints[nvidia.com/gpu][3]: Duplicate value: "b=x"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) { says(t, tc.text, tc.want) })
	}
}
