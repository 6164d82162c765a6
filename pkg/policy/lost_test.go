/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"
)

// TestANodeThatStaysLost: what cannot help is not done again and again (P24, P25).
func TestANodeThatStaysLost(t *testing.T) {
	t.Parallel()
	lost := func(in *Input) {
		in.Deadlines.ForcefulDeletion, in.NotReady = time.Minute, map[string]bool{"node": true}
	}
	tellAll(t, map[string]story{
		"C266: a Pod that a lost node does not let go is not replaced by recreating all": {given: []func(*Input){deadline}, moments: []moment{
			{"both run", "1|1", "0/1", nil},
			{"a Pod stays on a lost node", "T1|1", "1/1, 1 in place", nil},
			{"the other is back", "T1|2", "1/1, 1 in place", nil},
			{"twice the deadline", "T1|2", "1/1, 1 in place", later(2 * period)},
			{"somebody removes it", ".|2", "1/1, 1 in place", nil},
		}},
		"C266: while Jobs of an earlier attempt still terminate nothing more is charged": {given: []func(*Input){deadline}, moments: []moment{
			{"both run", "1|1", "0/1", nil},
			{"a Pod stays on a lost node", "T1|1", "1/1, 1 in place", nil},
			{"a Job fails", "T1|F1", "1/1, 1 in place, 1 restarts, 1 counted", onJob(1, failed)},
			{"it is recreated", "T1|2", "1/1, 1 in place, 1 restarts, 1 counted", gone("js-w-1")},
			{"twice the deadline", "T1|2", "1/1, 1 in place, 1 restarts, 1 counted", later(2 * period)},
			{"and again", "T1|2", "1/1, 1 in place, 1 restarts, 1 counted", later(2 * period)},
		}},
		"C266: such a Pod of an earlier attempt is deleted by force too": {given: []func(*Input){deadline}, moments: []moment{
			{"both run", "1|1", "0/1", nil},
			{"a Pod stays on a node", "T1|1", "1/1, 1 in place", nil},
			{"a Job fails", "T1|F1", "1/1, 1 in place, 1 restarts, 1 counted", onJob(1, failed)},
			{"it is recreated", "T1|2", "1/1, 1 in place, 1 restarts, 1 counted", gone("js-w-1")},
			{"the node is lost", "T1|2", "1/1, 1 in place, 1 restarts, 1 counted, deletes js-w-0-0", func(in *Input) { lost(in); later(time.Minute)(in) }},
		}},
		"C266: and if no other Job is left": {given: []func(*Input){deadline}, moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"a Pod stays on a node", "T1 1", "1/1, 1 in place", nil},
			{"the Job fails", "T1 F1", "1/1, 1 in place, 1 restarts, 1 counted", onJob(0, failed)},
			{"the node is lost", "T1 .", "1/1, 1 in place, 1 restarts, 1 counted, deletes js-w-0-0", func(in *Input) { lost(in); later(time.Minute)(in) }},
		}},
	})
}
