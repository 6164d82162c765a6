/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
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

const (
	deployment = "Deployment jobset-controller"
	configHash = "jobset.x-k8s.io/config-hash"
)

func configurationOf(t *testing.T, r release) string {
	t.Helper()
	return get[corev1.ConfigMap](t, r, "ConfigMap jobset-controller-config").Data["controller_manager_config.yaml"]
}

// The file says what the values say; what it does not say is the manager's to decide.
func TestConfiguration(t *testing.T) {
	usual := fmt.Sprintf(`apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
release: v0.13
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
  qps: %v
  burst: %d
inPlaceRestart:
  agentImage: jobset/agent:dev
`, configapi.DefaultClientConnectionQPS, configapi.DefaultClientConnectionBurst)
	tests := map[string]struct {
		values string
		want   string // keys that are not as usual; whole blocks
	}{
		"the defaults": {},
		"leader election can be off": {
			values: `controller: {leaderElection: {enable: false}}`,
			want:   `leaderElection: {leaderElect: false}`,
		},
		"limits of requests, large ones and fractions as well": {
			values: `controller: {clientConnection: {qps: 0.5, burst: 2000000}}`,
			want:   `clientConnection: {qps: 0.5, burst: 2000000}`,
		},
		"a negative limit is none": {
			values: `controller: {clientConnection: {qps: -1}}`,
			want:   `clientConnection: {qps: -1, burst: 500}`,
		},
		"with cert-manager the manager makes no certificates": {
			values: `certManager: {enable: true}`,
			want: `{internalCertManagement: {enable: false},
  metrics: {bindAddress: ":8443", certDir: /tmp/k8s-metrics-server/serving-certs}}`,
		},
		"feature gates": {
			values: `controller: {featureGates: {InPlaceRestart: true, RestartJob: false}}`,
			want:   `featureGates: {InPlaceRestart: true, RestartJob: false}`,
		},
		"workers of the reconcilers": {
			values: `controller: {maxConcurrentReconciles: 16}`,
			want:   `controller: {maxConcurrentReconciles: 16}`,
		},
		"P24, P25, P48a: how long a group may take": {
			values: `controller: {inPlaceRestart: {assemblyGracePeriod: 5m, preparationGracePeriod: 0s, forcefulDeletionGracePeriod: 90s, notReadyGracePeriod: 2m, quickFailureMaxPause: 0s}}`,
			want:   `inPlaceRestart: {agentImage: "jobset/agent:dev", assemblyGracePeriod: 5m, preparationGracePeriod: 0s, forcefulDeletionGracePeriod: 90s, notReadyGracePeriod: 2m, quickFailureMaxPause: 0s}`,
		},
		"P24: without limit": {
			values: `controller: {inPlaceRestart: {assemblyGracePeriod: 0s}}`,
			want:   `inPlaceRestart: {agentImage: "jobset/agent:dev", assemblyGracePeriod: 0s}`,
		},
		"P52: the agent is beside the manager, with its tag": {
			values: `image: {repository: "registry.example.com:5000/team/manager", tag: v1}`,
			want:   `inPlaceRestart: {agentImage: "registry.example.com:5000/team/agent:v1"}`,
		},
		"P52, P56: an agent from elsewhere, its resources, and somebody else's access": {
			values: `controller: {inPlaceRestart: {agentImage: "elsewhere/a:v2", agentResources: {limits: {cpu: 1}}, createAccess: false}}`,
			want:   `inPlaceRestart: {agentImage: "elsewhere/a:v2", agentResources: {limits: {cpu: 1}}, createAccess: false}`,
		},
		"P121: workers find the variables of PyTorch": {
			values: `controller: {inPlaceRestart: {environment: Torch}}`,
			want:   `inPlaceRestart: {agentImage: "jobset/agent:dev", environment: Torch}`,
		},
		"P150: agents report in Leases": {
			values: `controller: {inPlaceRestart: {reports: Lease, leaseReportsFrom: 100}}`,
			want:   `inPlaceRestart: {agentImage: "jobset/agent:dev", reports: Lease, leaseReportsFrom: 100}`,
		},
		"P121: deadlines of all JobSets": {
			values: `controller: {inPlaceRestart: {progress: {stallSeconds: 120, dumpSignal: USR1}}}`,
			want:   `inPlaceRestart: {agentImage: "jobset/agent:dev", progress: {stallSeconds: 120, dumpSignal: USR1}}`,
		},
		"the oldest version of TLS": {
			values: `controller: {tls: {minVersion: VersionTLS13}}`,
			want:   `tls: {minVersion: VersionTLS13}`,
		},
		"cipher suites": {
			values: `controller: {tls: {cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}}`,
			want:   `tls: {cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}`,
		},
		"the port of the webhooks": {values: `webhook: {port: 10250}`, want: `webhook: {port: 10250}`},
		"the address of the metrics": {
			values: `metrics: {bindAddress: "127.0.0.1:9000"}`,
			want:   `metrics: {bindAddress: "127.0.0.1:9000"}`,
		},
		"no metrics": {values: `metrics: {bindAddress: "0"}`, want: `metrics: {bindAddress: "0"}`},
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
				t.Errorf("the hash is %s, and %s by default: Pods are replaced exactly if the configuration changes", after, before)
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
