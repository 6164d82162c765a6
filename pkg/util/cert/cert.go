/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cert issues, rotates and waits for the serving certificate of the webhooks.
//
//	Start of a fresh install          who
//	1. Secret gets CA and certificate the rotator, on the first replica that writes
//	2. webhook configurations get CA  the rotator
//	3. the files appear in Dir        the kubelet, some time after step 1
//	4. the webhook server listens     WaitForFiles, then the server
//	5. the replica is ready           Readiness: the API server trusts what we serve
//
// Liveness is served during all of it, so that a slow step 3 causes no restart.
package cert

import (
	"os"
	"strings"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	caName         = "jobset-ca"
	caOrganization = "jobset"

	// CertFile is the serving certificate, in its directory and in the Secret.
	CertFile = "tls.crt"
	// KeyFile is the key of the serving certificate, beside it.
	KeyFile = "tls.key"

	// The webhook configurations that get the CA, in kustomize and chart alike.
	validatingWebhookConfiguration = "jobset-validating-webhook-configuration"
	mutatingWebhookConfiguration   = "jobset-mutating-webhook-configuration"

	defaultNamespace = "jobset-system"
	namespaceFile    = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

// The rotator updates the webhook configurations and the Secret, and watches them to notice
// changes by others. It watches all webhook configurations, which cannot be restricted, and
// may update only ours. It may not create Secrets: installations include an empty one, and it may read and update no other, so
// webhookSecretName needs another Role.
//
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations;validatingwebhookconfigurations,verbs=list;watch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=jobset-mutating-webhook-configuration,verbs=get;update
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=jobset-validating-webhook-configuration,verbs=get;update
// +kubebuilder:rbac:groups="",namespace=system,roleName=manager-secrets-role,resources=secrets,resourceNames=jobset-webhook-server-cert,verbs=get;list;update;watch

// Options say which certificate to manage.
type Options struct {
	// Namespace is where the manager and its Secret live.
	Namespace string
	// ServiceName is the Service in front of the webhook server.
	ServiceName string
	// SecretName is the Secret that keeps the CA and the certificate.
	SecretName string
	// Dir is where the kubelet puts the files of the Secret.
	Dir string
}

// DNSName is the name by which the API server calls the webhooks.
func (o Options) DNSName() string {
	return o.ServiceName + "." + o.Namespace + ".svc"
}

// Namespace returns the namespace of this Pod, or the default one outside a Pod.
func Namespace() string {
	return namespaceFrom(namespaceFile)
}

func namespaceFrom(file string) string {
	data, err := os.ReadFile(file)
	if namespace := strings.TrimSpace(string(data)); err == nil && namespace != "" {
		return namespace
	}
	return defaultNamespace
}

// AddRotator makes the manager keep the Secret and the webhook configurations up to date.
func AddRotator(mgr manager.Manager, o Options) error {
	return rotator.AddRotator(rotatingManager{mgr, o.SecretName}, newRotator(o))
}

// newRotator leaves periods to the library: the CA is valid for 10 years and the certificate for one;
// every 12 hours the library renews what expires within 90 days.
func newRotator(o Options) *rotator.CertRotator {
	return &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: o.Namespace, Name: o.SecretName},
		CertDir:        o.Dir,
		CertName:       CertFile,
		KeyName:        KeyFile,
		CAName:         caName,
		CAOrganization: caOrganization,
		DNSName:        o.DNSName(),
		// This channel is not used: Readiness checks more than the rotator, and more
		// often, since the rotator checks with an exponential backoff.
		IsReady: make(chan struct{}),
		Webhooks: []rotator.WebhookInfo{
			{Name: validatingWebhookConfiguration, Type: rotator.Validating},
			{Name: mutatingWebhookConfiguration, Type: rotator.Mutating},
		},
		// Every replica serves webhooks and needs a certificate, not only the leader.
		RequireLeaderElection: false,
	}
}
