/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	componentconfig "k8s.io/component-base/config/v1alpha1"
	"k8s.io/utils/ptr"
)

// Defaults that SetDefaults_Configuration writes into the configuration.
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

// Defaults that hold while a field is absent. They are not written into the configuration, so that the log of the
// effective configuration shows what was chosen.
const (
	// DefaultMaxConcurrentReconciles: a JobSet that creates thousands of Jobs must not delay a group restart of another.
	DefaultMaxConcurrentReconciles int32 = 8

	// Defaults of inPlaceRestart. The longest pause is that of a kubelet.
	DefaultReports                       = ReportsAuto
	DefaultLeaseReportsFrom        int32 = 256
	DefaultCreateAccess                  = true
	DefaultAssemblyGracePeriod           = 10 * time.Minute
	DefaultPreparationGracePeriod        = time.Hour
	DefaultInPlaceForcefulDeletion       = time.Duration(0)
	DefaultNotReadyGracePeriod           = time.Minute
	DefaultQuickFailureMaxPause          = 5 * time.Minute

	// Defaults of faultTolerance, and so of spec.faultTolerance of JobSets.
	DefaultGracePeriodMaximum                 = 24 * time.Hour
	DefaultAdmissionGracePeriod               = time.Minute
	DefaultWarmupGracePeriod                  = 5 * time.Minute
	DefaultFailureGracePeriod                 = time.Minute
	DefaultRetryPause                         = 90 * time.Second
	DefaultRetryLimit                   int32 = 3
	DefaultDeletionOnFailureGracePeriod       = time.Duration(0)
	DefaultForcefulDeletion                   = true
	DefaultForcefulDeletionGracePeriod        = 10 * time.Minute
	DefaultSuccessTTL                         = 7 * 24 * time.Hour

	// Defaults of elasticAutoscaling.
	DefaultAutoscalingInterval       = 30 * time.Second
	DefaultCooldownUp                = 5 * time.Minute
	DefaultCooldownDown              = time.Duration(0)
	DefaultShrinkAfter               = 2 * time.Minute
	DefaultReservePercent      int32 = 0

	// Defaults of nodeHealth.
	DefaultInjectAntiAffinities = true
	DefaultMonitorNodes         = true
)

// DefaultAccelerators are the resources that elasticAutoscaling shares out.
func DefaultAccelerators() []corev1.ResourceName { return []corev1.ResourceName{"nvidia.com/gpu"} }

// DefaultResourceTaints are the labels of Autopilot, a health check for nodes with GPUs.
func DefaultResourceTaints() map[corev1.ResourceName][]ResourceTaint {
	return map[corev1.ResourceName][]ResourceTaint{"nvidia.com/gpu": {
		{Key: "autopilot.ibm.com/gpuhealth", Value: "ERR", Effect: corev1.TaintEffectNoSchedule},
		{Key: "autopilot.ibm.com/gpuhealth", Value: "EVICT", Effect: corev1.TaintEffectNoExecute},
	}}
}

// DefaultAgentResources are those of the agent in worker Pods that are not Guaranteed.
func DefaultAgentResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("10m"),
			corev1.ResourceMemory: resource.MustParse("32Mi"),
		},
		Limits: corev1.ResourceList{
			corev1.ResourceMemory: resource.MustParse("64Mi"),
		},
	}
}

// DefaultAgentLimits are used where the agent must have a limit. With less CPU it would take a second to report.
func DefaultAgentLimits() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("100m"),
		corev1.ResourceMemory:           resource.MustParse("64Mi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("64Mi"),
	}
}

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
