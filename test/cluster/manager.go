/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/jobset/test/process"
)

// ManagerOptions configures a manager.
type ManagerOptions struct {
	// Name is that of its log and configuration; "manager" if it is empty.
	Name string
	// Program is the manager binary.
	Program string
	// Server is the URL by which it reaches the API server, if that is not the API server itself.
	Server string
	// Args are further arguments, as --feature-gates=InPlaceRestart=true.
	Args []string
	// Config are further blocks of its configuration, as YAML.
	Config string
	// LeaderElection are settings of its lease, as YAML. With Alone it elects no leader: where everything
	// shares a few cores, a lease may not be renewed in time.
	LeaderElection string
	Alone          bool
}

// Manager prepares a manager as a process of its own, with the token of its service account, and says at
// which URL it will be ready. It serves no metrics, unless the arguments say otherwise. Its webhooks are those that
// the API server asks; without any, it serves some that nobody asks.
func (c *Cluster) Manager(ctx context.Context, o ManagerOptions) (_ process.Command, ready string, err error) {
	o.Name, o.Server = cmp.Or(o.Name, "manager"), cmp.Or(o.Server, c.Config.Host)
	config, kubeconfig := filepath.Join(c.opts.Dir, o.Name+".yaml"), filepath.Join(c.opts.Dir, o.Name+".kubeconfig")
	token, err := Token(ctx, c.Client, ManagerAccount)
	if err != nil {
		return process.Command{}, "", err
	}
	if err := WriteKubeconfig(kubeconfig, o.Server, c.Config.CAData, token); err != nil {
		return process.Command{}, "", err
	}
	health, err := process.FreeAddress()
	if err != nil {
		return process.Command{}, "", err
	}
	host, port, certDir := c.Webhooks()
	if len(c.webhooks.MutatingWebhooks)+len(c.webhooks.ValidatingWebhooks) == 0 {
		host, certDir = process.Localhost, c.keys.dir
		if port, err = process.FreePort(); err != nil {
			return process.Command{}, "", err
		}
	}
	text := fmt.Sprintf(`apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook: {host: %s, port: %d, certDir: %q}
health: {healthProbeBindAddress: %q}
metrics: {bindAddress: "0"}
leaderElection: {leaderElect: %t, resourceNamespace: %s, %s}
internalCertManagement: {enable: false}
%s`, host, port, certDir, health, !o.Alone, ManagerAccount.Namespace, o.LeaderElection, o.Config)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return process.Command{}, "", fmt.Errorf("writing the configuration of a manager: %w", err)
	}
	args := append([]string{"--config=" + config, "--kubeconfig=" + kubeconfig}, o.Args...)
	return process.Command{Dir: c.opts.Dir, Name: o.Name, Program: o.Program, Args: args}, "http://" + health + "/readyz", nil
}

// StartManager starts a manager, and waits until its webhooks answer.
func (c *Cluster) StartManager(ctx context.Context, o ManagerOptions) (*process.Process, error) {
	command, ready, err := c.Manager(ctx, o)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(command)
	if err != nil {
		return nil, err
	}
	c.managers = append(c.managers, p)
	return p, p.WaitReady(ctx, ready)
}
