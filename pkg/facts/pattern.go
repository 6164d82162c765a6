/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// MaxPatternSize is the largest size of a pattern that is compiled, and of all patterns of a JobSet together at admission.
const MaxPatternSize = 10_000

// CompilePattern compiles a regular expression for messages of Jobs (C126). It fails for one that is not in RE2 syntax or larger than
// MaxPatternSize: 3 kB of text that are repeated 1,000 times take hundreds of megabytes. The size is that of the expression with
// its repetitions written out, which memory and time follow; that of one that fails is at least its length.
func CompilePattern(source string) (compiled *regexp.Regexp, size int64, err error) {
	size = int64(len(source))
	if size <= MaxPatternSize { // what is parsed takes memory as well
		parsed, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			return nil, size, fmt.Errorf("must be a regular expression in RE2 syntax: %w", err)
		}
		size = max(size, writtenOut(parsed))
	}
	if size > MaxPatternSize {
		return nil, size, fmt.Errorf("must be at most %d characters with its repetitions written out, and has %d: use * and + instead of numbers",
			MaxPatternSize, size)
	}
	compiled, err = regexp.Compile(source)
	if err != nil {
		return nil, size, fmt.Errorf("must be a regular expression in RE2 syntax: %w", err)
	}
	return compiled, size, nil
}

// writtenOut is the size of an expression with its repetitions written out. The parser allows products of repetitions
// up to 1,000, so this cannot overflow. A character class counts by its bounds.
func writtenOut(e *syntax.Regexp) int64 {
	size := max(int64(len(e.Rune)), 1)
	for _, part := range e.Sub {
		size += writtenOut(part)
	}
	if e.Op == syntax.OpRepeat {
		size *= int64(max(e.Min, e.Max, 1))
	}
	return size
}
