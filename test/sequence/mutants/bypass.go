/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

const bypassFile = "pkg/policy/bypass.go"

// bypassMutants are those of the rules about the end of a bypass (P34b).
var bypassMutants = []mutant{
	{
		name: "a bypass ends without an epoch of its own", file: bypassFile,
		old:       "r.ends, r.changes = true, deprecate|spendEpoch",
		new:       "r.ends = true",
		scenarios: "bypass",
	},
	{
		name: "a bypass ends, and with it only the epoch that ran", file: bypassFile,
		old:       "deprecate|spendEpoch",
		new:       "deprecate",
		scenarios: "bypass",
	},
	{
		name: "what ends a bypass lifts, too", file: bypassFile,
		old:       "r.ends, r.changes = true, deprecate|spendEpoch",
		new:       "r.changes = deprecate|spendEpoch",
		scenarios: "bypass",
	},
	{
		name: "lift although the annotation is there", file: "pkg/policy/look.go",
		old:       " && !disabledByAnnotation(in.JobSet)",
		new:       "",
		scenarios: "bypass",
	},
	{
		name: "the annotation is not told to the agents", file: bypassFile,
		old:       "case disabledByAnnotation(v.JobSet):",
		new:       "case disabledByAnnotation(v.JobSet) && is != nil:",
		scenarios: "bypass",
	},
	{
		name: "the end of a bypass is charged", file: bypassFile,
		old:       "deprecate|spendEpoch",
		new:       "deprecate|spendEpoch|chargeGroup",
		scenarios: "bypass",
	},
	{
		name: "a worker outside of all epochs runs on", file: agentFile,
		old:       "if self.Lifted == ByBypass {",
		new:       "if false {",
		scenarios: "bypass",
	},
}
