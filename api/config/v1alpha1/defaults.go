/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	componentconfig "k8s.io/component-base/config/v1alpha1"
	"k8s.io/utils/ptr"
)

// Defaults of the configuration.
const (
	DefaultWebhookPort                    = 9443
	DefaultMetricsBindAddress             = ":8443"
	DefaultHealthProbeBindAddress         = ":8081"
	DefaultResourceLock                   = "leases"
	DefaultLeaderElectionID               = "6d4f6a47.jobset.x-k8s.io"
	DefaultWebhookServiceName             = "jobset-webhook-service"
	DefaultWebhookSecretName              = "jobset-webhook-server-cert"
	DefaultClientConnectionQPS    float32 = 500
	DefaultClientConnectionBurst  int32   = 500
)

// SetDefaults_Configuration fills in what the file leaves out.
//
//nolint:revive // defaulting functions are named so everywhere in Kubernetes.
func SetDefaults_Configuration(cfg *Configuration) {
	if cfg.Webhook.Port == nil {
		cfg.Webhook.Port = ptr.To(DefaultWebhookPort)
	}
	if cfg.Metrics.BindAddress == "" {
		cfg.Metrics.BindAddress = DefaultMetricsBindAddress
	}
	if cfg.Health.HealthProbeBindAddress == "" {
		cfg.Health.HealthProbeBindAddress = DefaultHealthProbeBindAddress
	}
	setLeaderElectionDefaults(cfg)
	setInternalCertManagementDefaults(cfg)
	setClientConnectionDefaults(cfg)
}

func setLeaderElectionDefaults(cfg *Configuration) {
	if cfg.LeaderElection == nil {
		cfg.LeaderElection = &componentconfig.LeaderElectionConfiguration{}
	}
	// Before the recommended defaults: those still name a lock that client-go no longer has.
	if cfg.LeaderElection.ResourceLock == "" {
		cfg.LeaderElection.ResourceLock = DefaultResourceLock
	}
	if cfg.LeaderElection.ResourceName == "" {
		cfg.LeaderElection.ResourceName = DefaultLeaderElectionID
	}
	componentconfig.RecommendedDefaultLeaderElectionConfiguration(cfg.LeaderElection)
}

func setInternalCertManagementDefaults(cfg *Configuration) {
	if cfg.InternalCertManagement == nil {
		cfg.InternalCertManagement = &InternalCertManagement{}
	}
	certs := cfg.InternalCertManagement
	if certs.Enable == nil {
		certs.Enable = ptr.To(true)
	}
	if !*certs.Enable {
		return // names that nothing reads would only mislead
	}
	if certs.WebhookServiceName == nil {
		certs.WebhookServiceName = ptr.To(DefaultWebhookServiceName)
	}
	if certs.WebhookSecretName == nil {
		certs.WebhookSecretName = ptr.To(DefaultWebhookSecretName)
	}
}

func setClientConnectionDefaults(cfg *Configuration) {
	if cfg.ClientConnection == nil {
		cfg.ClientConnection = &ClientConnection{}
	}
	if cfg.ClientConnection.QPS == nil {
		cfg.ClientConnection.QPS = ptr.To(DefaultClientConnectionQPS)
	}
	if cfg.ClientConnection.Burst == nil {
		cfg.ClientConnection.Burst = ptr.To(DefaultClientConnectionBurst)
	}
}
