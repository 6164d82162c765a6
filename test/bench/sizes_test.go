/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import "testing"

func TestSizes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want, err string }{
		"numbers are put in order, each once": {text: "500 100  500", want: "100 500"},
		"a word is no number":                 {text: "100 many", err: `"many" is not a number of 1 or more`},
		"nothing can be measured of none":     {text: "0", err: `"0" is not a number of 1 or more`},
		"one at least":                        {text: " ", err: "no number is given"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s sizes
			var got string
			if err := s.Set(tc.text); err != nil {
				got = err.Error()
			}
			if got != tc.err || s.String() != tc.want {
				t.Errorf("got %q and error %q, want %q and %q", s.String(), got, tc.want, tc.err)
			}
		})
	}
}
