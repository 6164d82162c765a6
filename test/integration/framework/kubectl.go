/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// Kubectl runs kubectl with all rights and returns what it prints.
func (c *Cluster) Kubectl(args ...string) string {
	GinkgoHelper()
	output, err := c.plane.Kubectl(context.Background(), args...)
	Expect(err).NotTo(HaveOccurred())
	return output
}

// Kustomization makes a directory that puts a component of the repository into a namespace.
func (c *Cluster) Kustomization(namespace, component string) string {
	GinkgoHelper()
	dir, err := filepath.EvalSymlinks(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	target, err := filepath.EvalSymlinks(filepath.Join(c.Root, component))
	Expect(err).NotTo(HaveOccurred())
	relative, err := filepath.Rel(dir, target)
	Expect(err).NotTo(HaveOccurred())
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: " + namespace + "\nresources:\n- " + relative + "\n"
	Expect(os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600)).To(Succeed())
	return dir
}

// Kubeconfig is a file with all rights.
func (c *Cluster) Kubeconfig() string { return c.plane.Kubeconfig }

// SigningKey is the file with the key by which the API server signs tokens of service accounts.
func (c *Cluster) SigningKey() string { return c.plane.SigningKey() }
