/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/config"
	"sigs.k8s.io/jobset/pkg/features"
)

func configurationOf(t *testing.T, r release) string {
	t.Helper()
	return get[corev1.ConfigMap](t, r, "ConfigMap jobset-controller-config").Data["controller_manager_config.yaml"]
}

// The file says what the values say; what it does not say is the manager's to decide.
func TestConfiguration(t *testing.T) {
	const usual = `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook:
  port: 9443
metrics:
  bindAddress: ":8443"
leaderElection:
  leaderElect: true
internalCertManagement:
  enable: true
  webhookServiceName: jobset-webhook-service
  webhookSecretName: jobset-webhook-server-cert
clientConnection:
  qps: 500
  burst: 500
`
	tests := map[string]struct {
		values string
		want   string // keys that are not as usual; whole blocks
	}{
		"O155: the defaults": {},
		"O136: leader election can be off": {
			values: `controller: {leaderElection: {enable: false}}`,
			want:   `leaderElection: {leaderElect: false}`,
		},
		"O137: limits of requests, large ones and fractions as well": {
			values: `controller: {clientConnection: {qps: 0.5, burst: 2000000}}`,
			want:   `clientConnection: {qps: 0.5, burst: 2000000}`,
		},
		"O137: a negative limit is none": {
			values: `controller: {clientConnection: {qps: -1}}`,
			want:   `clientConnection: {qps: -1, burst: 500}`,
		},
		"O148: with cert-manager the manager makes no certificates": {
			values: `certManager: {enable: true}`,
			want: `{internalCertManagement: {enable: false},
  metrics: {bindAddress: ":8443", certDir: /tmp/k8s-metrics-server/serving-certs}}`,
		},
		"O486, O512: feature gates": {
			values: `controller: {featureGates: {InPlaceRestart: true, RestartJob: false}}`,
			want:   `featureGates: {InPlaceRestart: true, RestartJob: false}`,
		},
		"O512, O515: workers of the reconcilers": {
			values: `controller: {maxConcurrentReconciles: 16}`,
			want:   `controller: {maxConcurrentReconciles: 16}`,
		},
		"O512, P24, P25: how long a group may take": {
			values: `controller: {inPlaceRestart: {assemblyGracePeriod: 5m, forcefulDeletionGracePeriod: 90s}}`,
			want:   `inPlaceRestart: {assemblyGracePeriod: 5m, forcefulDeletionGracePeriod: 90s}`,
		},
		"O512, P24: for ever": {
			values: `controller: {inPlaceRestart: {assemblyGracePeriod: 0s}}`,
			want:   `inPlaceRestart: {assemblyGracePeriod: 0s}`,
		},
		"O512: the oldest version of TLS": {
			values: `controller: {tls: {minVersion: VersionTLS13}}`,
			want:   `tls: {minVersion: VersionTLS13}`,
		},
		"O512: cipher suites": {
			values: `controller: {tls: {cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}}`,
			want:   `tls: {cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}`,
		},
		"O512: the port of the webhooks": {values: `webhook: {port: 10250}`, want: `webhook: {port: 10250}`},
		"O512: the address of the metrics": {
			values: `metrics: {bindAddress: "127.0.0.1:9000"}`,
			want:   `metrics: {bindAddress: "127.0.0.1:9000"}`,
		},
		"O512: no metrics": {values: `metrics: {bindAddress: "0"}`, want: `metrics: {bindAddress: "0"}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var want, changed, got map[string]any
			unmarshal(t, usual, &want)
			unmarshal(t, tc.want, &changed)
			maps.Copy(want, changed)
			text := configurationOf(t, release{values: tc.values})
			unmarshal(t, text, &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
			acceptedByManager(t, text)

			before := get[appsv1.Deployment](t, release{}, deployment).Spec.Template.Annotations[configHash]
			after := get[appsv1.Deployment](t, release{values: tc.values}, deployment).Spec.Template.Annotations[configHash]
			if (before != after) != (tc.values != "") {
				t.Errorf("O139: the hash is %s, and %s by default: Pods are replaced exactly if the configuration changes", after, before)
			}
		})
	}
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// acceptedByManager reads a configuration as the manager does.
func acceptedByManager(t *testing.T, text string) *configapi.Configuration {
	t.Helper()
	cfg, err := config.Decode([]byte(text))
	if err != nil {
		t.Fatalf("the manager does not read this: %v\n%s", err, text)
	}
	if err := config.Validate(cfg).ToAggregate(); err != nil {
		t.Errorf("the manager refuses this: %v\n%s", err, text)
	}
	if err := features.Apply(features.New(), cfg.FeatureGates); err != nil {
		t.Errorf("the manager refuses this: %v\n%s", err, text)
	}
	return cfg
}

// A release of another name has other objects, which the manager has to be told.
func TestConfigurationNamesObjectsOfTheRelease(t *testing.T) {
	r := release{name: "training"}
	objects := r.objects(t)
	names := ids(objects)
	file := find(t, objects, "ConfigMap training-jobset-controller-config").text("data", "controller_manager_config.yaml")
	certs := acceptedByManager(t, file).InternalCertManagement
	for _, id := range []string{"Service " + *certs.WebhookServiceName, "Secret " + *certs.WebhookSecretName} {
		if !slices.Contains(names, id) {
			t.Errorf("the configuration names %s, which is not in %v", id, names)
		}
	}
}

func TestPortsFollowTheConfiguration(t *testing.T) {
	r := release{values: `{webhook: {port: 10250}, metrics: {bindAddress: "0.0.0.0:9000"}}`}
	objects := r.objects(t)
	ports := map[string]int32{}
	for _, port := range decode[appsv1.Deployment](t, find(t, objects, deployment), deployment).Spec.Template.Spec.Containers[0].Ports {
		ports[port.Name] = port.ContainerPort
	}
	for _, id := range []string{"Service jobset-webhook-service", "Service jobset-metrics-service"} {
		port := decode[corev1.Service](t, find(t, objects, id), id).Spec.Ports[0]
		ports[id] = port.TargetPort.IntVal
	}
	want := map[string]int32{
		"health-probe": 8081, "webhook": 10250, "metrics": 9000,
		"Service jobset-webhook-service": 10250, "Service jobset-metrics-service": 9000,
	}
	if diff := cmp.Diff(want, ports); diff != "" {
		t.Errorf("O512: ports (-want +got):\n%s", diff)
	}
}
