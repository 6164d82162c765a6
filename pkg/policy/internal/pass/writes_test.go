/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import "testing"

// TestEveryOpHasAName: one without a name would be missing in the log.
func TestEveryOpHasAName(t *testing.T) {
	t.Parallel()
	if 1<<len(OpNames) != endOfOps {
		t.Errorf("%d names, want one for each kind of op below %b", len(OpNames), endOfOps)
	}
}
