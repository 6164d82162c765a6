/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/util/bounded"
	"sigs.k8s.io/jobset/pkg/util/cert"
	"sigs.k8s.io/jobset/pkg/util/tlsconfig"
	"sigs.k8s.io/jobset/pkg/util/useragent"
)

// restConfigs are the client configurations for the API server.
type restConfigs struct {
	// shared is for the controllers, with one rate limiter: without it each client, and there is one per kind, would have
	// its own. The webhooks and the metrics server make clients of their own from it: strangers decide what these ask (O77a).
	shared *rest.Config
	// leaderElection does not share that limiter: a busy leader would lose its lease.
	leaderElection *rest.Config
}

func newRESTConfigs(kubeconfig string, limits *configapi.ClientConnection) (restConfigs, error) {
	base, err := loadRESTConfig(kubeconfig)
	if err != nil {
		return restConfigs{}, fmt.Errorf("finding the API server: %w", err)
	}
	base.UserAgent = cmp.Or(base.UserAgent, useragent.Default())
	// Log each warning of the API server once, not once per request.
	base.WarningHandlerWithContext = ctrllog.NewKubeAPIWarningLogger(ctrllog.KubeAPIWarningLoggerOptions{Deduplicate: true})
	base.QPS, base.Burst = *limits.QPS, int(*limits.Burst)

	shared := rest.CopyConfig(base)
	if base.QPS > 0 {
		shared.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(base.QPS, base.Burst)
	}
	return restConfigs{shared: shared, leaderElection: base}, nil
}

// loadRESTConfig does not use the --kubeconfig flag of controller-runtime, which is a global.
func loadRESTConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return ctrl.GetConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

// newManagerOptions returns the options for a valid configuration. If webhookClients is nil, the webhooks answer all clients.
func newManagerOptions(cfg *configapi.Configuration, webhookClients *x509.CertPool) ctrl.Options {
	tlsOptions, _ := tlsconfig.Parse(cfg.TLS, nil) // valid, so no errors
	election := cfg.LeaderElection
	return ctrl.Options{
		Cache:                  newCacheOptions(),
		Controller:             newControllerOptions(cfg),
		Metrics:                newMetricsOptions(cfg, tlsOptions),
		WebhookServer:          newWebhookServer(cfg, tlsOptions, webhookClients),
		HealthProbeBindAddress: cfg.Health.HealthProbeBindAddress,
		ReadinessEndpointName:  endpointPath(cfg.Health.ReadinessEndpointName),
		LivenessEndpointName:   endpointPath(cfg.Health.LivenessEndpointName),

		LeaderElection:             *election.LeaderElect,
		LeaderElectionResourceLock: election.ResourceLock,
		LeaderElectionID:           election.ResourceName,
		LeaderElectionNamespace:    election.ResourceNamespace,
		LeaseDuration:              &election.LeaseDuration.Duration,
		RenewDeadline:              &election.RenewDeadline.Duration,
		RetryPeriod:                &election.RetryPeriod.Duration,
		// The process ends right after the manager, so nothing acts on a lease that was given up.
		LeaderElectionReleaseOnCancel: true,
	}
}

// newCacheOptions makes reads of kinds without an informer fail. By default such a read would
// silently start a watch of that kind in the whole cluster.
func newCacheOptions() cache.Options {
	options := controllers.CacheOptions()
	options.ReaderFailOnMissingInformer = true
	return options
}

func deadlinesOf(cfg *configapi.Configuration) policy.Deadlines {
	deadlines := policy.Deadlines{
		Assembly: configapi.DefaultAssemblyGracePeriod, Preparation: configapi.DefaultPreparationGracePeriod, ForcefulDeletion: configapi.DefaultInPlaceForcefulDeletion,
		NotReady: configapi.DefaultNotReadyGracePeriod, QuickFailurePause: configapi.DefaultQuickFailureMaxPause,
	}
	given := ptr.Deref(cfg.InPlaceRestart, configapi.InPlaceRestart{})
	setGiven(&deadlines.Assembly, given.AssemblyGracePeriod)
	setGiven(&deadlines.Preparation, given.PreparationGracePeriod)
	setGiven(&deadlines.ForcefulDeletion, given.ForcefulDeletionGracePeriod)
	setGiven(&deadlines.NotReady, given.NotReadyGracePeriod)
	setGiven(&deadlines.QuickFailurePause, given.QuickFailureMaxPause)
	return deadlines
}

func newControllerOptions(cfg *configapi.Configuration) ctrlconfig.Controller {
	given := ptr.Deref(cfg.Controller, configapi.Controller{})
	return ctrlconfig.Controller{
		MaxConcurrentReconciles: int(ptr.Deref(given.MaxConcurrentReconciles, configapi.DefaultMaxConcurrentReconciles)),
		// The check of controller names is process-wide and would refuse a second manager
		// in the process.
		SkipNameValidation: ptr.To(true),
	}
}

func newMetricsOptions(cfg *configapi.Configuration, tlsOptions tlsconfig.Options) metricsserver.Options {
	return metricsserver.Options{
		BindAddress:    cfg.Metrics.BindAddress,
		CertDir:        cfg.Metrics.CertDir,
		SecureServing:  true,
		FilterProvider: bounded.MetricsFilter,
		TLSOpts:        []func(*tls.Config){tlsOptions.Apply, tlsconfig.HTTP1Only},
	}
}

// checkMetricsCert fails if the metrics server has a certificate directory without a certificate.
// The server would create its own, and scrapers that verify it would fail without a log line here.
func checkMetricsCert(cfg *configapi.Configuration) error {
	if cfg.Metrics.CertDir == "" || cfg.Metrics.BindAddress == "0" {
		return nil
	}
	if err := cert.CheckFiles(cfg.Metrics.CertDir); err != nil {
		return fmt.Errorf("reading the certificate of the metrics server from metrics.certDir: %w", err)
	}
	return nil
}

// endpointPath adds the leading slash without which a mux would take a name for a host.
func endpointPath(name string) string {
	if name == "" {
		return "" // the default of controller-runtime
	}
	return "/" + strings.TrimPrefix(name, "/")
}

func certOptions(cfg *configapi.Configuration, namespace string) cert.Options {
	return cert.Options{
		Namespace:   namespace,
		ServiceName: *cfg.InternalCertManagement.WebhookServiceName,
		SecretName:  *cfg.InternalCertManagement.WebhookSecretName,
		Dir:         webhookCertDir(cfg),
	}
}
