/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/util/cert"
)

// settings are the manager options that are plain values.
type settings struct {
	Metrics, Health, Ready, Live      string
	Elect                             bool
	Lock, ID, Namespace               string
	Lease, Renew, Retry               time.Duration
	MetricsSecure, FilterMetrics      bool
	MetricsCertDir                    string
	Workers                           int
	MissingInformerFails, ReleaseLock bool
}

func settingsOf(options ctrl.Options) settings {
	return settings{
		Metrics: options.Metrics.BindAddress, Health: options.HealthProbeBindAddress,
		Ready: options.ReadinessEndpointName, Live: options.LivenessEndpointName,
		Elect: options.LeaderElection, Lock: options.LeaderElectionResourceLock,
		ID: options.LeaderElectionID, Namespace: options.LeaderElectionNamespace,
		Lease: *options.LeaseDuration, Renew: *options.RenewDeadline, Retry: *options.RetryPeriod,
		MetricsSecure: options.Metrics.SecureServing, FilterMetrics: options.Metrics.FilterProvider != nil,
		MetricsCertDir:       options.Metrics.CertDir,
		Workers:              options.Controller.MaxConcurrentReconciles,
		MissingInformerFails: options.Cache.ReaderFailOnMissingInformer,
		ReleaseLock:          options.LeaderElectionReleaseOnCancel,
	}
}

func TestNewManagerOptions(t *testing.T) {
	defaults := settings{
		Metrics: ":8443", Health: ":8081",
		Elect: true, Lock: "leases", ID: "6d4f6a47.jobset.x-k8s.io",
		Lease: 15 * time.Second, Renew: 10 * time.Second, Retry: 2 * time.Second,
		MetricsSecure: true, FilterMetrics: true, Workers: 8, MissingInformerFails: true, ReleaseLock: true,
	}
	but := func(change func(*settings)) settings {
		changed := defaults
		change(&changed)
		return changed
	}
	tests := map[string]struct {
		change func(*configapi.Configuration)
		want   settings
	}{
		"the defaults (O73, O76, C6, C13, C227)": {change: func(*configapi.Configuration) {}, want: defaults},
		"0 disables servers (O24, O26)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = "0", "0"
			},
			want: but(func(s *settings) { s.Metrics, s.Health = "0", "0" }),
		},
		"endpoint names get a slash if they have none (O27, O28)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Health.ReadinessEndpointName, cfg.Health.LivenessEndpointName = "ready", "/live"
			},
			want: but(func(s *settings) { s.Ready, s.Live = "/ready", "/live" }),
		},
		"leader election as configured (O29-O33)": {
			change: func(cfg *configapi.Configuration) {
				cfg.LeaderElection.LeaderElect = ptr.To(false)
				cfg.LeaderElection.ResourceName, cfg.LeaderElection.ResourceNamespace = "name", "ns"
				cfg.LeaderElection.LeaseDuration.Duration = time.Minute
			},
			want: but(func(s *settings) { s.Elect, s.ID, s.Namespace, s.Lease = false, "name", "ns", time.Minute }),
		},
		"the certificate of the metrics server (O25)": {
			change: func(cfg *configapi.Configuration) { cfg.Metrics.CertDir = "/metrics" },
			want:   but(func(s *settings) { s.MetricsCertDir = "/metrics" }),
		},
		"workers as configured (O42, O515)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Controller = &configapi.Controller{MaxConcurrentReconciles: ptr.To[int32](7)}
			},
			want: but(func(s *settings) { s.Workers = 7 }),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options := newManagerOptions(defaultsBut(tc.change), nil)
			if diff := cmp.Diff(tc.want, settingsOf(options)); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTLSOfServers(t *testing.T) {
	cfg := defaultsBut(func(cfg *configapi.Configuration) {
		cfg.TLS = &configapi.TLSOptions{MinVersion: "VersionTLS13"}
		cfg.Webhook = configapi.Webhook{Port: ptr.To(1), Host: "localhost", CertDir: "/certs"}
		cfg.InternalCertManagement.Enable = ptr.To(false)
	})
	options := newManagerOptions(cfg, nil)
	server := options.WebhookServer.(*webhookServer)
	if server.waits {
		t.Error("without internal certificates the webhook server waits for its certificate (O67)")
	}
	if server.address != "localhost:1" || server.certDir != "/certs" {
		t.Errorf("webhook server listens on %s with %s (O21-O23)", server.address, server.certDir)
	}
	tests := map[string]struct {
		settings []func(*tls.Config)
		protos   []string
	}{
		"webhooks (O74, O75, O513)": {settings: server.tlsOptions, protos: []string{"http/1.1"}},
		"metrics (O74, O75)":        {settings: options.Metrics.TLSOpts, protos: []string{"http/1.1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			config := &tls.Config{NextProtos: []string{"h2"}}
			for _, set := range tc.settings {
				set(config)
			}
			if config.MinVersion != tls.VersionTLS13 || !cmp.Equal(config.NextProtos, tc.protos) {
				t.Errorf("version %x and protocols %v, want TLS 1.3 and %v", config.MinVersion, config.NextProtos, tc.protos)
			}
		})
	}
}

