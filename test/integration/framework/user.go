/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// User talks to the API server in a namespace of its own, and notes the warnings.
type User struct {
	client.Client
	Space    string
	Warnings []string
}

// NewUser makes a user and the namespace.
func (c *Cluster) NewUser(ctx context.Context) *User {
	GinkgoHelper()
	u := &User{Space: c.NewNamespace(ctx)}
	config := rest.CopyConfig(c.Config)
	config.WarningHandler = u
	var err error
	u.Client, err = client.New(config, client.Options{Scheme: c.Scheme})
	Expect(err).NotTo(HaveOccurred())
	return u
}

// HandleWarningHeader notes a warning.
func (u *User) HandleWarningHeader(_ int, _ string, text string) {
	u.Warnings = append(u.Warnings, text)
}
