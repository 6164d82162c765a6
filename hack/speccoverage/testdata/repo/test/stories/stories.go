/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package stories is test data: stories that suites tell.
package stories

import . "github.com/onsi/ginkgo/v2"

func tell() {
	Describe("a JobSet", func() {
		It("C8: has a story", func() { By("C9: a step is no name") })
		PIt("C9: is pending", func() {})
	})
}
