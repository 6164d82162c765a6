/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
)

// auditPolicy records who asked for what; only of the manager's status writes what they say,
// since the epochs are in it. Of a watch it keeps the beginning, of everything else the end;
// see countRequests.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Request
  verbs: [update]
  resources: [{group: jobset.x-k8s.io, resources: [jobsets/status]}]
- level: None
  nonResourceURLs: ["/healthz*", "/livez*", "/readyz*", "/metrics", "/version"]
- level: Metadata
`

// limits are how fast kube-controller-manager and kube-scheduler may go.
type limits struct {
	name string
	cluster.Controllers
}

// Nothing is set for defaultLimits: 20 requests a second, bursts of 30, and 5 Jobs at a
// time in kube-controller-manager; 50 and 100 in kube-scheduler.
var (
	defaultLimits = limits{name: "default"}
	tunedLimits   = limits{name: "tuned", Controllers: cluster.Controllers{
		Manager:   []string{"--kube-api-qps=500", "--kube-api-burst=1000", "--concurrent-job-syncs=50"},
		Scheduler: []string{"--kube-api-qps=1000", "--kube-api-burst=2000"},
	}}
)

// plane is an embedded control plane with an audit log, and with controllers whose limits
// change while it runs.
type plane struct {
	options
	*cluster.Cluster
	dir     string
	audit   string
	manager *manager
	seats   chan struct{} // see turnstile
}

func startPlane(ctx context.Context, o options, dir string) (_ *plane, err error) {
	p := &plane{
		options: o, dir: dir, audit: filepath.Join(dir, "audit.log"),
		seats: make(chan struct{}, seatsPerCPU*runtime.NumCPU()),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	if err := p.startAPIServer(); err != nil {
		return nil, err
	}
	if err := p.nameClients(ctx); err != nil {
		return nil, err
	}
	if err := p.startControllers(tunedLimits); err != nil {
		return nil, err
	}
	if err := p.Install(ctx); err != nil {
		return nil, err
	}
	if p.manager, err = p.startManager(ctx, ""); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *plane) startAPIServer() error {
	policy := filepath.Join(p.dir, "audit.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	var err error
	p.Cluster, err = cluster.Start(cluster.Options{Assets: p.Assets, Root: p.Root, Dir: p.dir, Accounts: true, APIServer: []string{
		"--audit-policy-file=" + policy, "--audit-log-path=" + p.audit,
		// Written beside the requests, not in their way; the buffer holds a whole restart.
		"--audit-log-mode=batch", "--audit-log-batch-buffer-size=200000", "--audit-log-batch-max-wait=1s",
		"--audit-log-maxsize=100000", // megabytes: one file for the whole run
	}})
	if err != nil {
		return err
	}
	p.Config.UserAgent = benchAgent
	if p.Client, err = kubernetes.NewForConfig(p.Config); err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	return nil
}

// nameClients lets nodes and controllers be who they are on a real cluster. As administrators they
// would wait in no queue of the API server, and everybody else behind them. What they may do
// is not looked at here.
func (p *plane) nameClients(ctx context.Context) error {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bench-clients"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: nodesGroup},
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "system:kube-controller-manager"},
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "system:kube-scheduler"},
		},
	}
	if _, err := p.Client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("giving nodes and controllers rights: %w", err)
	}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		config, err := clientcmd.LoadFromFile(p.Kubeconfig)
		if err != nil {
			return fmt.Errorf("reading the kubeconfig of the administrator: %w", err)
		}
		for _, user := range config.AuthInfos {
			user.Impersonate = "system:" + name
		}
		if err := clientcmd.WriteToFile(*config, p.kubeconfigOf(name)); err != nil {
			return fmt.Errorf("writing the kubeconfig of %s: %w", name, err)
		}
	}
	return nil
}

const nodesGroup = "system:nodes"

func (p *plane) kubeconfigOf(name string) string { return filepath.Join(p.dir, name+".kubeconfig") }

// patientWithNodes: heartbeats come late from nodes that share their cores with everything else, and thousands of Pods would
// be evicted. Nodes that are lost on purpose lose their Pods by our hand.
const patientWithNodes = "--node-monitor-grace-period=1h"

// startControllers starts kube-controller-manager and kube-scheduler, in place of those that run.
func (p *plane) startControllers(l limits) error {
	return p.StartControllers(cluster.Controllers{
		Manager:   append([]string{"--kubeconfig=" + p.kubeconfigOf("kube-controller-manager"), patientWithNodes}, l.Manager...),
		Scheduler: append([]string{"--kubeconfig=" + p.kubeconfigOf("kube-scheduler")}, l.Scheduler...),
	})
}

// useFlowControl puts the shipped FlowSchemas and their priority level there, or takes them away.
func (p *plane) useFlowControl(ctx context.Context, on bool) error {
	files := filepath.Join(p.Root, "config/components/flowcontrol")
	verb := []string{"delete", "--ignore-not-found"}
	if on {
		verb = []string{"apply", "--server-side"}
	}
	for _, file := range []string{"priority_level.yaml", "flow_schemas.yaml"} {
		if _, err := p.Kubectl(ctx, append(verb, "-f", filepath.Join(files, file))...); err != nil {
			return err
		}
	}
	return process.Pause(ctx, settling) // the API server notices by a watch
}

// accountExists waits for the service account that Pods here run as.
func (p *plane) accountExists(ctx context.Context) error {
	return await(ctx, "the service account exists", time.Minute, func() (bool, error) {
		_, err := p.Client.CoreV1().ServiceAccounts(corev1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil //nolint:nilerr // kube-controller-manager makes it when it is up
	})
}

// stop stops everything that was started.
func (p *plane) stop() error {
	if p.Cluster == nil {
		return nil
	}
	return p.Stop()
}
