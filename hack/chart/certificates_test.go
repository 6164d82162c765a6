/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
)

const injectCAFrom = "cert-manager.io/inject-ca-from"

func TestInternalCertificates(t *testing.T) {
	objects := release{}.objects(t)
	secret := find(t, objects, "Secret jobset-webhook-server-cert")
	if secret == nil {
		t.Fatal("O156, O265: there is no Secret for the manager to write to")
	}
	for _, key := range []string{"data", "stringData"} {
		if _, ok := secret[key]; ok {
			t.Errorf("O156, O265: the Secret has a key %s, which upgrades would fight for with the manager", key)
		}
	}
	for _, o := range objects {
		if slices.Contains([]string{"Certificate", "Issuer"}, o.kind()) || o.texts("metadata", "annotations")[injectCAFrom] != "" {
			t.Errorf("O148: %s is for cert-manager", o.id())
		}
	}
}

func TestCertManager(t *testing.T) {
	certificate := func(service, secret string, issuer map[string]any) map[string]any {
		return map[string]any{
			"secretName":  secret,
			"dnsNames":    []any{service + ".jobset-system.svc", service + ".jobset-system.svc.cluster.local"},
			"duration":    "8760h",
			"renewBefore": "720h",
			"usages":      []any{"digital signature", "key encipherment", "server auth", "client auth"},
			"issuerRef":   issuer,
		}
	}
	tests := map[string]struct {
		values     string
		wantRef    map[string]any
		wantIssuer bool
	}{
		"O149, O159, O266: without an issuer there is a CA, which is self-signed": {
			values:     `certManager: {enable: true}`,
			wantRef:    map[string]any{"kind": "Issuer", "name": "jobset-ca-issuer"},
			wantIssuer: true,
		},
		"O149, O266: another issuer takes its place": {
			values:  `certManager: {enable: true, issuerRef: {kind: ClusterIssuer, name: company-ca, group: example.com}}`,
			wantRef: map[string]any{"kind": "ClusterIssuer", "name": "company-ca", "group": "example.com"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			objects := release{values: tc.values}.objects(t)
			for id, want := range map[string]map[string]any{
				"Certificate jobset-cert":         certificate("jobset-webhook-service", "jobset-webhook-server-cert", tc.wantRef),
				"Certificate jobset-metrics-cert": certificate("jobset-metrics-service", "jobset-metrics-server-cert", tc.wantRef),
			} {
				if diff := cmp.Diff(any(want), find(t, objects, id)["spec"]); diff != "" {
					t.Errorf("O148: %s (-want +got):\n%s", id, diff)
				}
			}
			for id, want := range map[string]map[string]any{
				"Issuer jobset-self-signed-issuer": {"selfSigned": map[string]any{}},
				"Issuer jobset-ca-issuer":          {"ca": map[string]any{"secretName": "jobset-ca"}},
				"Certificate jobset-ca": {
					"isCA": true, "commonName": "jobset-ca", "subject": map[string]any{"organizations": []any{"jobset"}},
					"duration": "87600h", "renewBefore": "8760h", "secretName": "jobset-ca",
					"issuerRef": map[string]any{"kind": "Issuer", "name": "jobset-self-signed-issuer"},
				},
			} {
				switch o := find(t, objects, id); {
				case (o != nil) != tc.wantIssuer:
					t.Errorf("O149: there is a %s: %t, want %t", id, o != nil, tc.wantIssuer)
				case o != nil && !cmp.Equal(o["spec"], any(want)):
					t.Errorf("O266: %s (-want +got):\n%s", id, cmp.Diff(any(want), o["spec"]))
				}
			}
			if find(t, objects, "Secret jobset-webhook-server-cert") != nil {
				t.Error("O148, O265: there is a Secret, which cert-manager makes itself")
			}
			for _, id := range []string{"Role jobset-manager-secrets-role", "RoleBinding jobset-manager-secrets-rolebinding"} {
				if find(t, objects, id) != nil {
					t.Errorf("there is a %s, though the manager has no Secret to write", id)
				}
			}
			for _, id := range []string{mutating, validating} {
				if got := find(t, objects, id).texts("metadata", "annotations")[injectCAFrom]; got != "jobset-system/jobset-cert" {
					t.Errorf("O148: %s gets its CA from %q, want jobset-system/jobset-cert", id, got)
				}
			}
		})
	}
}

func TestClusterDomain(t *testing.T) {
	objects := release{values: `{kubernetesClusterDomain: example.org, certManager: {enable: true}}`}.objects(t)
	spec := find(t, objects, "Certificate jobset-cert")["spec"].(map[string]any)
	want := []any{"jobset-webhook-service.jobset-system.svc", "jobset-webhook-service.jobset-system.svc.example.org"}
	if diff := cmp.Diff(want, spec["dnsNames"]); diff != "" {
		t.Errorf("O153: names (-want +got):\n%s", diff)
	}
}

const (
	mutating   = "MutatingWebhookConfiguration jobset-mutating-webhook-configuration"
	validating = "ValidatingWebhookConfiguration jobset-validating-webhook-configuration"
)

func TestWebhooks(t *testing.T) {
	for name, service := range map[string]string{"jobset": "jobset-webhook-service", "training": "training-jobset-webhook-service"} {
		t.Run("W132: release "+name+" has the one pair of configurations of a cluster, which asks its own Service", func(t *testing.T) {
			objects := release{name: name, namespace: "other", values: `webhook: {failurePolicy: Ignore}`}.objects(t)
			port := decode[corev1.Service](t, find(t, objects, "Service "+service), service).Spec.Ports[0]
			if port.Port != 443 || port.TargetPort.IntVal != 9443 {
				t.Errorf("O70, O268: the Service of the webhooks has port %d to %d, want 443 to 9443", port.Port, port.TargetPort.IntVal)
			}
			for _, hook := range decode[admissionregistrationv1.MutatingWebhookConfiguration](t, find(t, objects, mutating), mutating).Webhooks {
				checkWebhook(t, hook.Name, service, hook.ClientConfig, hook.FailurePolicy)
			}
			for _, hook := range decode[admissionregistrationv1.ValidatingWebhookConfiguration](t, find(t, objects, validating), validating).Webhooks {
				checkWebhook(t, hook.Name, service, hook.ClientConfig, hook.FailurePolicy)
			}
		})
	}
}

func checkWebhook(t *testing.T, name, service string, client admissionregistrationv1.WebhookClientConfig, policy *admissionregistrationv1.FailurePolicyType) {
	t.Helper()
	if client.Service.Name != service || client.Service.Namespace != "other" {
		t.Errorf("O161: webhook %s asks %s in %s, want %s in other", name, client.Service.Name, client.Service.Namespace, service)
	}
	if *policy != admissionregistrationv1.Ignore {
		t.Errorf("O512: webhook %s has failure policy %s, want Ignore", name, *policy)
	}
}
