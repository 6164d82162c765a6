/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"cmp"
	"strconv"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Reported is the epoch that an agent reported.
type Reported struct {
	// Epoch is 0 if it reported none.
	Epoch int32
	// Invalid: the annotation is not a decimal int32 >= 1, but Text, or begins so. That is no report (P12).
	Invalid bool
	Text    string
}

// Report is all that an agent reports in the annotations of its Pod, or of a Lease. What cannot be read is nil.
type Report struct {
	Reported Reported
	// Exit is how its worker ended (P66).
	Exit *protocol.WorkerExit
	// Progress is which signs its worker gave (P137).
	Progress *protocol.ProgressReport
	// Address is that of its Pod.
	Address string
}

// longestText is how much is kept of an annotation that is no epoch, in bytes: it may have 256 KiB.
const longestText = 64

func reportIn(annotations map[string]string) Report {
	var r Report
	if address := annotations[jobset.AddressKey]; protocol.IsAddress(address) {
		r.Address = address
	}
	if text, ok := annotations[jobset.EpochKey]; ok {
		r.Reported = reportedIn(text)
	}
	if text := annotations[jobset.WorkerExitKey]; text != "" {
		if exit, err := protocol.ParseWorkerExit(text); err == nil {
			r.Exit = &exit
		}
	}
	if text := annotations[jobset.ProgressKey]; text != "" {
		if progress, err := protocol.ParseProgressReport(text); err == nil {
			r.Progress = &progress
		}
	}
	return r
}

// reportedIn reads the value of the annotation.
func reportedIn(text string) Reported {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || text[0] == '+' || text[0] == '0' {
		return Reported{Invalid: true, Text: beginning(text, longestText)}
	}
	return Reported{Epoch: int32(n)}
}

// Counted returns the epoch if it counts as reported, else 0: nothing above S+1 does (P12).
func (r Reported) Counted(synced int32) int32 {
	if int64(r.Epoch) > int64(synced)+1 {
		return 0
	}
	return r.Epoch
}

// laterExit returns the exit that counts: that of the greater epoch; of one epoch, that of a worker that is done, and else
// the one that ended later. What is of an epoch that has not begun counts only if nothing else does.
func laterExit(ofPod, ofLease *protocol.WorkerExit, synced int32) *protocol.WorkerExit {
	begun := func(e *protocol.WorkerExit) bool { return e != nil && int64(e.Epoch) <= int64(synced)+1 }
	switch {
	case !begun(ofLease):
		return ofPod
	case !begun(ofPod):
		return ofLease
	}
	switch {
	case ofPod.Epoch != ofLease.Epoch:
		if ofLease.Epoch > ofPod.Epoch {
			return ofLease
		}
	case ofPod.Done != ofLease.Done:
		if ofLease.Done {
			return ofLease
		}
	case ofLease.Time.After(ofPod.Time):
		return ofLease
	}
	return ofPod
}

// SameExit reports whether two states of a Pod show the same exit of its worker.
func (m *Member) SameExit(as *Member) bool {
	if m.Exit == nil || as.Exit == nil {
		return m.Exit == as.Exit
	}
	return *m.Exit == *as.Exit
}

// laterProgress returns the progress of the greater epoch; of one epoch, that with the higher last step (P137). It decides nothing.
func laterProgress(ofPod, ofLease *protocol.ProgressReport) *protocol.ProgressReport {
	if ofLease == nil {
		return ofPod
	}
	if ofPod == nil || cmp.Or(cmp.Compare(ofLease.Epoch, ofPod.Epoch), cmp.Compare(lastStep(ofLease), lastStep(ofPod))) >= 0 {
		return ofLease
	}
	return ofPod
}

func lastStep(r *protocol.ProgressReport) int64 {
	if r.Steps == nil {
		return 0
	}
	return r.Steps.Last
}
