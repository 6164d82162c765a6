/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sizes is a flag: numbers of something, in ascending order.
type sizes []int

// String implements flag.Value.
func (s *sizes) String() string { return strings.Trim(fmt.Sprint([]int(*s)), "[]") }

// Set implements flag.Value.
func (s *sizes) Set(text string) error {
	var parsed sizes
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