func TestCheckMetricsCert(t *testing.T) {
	full := t.TempDir()
	writeCertificate(t, full)
	tests := map[string]struct {
		metrics configapi.Metrics
		wantErr bool
	}{
		"a certificate that was promised and is there (O25)":       {metrics: configapi.Metrics{BindAddress: ":1", CertDir: full}},
		"a certificate that was promised and is not there (O25)":   {metrics: configapi.Metrics{BindAddress: ":1", CertDir: t.TempDir()}, wantErr: true},
		"no directory: the server makes its own certificate (O25)": {metrics: configapi.Metrics{BindAddress: ":1"}},
		"no metrics server needs no certificate (O24)":             {metrics: configapi.Metrics{BindAddress: "0", CertDir: t.TempDir()}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := checkMetricsCert(&configapi.Configuration{ControllerManager: configapi.ControllerManager{Metrics: tc.metrics}})
			if (err != nil) != tc.wantErr {
				t.Fatalf("checkMetricsCert() error = %v, want one: %t", err, tc.wantErr)
			}
			if err != nil && !strings.Contains(err.Error(), "metrics.certDir: ") {
				t.Errorf("error = %v, want the field in it", err)
			}
		})
	}
}

func TestCertOptions(t *testing.T) {
	tests := map[string]struct {
		change func(*configapi.Configuration)
		want   cert.Options
	}{
		"the defaults (O23, O37, O38, W131)": {
			change: func(*configapi.Configuration) {},
			want: cert.Options{Namespace: "ns", ServiceName: "jobset-webhook-service", SecretName: "jobset-webhook-server-cert",
				Dir: filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs")},
		},
		"as configured (O23, O37, O38)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Webhook.CertDir = "/certs"
				cfg.InternalCertManagement.WebhookServiceName = ptr.To("service")
				cfg.InternalCertManagement.WebhookSecretName = ptr.To("secret")
			},
			want: cert.Options{Namespace: "ns", ServiceName: "service", SecretName: "secret", Dir: "/certs"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, certOptions(defaultsBut(tc.change), "ns")); diff != "" {
				t.Errorf("certOptions() (-want +got):\n%s", diff)
			}
		})
	}
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

