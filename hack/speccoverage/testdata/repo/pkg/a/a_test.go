/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package a is test data: each id stands where it does, or does not, count.
package a

import (
	"fmt"
	"testing"
)

// W4 in a comment carries nothing.
func TestTable(t *testing.T) {
	for name, want := range map[string]string{
		"W1: a row":          "W3 as a value carries nothing",
		"W2, C1..C3: a list": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Errorf("W3 in a message carries nothing: %s", want)
		})
	}
	t.Run(fmt.Sprintf("C4: case %d", 1), func(t *testing.T) {})
	t.Run("C11: "+t.Name(), func(t *testing.T) {})
	t.Run("C55 is for later, and Q7, HTTP2 and C1000 are no ids", func(t *testing.T) {})
}

func TestC7AndHTTP2(t *testing.T) {
	outer(t, 1, "C6: handed on twice")
	check := func(name string) { t.Run(name, func(t *testing.T) {}) }
	check("C77: by a closure, and unknown")
}

func outer(t *testing.T, _ int, name string) { inner("prefix "+name, t) }

func inner(name string, t *testing.T) { t.Run(name, func(t *testing.T) {}) }
