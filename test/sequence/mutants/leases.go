/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

const leaseFile = "pkg/facts/lease.go"

// leases are mistakes in how reports in Leases are read.
var leases = []mutant{
	{
		name: "a Lease hides what its Pod reports", file: leaseFile,
		old: "if ofLease > ofPod || ofPod == 0 && !inPod {",
		new: "if lease.Present && (ofLease >= 0 || ofPod >= 0) {",
	},
	{
		name: "a Pod hides what its Lease reports", file: leaseFile,
		old: "if ofLease > ofPod || ofPod == 0 && !inPod {",
		new: "if ofPod == 0 && ofLease >= 0 {",
	},
	{name: "reports are repeated in the Lease only", twist: "repeats-in-lease"},
}
