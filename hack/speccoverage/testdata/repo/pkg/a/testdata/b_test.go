/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package b

import "testing"

func TestData(t *testing.T) { t.Run("W3: test data of a test is not read", func(t *testing.T) {}) }
