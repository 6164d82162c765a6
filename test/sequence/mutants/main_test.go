/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import "testing"

// A mutant whose text has gone is found here, and not only when all are put in.
func TestEveryMutantHasItsPlace(t *testing.T) {
	t.Chdir("../../..")
	for _, m := range all() {
		if m.at == "" {
			continue // it is put into the model, by its name
		}
		if _, err := m.overlay(t.TempDir()); err != nil {
			t.Errorf("mutant %q: %v", m.name, err)
		}
	}
}
