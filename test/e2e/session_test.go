/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"io"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
)

// session is a kubectl that stays open.
type session struct {
	command *exec.Cmd
	in      io.Writer
	out     *gbytes.Buffer
}

// open starts a kubectl, which ends with the spec at the latest.
func open(ctx context.Context, args ...string) *session {
	GinkgoHelper()
	s := &session{command: exec.CommandContext(ctx, live.kubectl, args...), out: gbytes.NewBuffer()}
	s.command.Stdout, s.command.Stderr = s.out, GinkgoWriter
	var err error
	s.in, err = s.command.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(s.command.Start()).To(Succeed())
	DeferCleanup(func() {
		_ = s.command.Process.Kill()
		_ = s.command.Wait()
	})
	return s
}

func (s *session) say(line string) {
	GinkgoHelper()
	_, err := io.WriteString(s.in, line+"\n")
	Expect(err).NotTo(HaveOccurred())
}

// text is what was printed so far.
func (s *session) text() string { return string(s.out.Contents()) }

// lines are the whole lines of it.
func (s *session) lines() string {
	text := s.text()
	return text[:strings.LastIndexByte(text, '\n')+1]
}
