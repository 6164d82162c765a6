/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentconfig "k8s.io/component-base/config/v1alpha1"
)

// Configuration is the configuration of the JobSet manager, as the file named by
// --config holds it. A flag on the command line overrides the file, and the
// file overrides the default. Unknown and duplicate keys are errors, unless release says
// that the file is for a later minor release than the manager.
//
// +kubebuilder:object:root=true
type Configuration struct {
	metav1.TypeMeta `json:",inline"`

	// release is the minor release of JobSet that the file is for, such as v0.13. An earlier
	// manager, after a rollback, ignores keys and feature gates of the file that it does not
	// know, and logs them; unknown keys in tls are errors even then. Default: empty, that of the
	// manager.
	// +optional
	Release string `json:"release,omitempty"`

	// In Go, the settings of servers and of the leader are a struct of their own, as in JobSet v0.12.
	ControllerManager `json:",inline"`

	// tls restricts TLS on the webhook server and on the metrics server.
	// Absent: TLS 1.2 or newer with the cipher suites that Go chooses.
	// +optional
	TLS *TLSOptions `json:"tls,omitempty"`

	// internalCertManagement lets the manager issue and rotate the certificate of its webhooks.
	// +optional
	InternalCertManagement *InternalCertManagement `json:"internalCertManagement,omitempty"`

	// clientConnection limits how fast the manager talks to the API server.
	// +optional
	ClientConnection *ClientConnection `json:"clientConnection,omitempty"`

	// controller configures the reconcilers.
	// +optional
	Controller *Controller `json:"controller,omitempty"`

	// inPlaceRestart configures agents and sets how long a group of workers may take to assemble.
	// +optional
	InPlaceRestart *InPlaceRestart `json:"inPlaceRestart,omitempty"`

	// faultTolerance sets the defaults of spec.faultTolerance of JobSets, and the maximum that they may
	// ask for.
	// +optional
	FaultTolerance *FaultTolerance `json:"faultTolerance,omitempty"`

	// elasticAutoscaling says how the manager plans the sizes of elastic ReplicatedJobs.
	// +optional
	ElasticAutoscaling *ElasticAutoscaling `json:"elasticAutoscaling,omitempty"`

	// nodeHealth says which nodes JobSets with spec.faultTolerance keep away from and move off.
	// It applies with gate FaultTolerance only.
	// +optional
	NodeHealth *NodeHealth `json:"nodeHealth,omitempty"`

	// featureGates turns features on or off by name. A gate given with --feature-gates overrides
	// its entry here; the other entries still apply. An unknown name is an error, and
	// so is another value for a locked gate. Absent: each gate at its default.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// ControllerManager has those settings of Configuration that are about servers and the leader. In a file they stand beside the others.
type ControllerManager struct {
	// webhook configures the server that answers admission reviews.
	// +optional
	Webhook Webhook `json:"webhook"`

	// metrics configures the server that Prometheus scrapes.
	// +optional
	Metrics Metrics `json:"metrics"`

	// health configures the server of the liveness and readiness probes.
	// +optional
	Health Health `json:"health"`

	// leaderElection makes one replica the leader. Only the leader reconciles; webhooks,
	// probes, metrics and certificates run on every replica.
	//
	// Defaults: leaderElect true, leaseDuration 15s, renewDeadline 10s, retryPeriod 2s,
	// resourceLock "leases" (no other value works), resourceName "6d4f6a47.jobset.x-k8s.io"
	// and resourceNamespace empty, which means the namespace the Pod runs in. While it is
	// on, leaseDuration > renewDeadline > 1.2 * retryPeriod > 0.
	// +optional
	LeaderElection *componentconfig.LeaderElectionConfiguration `json:"leaderElection,omitempty"`
}

// ControllerWebhook, ControllerMetrics and ControllerHealth are the names of these types in JobSet v0.12.
type (
	ControllerWebhook = Webhook
	ControllerMetrics = Metrics
	ControllerHealth  = Health
)

// Webhook configures the server that answers admission reviews.
type Webhook struct {
	// port is the TCP port that the server listens on, 1 to 65535. Default: 9443.
	// +optional
	Port *int `json:"port,omitempty"`

	// host is the address that the server listens on. Default: empty, every address.
	// +optional
	Host string `json:"host,omitempty"`

	// certDir is the directory of the serving certificate, in files tls.crt and tls.key,
	// which are read again when they change.
	// Default: empty, k8s-webhook-server/serving-certs in the directory for temporary files.
	// +optional
	CertDir string `json:"certDir,omitempty"`

	// clientCAFile is a file with the certificates, in PEM form, of the authorities whose clients the server answers.
	// The API server then needs a client certificate of one of them, in the kubeconfig for webhooks of its
	// --admission-control-config-file. All of their clients are answered, so use an authority of its own. The file is read
	// once, at the start. Default: empty, whoever reaches the port is answered.
	// +optional
	ClientCAFile string `json:"clientCAFile,omitempty"`
}

// Metrics configures the server that Prometheus scrapes. It always uses TLS, and it answers
// only clients that may "get" the non-resource URL /metrics.
type Metrics struct {
	// bindAddress is the address, host:port, that the server listens on. "0" disables the
	// server; "" does not, it means the default. Default: ":8443".
	// +optional
	BindAddress string `json:"bindAddress,omitempty"`

	// certDir is the directory of the serving certificate, in files tls.crt and tls.key,
	// which are read again when they change. If it is given, the manager does not start
	// without them: to the scraper a self-signed certificate would look like an
	// attack. Default: empty, k8s-metrics-server/serving-certs in the directory for
	// temporary files if they are there, else a self-signed certificate.
	// +optional
	CertDir string `json:"certDir,omitempty"`
}

// Health configures the server of the liveness and readiness probes.
type Health struct {
	// healthProbeBindAddress is the address, host:port, that the server listens on. "0"
	// disables the server; "" does not, it means the default. Default: ":8081".
	// +optional
	HealthProbeBindAddress string `json:"healthProbeBindAddress,omitempty"`

	// readinessEndpointName is the path that reports whether the webhooks of this replica
	// answer, with or without a leading slash. Default: empty, "readyz".
	// +optional
	ReadinessEndpointName string `json:"readinessEndpointName,omitempty"`

	// livenessEndpointName is the path that reports whether the process is alive, with or without
	// a leading slash. Default: empty, "healthz".
	// +optional
	LivenessEndpointName string `json:"livenessEndpointName,omitempty"`
}

// TLSOptions restricts TLS.
type TLSOptions struct {
	// minVersion is the oldest version of TLS that clients may use, VersionTLS12 or
	// VersionTLS13. Default: empty, VersionTLS12.
	// +optional
	MinVersion string `json:"minVersion,omitempty"`

	// cipherSuites are the cipher suites that clients may use, by their IANA names, for
	// example TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256. They apply only to TLS 1.2, because Go
	// does not allow restricting TLS 1.3; therefore they exclude minVersion VersionTLS13.
	// Default: empty, the suites that Go chooses.
	// +optional
	CipherSuites []string `json:"cipherSuites,omitempty"`
}

// InternalCertManagement lets the manager issue and rotate the certificate of its webhooks.
type InternalCertManagement struct {
	// enable turns it on. If false, another component, such as cert-manager, puts the certificate in
	// webhook.certDir and the CA in the webhook configurations. Default: true.
	// +optional
	Enable *bool `json:"enable,omitempty"`

	// webhookServiceName is the name of the Service in front of the webhook server, a
	// DNS-1035 label. Read only if enable is true. Default: "jobset-webhook-service".
	// +optional
	WebhookServiceName *string `json:"webhookServiceName,omitempty"`

	// webhookSecretName is the name of the Secret that keeps the CA and the certificate, a
	// DNS-1123 subdomain. It has to exist: the manager fills it and may not create it, and reads
	// no other than the one that Role jobset-manager-secrets-role names. Read only if enable is true. Default: "jobset-webhook-server-cert".
	// +optional
	WebhookSecretName *string `json:"webhookSecretName,omitempty"`
}

// ClientConnection limits how fast the manager talks to the API server. The controllers share
// the limit. The webhooks have another of the same size, and the metrics server one of 10 requests
// per second, so that nobody but the controllers uses up theirs. Leader election is not limited.
type ClientConnection struct {
	// qps is how many requests per second may be sent on average, more than 0. A negative
	// value turns the limit off and leaves it to the API server's priority and fairness; 0
	// is refused, because it would silently mean another number. Default: 500.
	// +optional
	QPS *float32 `json:"qps,omitempty"`

	// burst is how many requests may be sent at once after a quiet period, at least 1.
	// Ignored if qps is negative. Default: 500.
	// +optional
	Burst *int32 `json:"burst,omitempty"`
}

const (
	// ReportsAuto means Lease in JobSets of at least leaseReportsFrom workers, else Pod.
	ReportsAuto ReportPlace = "Auto"
	// ReportsOnPod means in annotations of the agent's Pod.
	ReportsOnPod ReportPlace = "Pod"
	// ReportsInLease means in annotations of the agent's own Lease, in process mode.
	ReportsInLease ReportPlace = "Lease"
)

// Controller configures the reconcilers.
type Controller struct {
	// maxConcurrentReconciles is how many JobSets, and how many Pods, are reconciled at the
	// same time, 1 to 1000; one object is never reconciled twice at once. More help if
	// many JobSets start together and clientConnection leaves room. Default: 8.
	// +optional
	MaxConcurrentReconciles *int32 `json:"maxConcurrentReconciles,omitempty"`
}
