/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// leases are mistakes in how reports in Leases are written. That the greater epoch counts, wherever it stands, is held by the
// tables of package facts: the first repeat, which goes to both places, would heal such a mistake here.
var leases = []mutant{
	{name: "reports are repeated in the Lease only", twist: "repeats-in-lease"},
	{name: "that a report is missing is confirmed by the cache", twist: "late-by-cache", scenarios: "reports in flight"},
	{name: "look before the cache shows who was deleted", twist: "early-look", scenarios: "reports in flight"},
	{
		name: "who is late is deleted, and its Lease is not read", at: "pkg/policy/internal/group.AssemblyDeadline",
		old:       "if unread := unreadReports(v, overTime); len(unread) > 0 {\n\t\treturn pass.Result{Ends: true, Ask: pass.Questions{ReadReports: unread}}\n\t}\n\tif confirmed := confirmedLate(v, overTime);",
		new:       "if confirmed := overTime;",
		scenarios: "reports in flight",
	},
}
