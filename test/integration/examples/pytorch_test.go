/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package examples

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The training of examples/pytorch", func() {
	It("P123: has less than 120 lines, none of them long, so that users can read it whole", func() {
		program, err := os.ReadFile(filepath.Join(root, "examples", "pytorch", "train.py"))
		Expect(err).NotTo(HaveOccurred())
		lines := strings.Split(strings.TrimSuffix(string(program), "\n"), "\n")
		Expect(len(lines)).To(BeNumerically("<", 120), "lines")
		for i, line := range lines {
			Expect(len(line)).To(BeNumerically("<=", 130), "characters of line %d", i+1)
		}
	})
})
