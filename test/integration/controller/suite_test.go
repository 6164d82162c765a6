/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package controller tests the JobSet controller against a real API server.
package controller

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/jobset/test/integration/framework"
)

func TestController(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "JobSet controller")
}

var cluster *framework.Cluster

// Admission lets every feature in; which of them the manager acts on is up to the spec.
var _ = BeforeSuite(func() {
	cluster = framework.Start(framework.AllGatesOn)
})

// newWorld is a namespace with a manager.
func newWorld(ctx context.Context, options ...framework.ManagerOption) *framework.World {
	GinkgoHelper()
	w := cluster.NewWorld(ctx)
	w.StartManager(options...)
	return w
}
