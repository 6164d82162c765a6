/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// bypassMutants are those of the rules about bypasses (P34b, P131a), and of a success that does not come (P45d).
var bypassMutants = []mutant{
	{
		name: "a bypass ends without an epoch of its own", at: "pkg/policy/internal/group.Bypass",
		old:       "r.Ends, r.Changes = true, pass.Deprecate|pass.SpendEpoch",
		new:       "r.Ends = true",
		scenarios: "bypass",
	},
	{
		name: "a bypass ends, and with it only the epoch that ran", at: "pkg/policy/internal/group.Bypass",
		old:       "pass.Deprecate|pass.SpendEpoch",
		new:       "pass.Deprecate",
		scenarios: "bypass",
	},
	{
		name: "what ends a bypass lifts, too", at: "pkg/policy/internal/group.Bypass",
		old:       "r.Ends, r.Changes = true, pass.Deprecate|pass.SpendEpoch",
		new:       "r.Changes = pass.Deprecate|pass.SpendEpoch",
		scenarios: "bypass",
	},
	{
		name: "lift although the annotation is there", at: "pkg/policy.newView",
		old:       " && !pass.DisabledByAnnotation(in.JobSet)",
		new:       "",
		scenarios: "bypass",
	},
	{
		name: "the annotation is not told to the agents", at: "pkg/policy/internal/group.Bypass",
		old:       "case pass.DisabledByAnnotation(v.JobSet):",
		new:       "case pass.DisabledByAnnotation(v.JobSet) && is != nil:",
		scenarios: "bypass",
	},
	{
		name: "the end of a bypass is charged", at: "pkg/policy/internal/group.Bypass",
		old:       "pass.Deprecate|pass.SpendEpoch",
		new:       "pass.Deprecate|pass.SpendEpoch|pass.ChargeGroup",
		scenarios: "bypass",
	},
	{
		name: "a worker outside of all epochs runs on", at: "agent.Decide",
		old:       "if self.Lifted == ByBypass {",
		new:       "if false {",
		scenarios: "bypass",
	},
	{
		name: "wait indefinitely for a success that does not come", at: "pkg/policy/internal/group.successPending", in: "./pkg/policy", by: "TestASuccessThatDoesNotCome",
		old: "if left > 0 {\n\t\treturn true",
		new: "if true {\n\t\treturn true",
	},
	{
		name: "workers are watched in a bypass", at: "supervisor.unwatch", in: "./supervisor", by: "TestStep",
		old: "if !same || !s.Watched() {",
		new: "if true {",
	},
	{
		name: "nobody says that a bypass ends the watch", at: "agent.afterLift", in: "./agent", by: "TestTheBypassInProcessMode",
		old: "case off != \"\" && find(v, isWatched) != nil:",
		new: "case false:",
	},
}
