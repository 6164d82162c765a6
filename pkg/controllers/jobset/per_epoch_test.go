/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func TestPerEpoch(t *testing.T) {
	t.Parallel()
	var p perEpoch[string]
	expect := func(why string, epoch int32, want *string) {
		t.Helper()
		if diff := cmp.Diff(want, p.in(epoch)); diff != "" {
			t.Errorf("P21: %s: epoch %d (-want +got):\n%s", why, epoch, diff)
		}
	}
	expect("nothing was kept", 0, nil)
	p.keep(1, "one")
	p.keep(1, "two")
	expect("the first value stays", 1, ptr.To("one"))
	expect("another epoch has none", 2, nil)
	p.keep(2, "two")
	expect("the next epoch has its own", 2, ptr.To("two"))
	expect("the earlier one is forgotten", 1, nil)
}
