/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/config"
	"sigs.k8s.io/jobset/pkg/controllers/agentaccess"
	elasticcontroller "sigs.k8s.io/jobset/pkg/controllers/elastic"
	jobsetcontroller "sigs.k8s.io/jobset/pkg/controllers/jobset"
	"sigs.k8s.io/jobset/pkg/controllers/leases"
	placementcontroller "sigs.k8s.io/jobset/pkg/controllers/placement"
	"sigs.k8s.io/jobset/pkg/features"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/metrics"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/util/cert"
	"sigs.k8s.io/jobset/pkg/version"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// run runs the manager until ctx ends or something fails. It uses no globals, so
// managers with different options can run side by side.
func run(ctx context.Context, opts options) error {
	log := ctrl.LoggerFrom(ctx)
	log.Info("Starting the JobSet manager", "version", version.GitVersion, "commit", version.GitCommit)

	cfg, ignored, err := opts.configuration()
	if err != nil {
		return err
	}
	if len(ignored) > 0 {
		log.Info("Warning: the configuration is for a later release; what only that release knows is ignored", "release", cfg.Release, "ignored", ignored)
	}
	gate := features.New()
	if err := apply(cfg, gate); err != nil {
		return err
	}
	effective, err := config.Encode(cfg)
	if err != nil {
		return err
	}
	log.Info("Effective configuration", "configuration", string(effective))

	mgr, err := newManager(ctx, opts, cfg, features.Snapshot(gate))
	if err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}

// newManager returns a manager with all controllers, webhooks, metrics and checks.
func newManager(ctx context.Context, opts options, cfg *configapi.Configuration, gates gates.Set) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	clients, err := newRESTConfigs(opts.kubeconfig, cfg.ClientConnection)
	if err != nil {
		return nil, err
	}
	if err := checkMetricsCert(cfg); err != nil {
		return nil, err
	}
	webhookClients, err := clientCAs(cfg)
	if err != nil {
		return nil, err
	}
	managerOptions := newManagerOptions(cfg, webhookClients)
	managerOptions.Scheme = scheme
	managerOptions.Logger = ctrl.LoggerFrom(ctx)
	managerOptions.LeaderElectionConfig = clients.leaderElection

	mgr, err := ctrl.NewManager(clients.shared, managerOptions)
	if err != nil {
		return nil, fmt.Errorf("creating the manager: %w", err)
	}
	agents, leasePolicy, err := watchAgents(mgr, cfg, gates)
	if err != nil {
		return nil, err
	}
	cluster, err := clusterOf(cfg, clients.shared, gates)
	if err != nil {
		return nil, err
	}
	injection := injectionOf(cfg)
	injection.Server = cluster.Server
	reports, err := watchReports(ctx, mgr, injection, gates, leasePolicy)
	if err != nil {
		return nil, err
	}
	agents = append(agents, jobsetcontroller.WithLeases(reports), jobsetcontroller.WithInjection(injection), jobsetcontroller.WithTolerance(cluster.Tolerance), jobsetcontroller.WithNodeHealth(nodeHealthOf(cfg)))
	pods, err := addControllers(ctx, mgr, cfg, gates, agents)
	if err != nil {
		return nil, err
	}
	if err := webhooks.Setup(mgr, gates, cluster, pods); err != nil {
		return nil, err
	}
	if err := metrics.WatchJobSets(mgr, gates, reports.Reader()); err != nil {
		return nil, err
	}
	if err := addChecks(mgr, cfg); err != nil {
		return nil, err
	}
	return mgr, nil
}

// addControllers adds the controllers of JobSets, of exclusive placement and of elastic groups. It returns what finds Pods for the webhooks.
func addControllers(ctx context.Context, mgr ctrl.Manager, cfg *configapi.Configuration, gates gates.Set, options []jobsetcontroller.Option) (placement.Pods, error) {
	board := &elasticcontroller.Board{}
	if err := jobsetcontroller.Setup(ctx, mgr, gates, deadlinesOf(cfg), append(options, jobsetcontroller.WithVerdicts(board))...); err != nil {
		return placement.Pods{}, err
	}
	pods, err := placementcontroller.Setup(ctx, mgr, deadlinesOf(cfg))
	if err != nil || !gates.ElasticAutoscaling {
		return pods, err
	}
	return pods, elasticcontroller.Setup(ctx, mgr, board, autoscalingOf(cfg, gates))
}

// watchAgents makes the controller check, and unless configured otherwise grant, the rights of agents, if in-place
// restart is enabled. It returns the policy that restricts Leases, nil if none of them is read.
func watchAgents(mgr ctrl.Manager, cfg *configapi.Configuration, gates gates.Set) ([]jobsetcontroller.Option, *agentaccess.Policy, error) {
	if !gates.InPlaceRestart {
		return nil, nil, nil
	}
	agentPolicy, err := agentaccess.Watch(mgr, policy.PodPolicy())
	if err != nil {
		return nil, nil, err
	}
	var leasePolicy *agentaccess.Policy
	if injectionOf(cfg).LeaseReportsFrom > 0 {
		if leasePolicy, err = agentaccess.Watch(mgr, policy.LeasePolicy()); err != nil {
			return nil, nil, err
		}
	}
	metrics.ObserveAgentPolicy(agentPolicy.Gap)
	agents := []jobsetcontroller.Option{jobsetcontroller.WithAgentPolicies(agentPolicy, leasePolicy), jobsetcontroller.WithAccessReviews()}
	if createsAccess(cfg) {
		agents = append(agents, jobsetcontroller.WithAgentGrants())
	}
	return agents, leasePolicy, nil
}

// watchReports watches the Leases in which agents report, nil if none of this manager does.
func watchReports(ctx context.Context, mgr ctrl.Manager, with workerpod.Injection, gates gates.Set, guard *agentaccess.Policy) (*leases.Leases, error) {
	if !gates.InPlaceRestart || with.LeaseReportsFrom == 0 {
		return nil, nil
	}
	return leases.Watch(ctx, mgr, guard.Gap)
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the types of Kubernetes: %w", err)
	}
	if err := jobset.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the types of JobSet: %w", err)
	}
	return scheme, nil
}

// addChecks adds the rotator, if it is enabled, and the probes. Liveness means that the
// process serves, readiness that the API server can call our webhooks.
func addChecks(mgr ctrl.Manager, cfg *configapi.Configuration) error {
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("adding the liveness check: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook-server", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return fmt.Errorf("adding the readiness check of the webhook server: %w", err)
	}
	if !*cfg.InternalCertManagement.Enable {
		return nil // the certificate is managed elsewhere
	}
	certs := certOptions(cfg, cert.Namespace())
	if err := cert.AddRotator(mgr, certs); err != nil {
		return fmt.Errorf("setting up certificate rotation: %w", err)
	}
	if err := mgr.AddReadyzCheck("certificate", cert.Readiness(mgr.GetAPIReader(), certs)); err != nil {
		return fmt.Errorf("adding the readiness check of the certificate: %w", err)
	}
	return nil
}
