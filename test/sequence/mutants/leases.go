/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// leases are mistakes in how reports in Leases are written. That the greater epoch counts, wherever it stands, is held by the
// tables of package facts: the first repeat, which goes to both places, would heal such a mistake here.
var leases = []mutant{
	{name: "reports are repeated in the Lease only", twist: "repeats-in-lease"},
}
