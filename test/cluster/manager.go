/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/test/process"
)

// ManagerOptions configures StartManager.
type ManagerOptions struct {
	// Program is the manager binary.
	Program string
	// Account is the service account it runs as, with the rights shipped for it.
	Account types.NamespacedName
	// Args are further arguments, as --feature-gates=InPlaceRestart=true.
	Args []string
	// Config are further blocks of its configuration, as YAML.
	Config string
	// Alone is a manager that elects no leader: where everything shares a few cores, a lease
	// may not be renewed in time.
	Alone bool
}

// ManagerConfig is the configuration of a manager beside a control plane on this machine:
// its certificates come as files.
type ManagerConfig struct {
	// WebhookHost, WebhookPort and CertDir are where the webhooks are served, and how.
	WebhookHost string
	WebhookPort int
	CertDir     string
	// Health is the address of the probes.
	Health string
	// More are further blocks, as YAML.
	More string
}

// Write writes the configuration file.
func (c ManagerConfig) Write(file string) error {
	text := fmt.Sprintf(`apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook: {host: %s, port: %d, certDir: %q}
health: {healthProbeBindAddress: %q}
%s`, c.WebhookHost, c.WebhookPort, c.CertDir, c.Health, c.More)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing the configuration of a manager: %w", err)
	}
	return nil
}

// StartManager starts a manager as a process of its own, with the token of its
// service account, and waits until its webhooks answer. It serves no metrics, unless the
// arguments say otherwise.
func (c *Cluster) StartManager(ctx context.Context, opts ManagerOptions) (*process.Process, error) {
	token, err := Token(ctx, c.Client, opts.Account)
	if err != nil {
		return nil, err
	}
	config, kubeconfig := filepath.Join(c.opts.Dir, "manager.yaml"), filepath.Join(c.opts.Dir, "manager.kubeconfig")
	if err := WriteKubeconfig(kubeconfig, c.Config.Host, c.Config.CAData, token); err != nil {
		return nil, err
	}
	mc := ManagerConfig{More: fmt.Sprintf(`metrics: {bindAddress: "0"}
leaderElection: {leaderElect: %t, resourceNamespace: %s}
internalCertManagement: {enable: false}
%s`, !opts.Alone, opts.Account.Namespace, opts.Config)}
	if mc.Health, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	mc.WebhookHost, mc.WebhookPort, mc.CertDir = c.Webhooks()
	if err := mc.Write(config); err != nil {
		return nil, err
	}
	p, err := c.start("manager", opts.Program, append([]string{"--config=" + config, "--kubeconfig=" + kubeconfig}, opts.Args...)...)
	if err != nil {
		return nil, err
	}
	if err := p.WaitReady(ctx, "http://"+mc.Health+"/readyz"); err != nil {
		return nil, fmt.Errorf("waiting for the manager to be ready (see %s): %w", p.LogFile, err)
	}
	return p, nil
}
