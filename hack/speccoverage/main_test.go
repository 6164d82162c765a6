/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const wantReport = `      ids  carried  with a reason  missing
S       0        0              0        0
W       4        2              0        2
C      10        8              1        1
O       0        0              0        0
P       0        0              0        0
all    14       10              1        3

not carried by any test, and without a reason (3):
  W3 W4
  C9

with a reason to have no test, and carried after all (1):
  C11

carried by tests, and unknown to the contract:
  C77 in the name of a test is no id of the contract: pkg/a/a_test.go:32
`

func TestRun(t *testing.T) {
	tests := map[string]struct {
		args     []string
		wantOut  string
		wantCode int
	}{
		"the report counts names of tests and nothing else": {
			args: []string{"--root=testdata/repo"}, wantOut: wantReport,
		},
		"strict fails if a test is missing": {
			args: []string{"--root=testdata/repo", "--strict"}, wantOut: wantReport, wantCode: 1,
		},
		"check prints problems alone": {
			args:     []string{"--root=testdata/repo", "--check"},
			wantOut:  "C77 in the name of a test is no id of the contract: pkg/a/a_test.go:32\n",
			wantCode: 1,
		},
		"a contract that is not there is an error": {
			args: []string{"--root=testdata/repo", "--contract=nowhere.md"}, wantCode: 2,
		},
		"an unknown flag is an error": {
			args: []string{"--unknown"}, wantCode: 2,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := run(tc.args, &out, &errs); code != tc.wantCode {
				t.Errorf("exit code %d, want %d; %s", code, tc.wantCode, errs.String())
			}
			if diff := cmp.Diff(tc.wantOut, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if (tc.wantCode == 2) != (errs.Len() > 0) {
				t.Errorf("on standard error: %q", errs.String())
			}
		})
	}
}
