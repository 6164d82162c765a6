/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import "regexp"

// What is read of messages of the controller, and found nowhere else: these and no others are matched, but for how
// long a worker that hung was silent, see package progress. Tests hold each against what package policy writes.
var (
	startedMessage   = regexp.MustCompile(`(?s)^(.*); all workers of epoch (\d+) restart in place(?:, not before (\S+): (\d+) epochs in a row failed within a minute)?$`)
	completedMessage = regexp.MustCompile(`^(\d+) workers restarted in place: epoch (\d+), ([0-9.]+) seconds(?:; in epoch [^;]*)?(?:; (.*))?$`)
	syncedMessage    = regexp.MustCompile(`^all (\d+) workers have reached epoch (\d+)$`)
	// plannedMessage is a restart for which nothing failed.
	plannedMessage = regexp.MustCompile(`(?:; planned: workers have \d+ s to save their state|, and move, which does not count towards maxRestarts); all workers of epoch`)
	// startsMessage is what policy.WarmStarts writes.
	startsMessage = regexp.MustCompile(`; in epoch (\d+), (\d+) had started warm(?: \(first sign after ([0-9.]+) s\))? and (\d+) cold(?: \(first sign after ([0-9.]+) s\))?(?:; |$)`)
	// nodeOfCause and podOfCause are how causes name a node and a Pod.
	nodeOfCause = regexp.MustCompile(` on node (\S+)$`)
	podOfCause  = regexp.MustCompile(`worker pod (\S+)`)
)

// NodeOfCause returns the node that a cause names, "" if none.
func (r *Restart) NodeOfCause() string { return named(nodeOfCause, r.Cause) }

// PodOfCause returns the Pod that a cause names, "" if none.
func (r *Restart) PodOfCause() string { return named(podOfCause, r.Cause) }

func named(by *regexp.Regexp, cause string) string {
	if parts := by.FindStringSubmatch(cause); parts != nil {
		return parts[1]
	}
	return ""
}