func TestNewRESTConfigs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	limits := func(qps float32, burst int32) *configapi.ClientConnection {
		return &configapi.ClientConnection{QPS: &qps, Burst: &burst}
	}
	t.Run("one limit for the process, another for leader election (O77)", func(t *testing.T) {
		got, err := newRESTConfigs(path, limits(7, 8))
		if err != nil {
			t.Fatal(err)
		}
		if got.shared.Host != "https://127.0.0.1:1" {
			t.Errorf("host is %s, want that of --kubeconfig (O10)", got.shared.Host)
		}
		if got.shared.RateLimiter == nil || got.shared.RateLimiter.QPS() != 7 {
			t.Errorf("shared limiter is %v, want one of 7 QPS", got.shared.RateLimiter)
		}
		if got.leaderElection.RateLimiter != nil || got.leaderElection.QPS != 7 || got.leaderElection.Burst != 8 {
			t.Errorf("leader election has limiter %v, QPS %v, burst %v, want its own of 7 and 8",
				got.leaderElection.RateLimiter, got.leaderElection.QPS, got.leaderElection.Burst)
		}
		if want := "jobset/v0.0.0 ("; len(got.shared.UserAgent) < len(want) || got.shared.UserAgent[:len(want)] != want {
			t.Errorf("user agent is %q, want %q... (O18)", got.shared.UserAgent, want)
		}
	})
	t.Run("by default 500 requests a second in bursts of 500 (C9)", func(t *testing.T) {
		got, err := newRESTConfigs(path, defaultsBut(func(*configapi.Configuration) {}).ClientConnection)
		if err != nil {
			t.Fatal(err)
		}
		if got.leaderElection.QPS != 500 || got.leaderElection.Burst != 500 || got.shared.RateLimiter.QPS() != 500 {
			t.Errorf("QPS %v and %v, burst %v, want 500 of each", got.shared.RateLimiter.QPS(), got.leaderElection.QPS, got.leaderElection.Burst)
		}
		for request := range 500 {
			if !got.shared.RateLimiter.TryAccept() {
				t.Fatalf("request %d of the first burst has to wait", request)
			}
		}
	})
	t.Run("a negative QPS means no limit (O39)", func(t *testing.T) {
		got, err := newRESTConfigs(path, limits(-1, 0))
		if err != nil {
			t.Fatal(err)
		}
		if got.shared.RateLimiter != nil || got.shared.QPS >= 0 {
			t.Errorf("limiter is %v, QPS is %v, want neither to limit", got.shared.RateLimiter, got.shared.QPS)
		}
	})
}

func writeCertificate(t *testing.T, dir string) {
	t.Helper()
	certPEM, keyPEM, err := certutil.GenerateSelfSignedCertKey("service", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{cert.CertFile: certPEM, cert.KeyFile: keyPEM} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProgressOf(t *testing.T) {
	tests := map[string]struct {
		given *configapi.InPlaceRestart
		want  policy.Deadlines
	}{
		"nothing is said (P24, P25, P48a, P71)": {nil, policy.Deadlines{Assembly: 10 * time.Minute, Preparation: time.Hour, NotReady: time.Minute, QuickFailurePause: 5 * time.Minute}},
		"an empty block (P24, P25)":             {&configapi.InPlaceRestart{}, policy.Deadlines{Assembly: 10 * time.Minute, Preparation: time.Hour, NotReady: time.Minute, QuickFailurePause: 5 * time.Minute}},
		"the group may take any time (P24)":     {&configapi.InPlaceRestart{AssemblyGracePeriod: &metav1.Duration{}}, policy.Deadlines{Preparation: time.Hour, NotReady: time.Minute, QuickFailurePause: 5 * time.Minute}},
		"all are said (P24, P25, P48a, P71)": {
			&configapi.InPlaceRestart{
				AssemblyGracePeriod: &metav1.Duration{Duration: time.Minute}, ForcefulDeletionGracePeriod: &metav1.Duration{Duration: time.Hour},
				NotReadyGracePeriod: &metav1.Duration{Duration: time.Second}, QuickFailureMaxPause: &metav1.Duration{}, PreparationGracePeriod: &metav1.Duration{Duration: 3 * time.Hour},
			},
			policy.Deadlines{Assembly: time.Minute, Preparation: 3 * time.Hour, ForcefulDeletion: time.Hour, NotReady: time.Second},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := deadlinesOf(defaultsBut(func(cfg *configapi.Configuration) { cfg.InPlaceRestart = tc.given }))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
		})
	}
}
