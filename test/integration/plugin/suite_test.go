/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package plugin runs `kubectl jobset` by kubectl against a real API server.
package plugin

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/jobset/test/integration/framework"
)

func TestPlugin(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "kubectl plugin")
}

var (
	cluster *framework.Cluster
	// path is what PATH was, with the directory of the plugin and that of kubectl in front.
	path string
)

var _ = SynchronizedBeforeSuite(func(ctx SpecContext) []byte {
	dir := framework.Build(ctx, "./cmd/kubectl-jobset")
	completion, err := os.ReadFile(filepath.Join(framework.Root(), "cmd", "kubectl-jobset", "kubectl_complete-jobset"))
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(dir, "kubectl_complete-jobset"), completion, 0o700)).To(Succeed())
	return []byte(dir)
}, func(dir []byte) {
	cluster = framework.Start(framework.AllGatesOn)
	path = string(dir) + string(os.PathListSeparator) + os.Getenv(framework.AssetsEnv) + string(os.PathListSeparator) + os.Getenv("PATH")
})

// answer is what a command printed and how it ended.
type answer struct {
	Out, Err string
	Code     int
}

// kubectl finds the plugin on PATH.
func kubectl(ctx context.Context, args ...string) answer {
	GinkgoHelper()
	command := exec.CommandContext(ctx, filepath.Join(os.Getenv(framework.AssetsEnv), "kubectl"), args...)
	command.Env = append(os.Environ(), "PATH="+path, "KUBECONFIG="+cluster.Kubeconfig())
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	_ = command.Run()
	Expect(command.ProcessState).NotTo(BeNil(), "kubectl did not start")
	return answer{Out: out.String(), Err: errs.String(), Code: command.ProcessState.ExitCode()}
}

// restarts runs `kubectl jobset restarts`, which must succeed.
func restarts(ctx context.Context, args ...string) string {
	GinkgoHelper()
	a := kubectl(ctx, append([]string{"jobset", "restarts"}, args...)...)
	Expect(a.Code).To(BeZero(), "kubectl jobset restarts %v: %s", args, a.Err)
	return a.Out
}
