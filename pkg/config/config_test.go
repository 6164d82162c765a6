/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/version"
)

const head = "apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n"

// encodedDefaults is an encoded configuration with all defaults (O43).
const encodedDefaults = `apiVersion: config.jobset.x-k8s.io/v1alpha1
clientConnection:
  burst: 500
  qps: 500
health:
  healthProbeBindAddress: :8081
internalCertManagement:
  enable: true
  webhookSecretName: jobset-webhook-server-cert
  webhookServiceName: jobset-webhook-service
kind: Configuration
leaderElection:
  leaderElect: true
  leaseDuration: 15s
  renewDeadline: 10s
  resourceLock: leases
  resourceName: 6d4f6a47.jobset.x-k8s.io
  resourceNamespace: ""
  retryPeriod: 2s
metrics:
  bindAddress: :8443
webhook:
  port: 9443
`

const encodedEmpty = `apiVersion: config.jobset.x-k8s.io/v1alpha1
health: {}
kind: Configuration
metrics: {}
webhook: {}
`

func defaultsBut(change func(*configapi.Configuration)) *configapi.Configuration {
	cfg := &configapi.Configuration{}
	configapi.SetDefaults_Configuration(cfg)
	change(cfg)
	return cfg
}

func TestLoad(t *testing.T) {
	tests := map[string]struct {
		file    string
		want    *configapi.Configuration
		ignored []string
		wantErr []string
	}{
		"keys of a later release are ignored and named, after a rollback (O14)": {
			file:    head + "release: v0.14\nworkflows: {enable: true}\nmetrics: {port: 1, bindAddress: \":1\"}\n",
			want:    defaultsBut(func(cfg *configapi.Configuration) { cfg.Release, cfg.Metrics.BindAddress = "v0.14", ":1" }),
			ignored: []string{"metrics.port", "workflows"},
		},
		"keys that the release of the manager does not have are fatal, whatever its patch (O14)": {
			file:    head + "release: v0.13.7\nworkflows: {}\n",
			wantErr: []string{`unknown field "workflows"`},
		},
		"unknown keys of a release that is none are fatal (O14)": {
			file:    head + "release: next\nworkflows: {}\n",
			wantErr: []string{`unknown field "workflows"`},
		},
		"keys in tls are fatal of whatever release: to ignore them would weaken it (O14)": {
			file:    head + "release: v0.14\nworkflows: {}\ntls: {curves: [X25519]}\n",
			wantErr: []string{`unknown field "tls.curves"`},
		},
		"duplicate keys are fatal of whatever release (O14)": {
			file:    head + "release: v0.14\nworkflows: {}\nwebhook: {port: 1}\nwebhook: {port: 2}\n",
			wantErr: []string{"webhook"},
		},
		"a file with nothing but its kind means the defaults (O14)": {
			file: head,
			want: defaultsBut(func(*configapi.Configuration) {}),
		},
		"what the file says wins over the defaults (O13)": {
			file: head + `
webhook: {port: 1234, host: 127.0.0.1, certDir: /certs}
metrics: {bindAddress: "0", certDir: /metrics}
health: {healthProbeBindAddress: ":1", readinessEndpointName: ready, livenessEndpointName: /live}
leaderElection: {leaderElect: false}
tls: {minVersion: VersionTLS12, cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}
internalCertManagement: {enable: false}
clientConnection: {qps: -1, burst: 3}
featureGates: {InPlaceRestart: true}
`,
			want: defaultsBut(func(cfg *configapi.Configuration) {
				cfg.Webhook = configapi.Webhook{Port: ptr.To(1234), Host: "127.0.0.1", CertDir: "/certs"}
				cfg.Metrics = configapi.Metrics{BindAddress: "0", CertDir: "/metrics"}
				cfg.Health = configapi.Health{HealthProbeBindAddress: ":1", ReadinessEndpointName: "ready", LivenessEndpointName: "/live"}
				cfg.LeaderElection.LeaderElect = ptr.To(false)
				cfg.TLS = &configapi.TLSOptions{MinVersion: "VersionTLS12", CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}}
				cfg.InternalCertManagement = &configapi.InternalCertManagement{Enable: ptr.To(false)}
				cfg.ClientConnection = &configapi.ClientConnection{QPS: ptr.To[float32](-1), Burst: ptr.To[int32](3)}
				cfg.FeatureGates = map[string]bool{"InPlaceRestart": true}
			}),
		},
		"unknown keys are fatal and all named (O14)": {
			file:    head + "webhok: {}\nmetrics: {port: 1}\n",
			wantErr: []string{`unknown field "webhok"`, `unknown field "metrics.port"`},
		},
		"keys in the wrong case are unknown (O14)": {
			file:    head + "Webhook: {port: 1}\n",
			wantErr: []string{`unknown field "Webhook"`},
		},
		"duplicate keys are fatal (O14)": {
			file:    head + "webhook: {port: 1}\nwebhook: {port: 2}\n",
			wantErr: []string{"webhook"},
		},
		"another kind is fatal (O15)": {
			file:    "apiVersion: v1\nkind: ConfigMap\n",
			wantErr: []string{"ConfigMap"},
		},
		"an empty file means the defaults (O14)": {
			file: "",
			want: defaultsBut(func(*configapi.Configuration) {}),
		},
		"a value of the wrong type is fatal (O15)": {
			file:    head + "webhook: {port: many}\n",
			wantErr: []string{"port"},
		},
		"a second document is fatal: nobody would read it (O14)": {
			file:    head + "---\n" + head + "webhook: {port: 1}\n",
			wantErr: []string{"one document"},
		},
		"a mark of the start of the document is none (O14)": {
			file: "---\n" + head,
			want: defaultsBut(func(*configapi.Configuration) {}),
		},
		"values are not checked here: a flag may still fix them (O13)": {
			file: head + "webhook: {port: 0}\n",
			want: defaultsBut(func(cfg *configapi.Configuration) { cfg.Webhook.Port = ptr.To(0) }),
		},
		"empty addresses mean the defaults and disable nothing (O24, O26)": {
			file: head + "metrics: {bindAddress: \"\"}\nhealth: {healthProbeBindAddress: \"\"}\n",
			want: defaultsBut(func(*configapi.Configuration) {}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, ignored, err := Load(path)
			if (err != nil) != (tc.wantErr != nil) {
				t.Fatalf("Load() error = %v, want %q", err, tc.wantErr)
			}
			for _, want := range tc.wantErr {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Load() error = %v, want %q in it", err, want)
				}
			}
			if got != nil {
				got.TypeMeta = configapi.Configuration{}.TypeMeta
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Load() (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.ignored, ignored); diff != "" {
				t.Errorf("ignored (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadWithoutAFile(t *testing.T) {
	t.Run("no path means the defaults (O4, O14)", func(t *testing.T) {
		got, _, err := Load("")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(defaultsBut(func(*configapi.Configuration) {}), got); diff != "" {
			t.Errorf("Load() (-want +got):\n%s", diff)
		}
	})
	t.Run("a path that does not exist is fatal (O15)", func(t *testing.T) {
		if _, _, err := Load(filepath.Join(t.TempDir(), "nothing.yaml")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load() error = %v, want a missing file", err)
		}
	})
}

func TestSample(t *testing.T) {
	t.Run("config/samples has a configuration that works as it is, and says what the defaults are (O112)", func(t *testing.T) {
		got, _, err := Load("../../config/samples/controller_manager_config.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if errs := Validate(got); len(errs) > 0 {
			t.Errorf("the sample is invalid: %v", errs)
		}
		want := defaultsBut(func(cfg *configapi.Configuration) {
			cfg.FeatureGates = map[string]bool{"InPlaceRestart": true}
			cfg.Controller = &configapi.Controller{MaxConcurrentReconciles: ptr.To[int32](8)}
		})
		want.TypeMeta = got.TypeMeta
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the sample (-want +got):\n%s", diff)
		}
	})
}

func TestTheShippedConfigurationSaysWhichReleaseItIsFor(t *testing.T) {
	got, _, err := Load("../../config/components/manager/controller_manager_config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got.Release != version.Release {
		t.Errorf("O14: config/components/manager/controller_manager_config.yaml is for release %q, the manager is of %s", got.Release, version.Release)
	}
}

func TestEncode(t *testing.T) {
	tests := map[string]struct {
		given *configapi.Configuration
		want  string
	}{
		"the defaults print what a reader may change (O43)": {
			given: defaultsBut(func(*configapi.Configuration) {}),
			want:  encodedDefaults,
		},
		"an empty configuration prints three empty maps (O43)": {
			given: &configapi.Configuration{},
			want:  encodedEmpty,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Encode(tc.given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("Encode() (-want +got):\n%s", diff)
			}
		})
	}
}
