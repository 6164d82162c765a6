/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package a

func notATest(m map[string]string) { _ = map[string]string{"W3: not a test file": ""} }
