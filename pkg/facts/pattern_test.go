/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"runtime"
	"strings"
	"testing"
)

func TestC387PatternsCostLittle(t *testing.T) { // not parallel: Go counts the bytes of the whole process
	long := strings.Repeat("a", 3000)
	for name, tc := range map[string]struct {
		source string
		valid  bool
	}{
		"a word":                              {"OutOfMemory", true},
		"an address":                          {`node-\d{1,5}\.(?i:example)\.com`, true},
		"as long as may be":                   {long + long + long, true},
		"longer":                              {strings.Repeat(long, 4), false},
		"a long text that is repeated":        {"(?:" + long + "){1000}", false},
		"a short text that is repeated":       {"(?:" + strings.Repeat("a", 100) + "){1000}", false},
		"repetitions of repetitions":          {"(?:(?:(?:abcdefghijk){10}){10}){10}", false},
		"classes with many ranges":            {strings.Repeat(`\pL`, 3000), false},
		"a class that is repeated":            {`\pL{1000}`, false},
		"without an end":                      {"(", false},
		"a repetition that RE2 has not":       {"a{1001}", false},
		"a text without an end, and too long": {strings.Repeat("(", 2_000_000), false},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			compiled, size, err := CompilePattern(tc.source)
			runtime.ReadMemStats(&after)
			if valid := err == nil; valid != tc.valid || valid != (compiled != nil) || size < int64(len(tc.source)) {
				t.Errorf("size %d, error %v", size, err)
			}
			// The parser copies the 1,300 bounds of \pL for each of the 3,000.
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("%d MiB", used>>20)
			}
		})
	}
}
