/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ got, want string }{
		"C60: a Job":                              {JobName("js", "workers", 12), "js-workers-12"},
		"C85: a Pod's host name":                  {PodHostname("js", "workers", 1, 23), "js-workers-1-23"},
		"C86: a Job on the nodes reserved for it": {NamespacedJob("ns", "js-workers-1"), "ns_js-workers-1"},
		"C76, C341: the key of a Job, as `printf | sha1sum` says": {JobKey("default", "js-workers-0"), "3088a61cca4e2b285ba0c7152a3394241edcfbc1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
