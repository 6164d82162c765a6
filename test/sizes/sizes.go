/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package sizes reads the numbers that a benchmark is to measure from its flags.
package sizes

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Sizes is a flag: numbers of something, in ascending order.
type Sizes []int

// String implements flag.Value.
func (s *Sizes) String() string { return strings.Trim(fmt.Sprint([]int(*s)), "[]") }

// Set implements flag.Value.
func (s *Sizes) Set(text string) error {
	var parsed Sizes
	for _, field := range strings.Fields(text) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of 1 or more", field)
		}
		parsed = append(parsed, n)
	}
	if len(parsed) == 0 {
		return errors.New("no number is given")
	}
	slices.Sort(parsed)
	*s = slices.Compact(parsed)
	return nil
}
