/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

type change = func(*configapi.Configuration)

func TestValidate(t *testing.T) {
	seconds := func(n float64) metav1.Duration {
		return metav1.Duration{Duration: time.Duration(n * float64(time.Second))}
	}
	tests := map[string]struct {
		change change
		want   []string // paths, in the order of the report
	}{
		"the defaults are valid": {change: func(*configapi.Configuration) {}},
		"webhook.port below its range (O21)": {
			change: func(cfg *configapi.Configuration) { cfg.Webhook.Port = ptr.To(0) },
			want:   []string{"webhook.port"},
		},
		"webhook.port at the end of its range (O21)": {
			change: func(cfg *configapi.Configuration) { cfg.Webhook.Port = ptr.To(65535) },
		},
		"webhook.port above its range (O21)": {
			change: func(cfg *configapi.Configuration) { cfg.Webhook.Port = ptr.To(65536) },
			want:   []string{"webhook.port"},
		},
		"0 disables metrics and probes (O24, O26)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = "0", "0"
			},
		},
		"addresses with hosts and free ports (O24, O26)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = "[::1]:0", "localhost:65535"
			},
		},
		"addresses without a port (O24, O26)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = "8443", "localhost"
			},
			want: []string{"metrics.bindAddress", "health.healthProbeBindAddress"},
		},
		"an address with a port out of range (O24)": {
			change: func(cfg *configapi.Configuration) { cfg.Metrics.BindAddress = ":65536" },
			want:   []string{"metrics.bindAddress"},
		},
		"metrics and probes on one address (O24, O26)": {
			change: func(cfg *configapi.Configuration) { cfg.Metrics.BindAddress = ":8081" },
			want:   []string{"health.healthProbeBindAddress"},
		},
		"metrics and probes on one port of overlapping addresses (O24, O26)": {
			change: func(cfg *configapi.Configuration) { cfg.Metrics.BindAddress = "0.0.0.0:8081" },
			want:   []string{"health.healthProbeBindAddress"},
		},
		"metrics and probes on one port of two addresses (O24, O26)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Metrics.BindAddress, cfg.Health.HealthProbeBindAddress = "127.0.0.1:8081", "127.0.0.2:8081"
			},
		},
		"webhooks on the port of metrics (O21, O24)": {
			change: func(cfg *configapi.Configuration) { cfg.Metrics.BindAddress = fmt.Sprintf(":%d", *cfg.Webhook.Port) },
			want:   []string{"webhook.port"},
		},
		"webhooks on the port of probes (O21, O26)": {
			change: func(cfg *configapi.Configuration) { cfg.Webhook.Port = ptr.To(8081) },
			want:   []string{"webhook.port"},
		},
		"endpoint names with slashes and segments (O27, O28)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Health.ReadinessEndpointName, cfg.Health.LivenessEndpointName = "/ready", "probes/live"
			},
		},
		"endpoint names that are patterns (O27, O28)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Health.ReadinessEndpointName, cfg.Health.LivenessEndpointName = "GET ready", "{x}"
			},
			want: []string{"health.readinessEndpointName", "health.livenessEndpointName"},
		},
		"one endpoint name for both probes (O27, O28)": {
			change: func(cfg *configapi.Configuration) { cfg.Health.LivenessEndpointName = "/readyz" },
			want:   []string{"health.livenessEndpointName"},
		},
		"times of leader election in the wrong order (O30)": {
			change: func(cfg *configapi.Configuration) {
				cfg.LeaderElection.LeaseDuration, cfg.LeaderElection.RenewDeadline, cfg.LeaderElection.RetryPeriod = seconds(2), seconds(2), seconds(2)
			},
			want: []string{"leaderElection.renewDeadline", "leaderElection.leaseDuration"},
		},
		"a negative retry period (O30)": {
			change: func(cfg *configapi.Configuration) { cfg.LeaderElection.RetryPeriod = seconds(-1) },
			want:   []string{"leaderElection.retryPeriod"},
		},
		"a lock that is gone and names that are none (O31-O33)": {
			change: func(cfg *configapi.Configuration) {
				cfg.LeaderElection.ResourceLock = "endpoints"
				cfg.LeaderElection.ResourceName = "A_B"
				cfg.LeaderElection.ResourceNamespace = "a.b"
			},
			want: []string{"leaderElection.resourceLock", "leaderElection.resourceName", "leaderElection.resourceNamespace"},
		},
		"leader election that is off may say anything (O29)": {
			change: func(cfg *configapi.Configuration) {
				cfg.LeaderElection.LeaderElect = ptr.To(false)
				cfg.LeaderElection.ResourceLock = "endpoints"
			},
		},
		"TLS 1.3 with cipher suites (O35)": {
			change: func(cfg *configapi.Configuration) {
				cfg.TLS = &configapi.TLSOptions{MinVersion: "VersionTLS13", CipherSuites: []string{"TLS_AES_128_GCM_SHA256"}}
			},
			want: []string{"tls.cipherSuites"},
		},
		"a bad version and a bad cipher suite together (O34, O35)": {
			change: func(cfg *configapi.Configuration) {
				cfg.TLS = &configapi.TLSOptions{MinVersion: "VersionTLS11", CipherSuites: []string{"NONE"}}
			},
			want: []string{"tls", "tls"},
		},
		"a service name is stricter than a secret name (O37, O38)": {
			change: func(cfg *configapi.Configuration) {
				cfg.InternalCertManagement.WebhookServiceName = ptr.To("0.a")
				cfg.InternalCertManagement.WebhookSecretName = ptr.To("0.a")
			},
			want: []string{"internalCertManagement.webhookServiceName"},
		},
		"a secret name that is none (O38)": {
			change: func(cfg *configapi.Configuration) { cfg.InternalCertManagement.WebhookSecretName = ptr.To("A") },
			want:   []string{"internalCertManagement.webhookSecretName"},
		},
		"names of internal certificates that are off are not read (O37, O38)": {
			change: func(cfg *configapi.Configuration) {
				cfg.InternalCertManagement = &configapi.InternalCertManagement{Enable: ptr.To(false), WebhookServiceName: ptr.To("A_B")}
			},
		},
		"no limit of requests needs no burst (O39, O40)": {
			change: func(cfg *configapi.Configuration) {
				cfg.ClientConnection.QPS, cfg.ClientConnection.Burst = ptr.To[float32](-1), ptr.To[int32](0)
			},
		},
		"a limit of no requests (O39, O40)": {
			change: func(cfg *configapi.Configuration) {
				cfg.ClientConnection.QPS, cfg.ClientConnection.Burst = ptr.To[float32](0), ptr.To[int32](0)
			},
			want: []string{"clientConnection.qps", "clientConnection.burst"},
		},
		"limits that are no numbers (O39)": {
			change: func(cfg *configapi.Configuration) { cfg.ClientConnection.QPS = ptr.To(float32(math.Inf(1))) },
			want:   []string{"clientConnection.qps"},
		},
		"a reconciler has one worker at least (O42, O515)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Controller = &configapi.Controller{MaxConcurrentReconciles: ptr.To[int32](0)}
			},
			want: []string{"controller.maxConcurrentReconciles"},
		},
		"workers at the end of their range (O515)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Controller = &configapi.Controller{MaxConcurrentReconciles: ptr.To[int32](1000)}
			},
		},
		"workers above their range (O515)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Controller = &configapi.Controller{MaxConcurrentReconciles: ptr.To[int32](1001)}
			},
			want: []string{"controller.maxConcurrentReconciles"},
		},
		"periods of in-place restart may be 0, for never (P24, P25, P48a, P71)": {
			change: func(cfg *configapi.Configuration) {
				cfg.InPlaceRestart = &configapi.InPlaceRestart{AssemblyGracePeriod: &metav1.Duration{}, PreparationGracePeriod: &metav1.Duration{}, ForcefulDeletionGracePeriod: &metav1.Duration{}, NotReadyGracePeriod: &metav1.Duration{}, QuickFailureMaxPause: &metav1.Duration{}}
			},
		},
		"periods of in-place restart below a second, or negative (P24, P25, P48a, P71)": {
			change: func(cfg *configapi.Configuration) {
				cfg.InPlaceRestart = &configapi.InPlaceRestart{
					AssemblyGracePeriod:         &metav1.Duration{Duration: 999 * time.Millisecond},
					ForcefulDeletionGracePeriod: &metav1.Duration{Duration: -time.Hour},
					NotReadyGracePeriod:         &metav1.Duration{Duration: time.Millisecond},
					QuickFailureMaxPause:        &metav1.Duration{Duration: -1},
					PreparationGracePeriod:      &metav1.Duration{Duration: time.Second - 1},
				}
			},
			want: []string{"inPlaceRestart.assemblyGracePeriod", "inPlaceRestart.forcefulDeletionGracePeriod", "inPlaceRestart.notReadyGracePeriod", "inPlaceRestart.preparationGracePeriod", "inPlaceRestart.quickFailureMaxPause"},
		},
		"a controller block that says nothing": {
			change: func(cfg *configapi.Configuration) { cfg.Controller = &configapi.Controller{} },
		},
		"everything that is wrong at once (O15)": {
			change: func(cfg *configapi.Configuration) {
				cfg.Webhook.Port = ptr.To(-1)
				cfg.Metrics.BindAddress = "x"
				cfg.LeaderElection.ResourceLock = "configmaps"
				cfg.ClientConnection.QPS = ptr.To[float32](0)
			},
			want: []string{"webhook.port", "metrics.bindAddress", "leaderElection.resourceLock", "clientConnection.qps"},
		},
		"blocks that are missing because nobody filled in the defaults": {
			change: func(cfg *configapi.Configuration) { *cfg = configapi.Configuration{} },
			want: []string{"webhook.port", "metrics.bindAddress", "health.healthProbeBindAddress", "leaderElection",
				"clientConnection"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range Validate(defaultsBut(tc.change)) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Validate() paths (-want +got):\n%s", diff)
			}
		})
	}
}

// Each message says what to write instead.
func TestValidateSaysHowToFix(t *testing.T) {
	cfg := defaultsBut(func(cfg *configapi.Configuration) {
		cfg.Webhook.Port = ptr.To(70000)
		cfg.Metrics.BindAddress = "8443"
		cfg.Health.LivenessEndpointName = "readyz"
		cfg.LeaderElection.LeaseDuration.Duration = time.Second
		cfg.LeaderElection.RenewDeadline.Duration = 2 * time.Second
		cfg.LeaderElection.RetryPeriod.Duration = 0
		cfg.LeaderElection.ResourceLock = "endpoints"
		cfg.TLS = &configapi.TLSOptions{MinVersion: "VersionTLS10"}
		cfg.InternalCertManagement.WebhookServiceName = ptr.To("A")
		cfg.ClientConnection.QPS, cfg.ClientConnection.Burst = ptr.To[float32](0), ptr.To[int32](-1)
		cfg.Controller = &configapi.Controller{MaxConcurrentReconciles: ptr.To[int32](-1)}
	})
	want := []string{
		`webhook.port: Invalid value: 70000: must be between 1 and 65535, inclusive`,
		`metrics.bindAddress: Invalid value: "8443": must be host:port with a numeric port, such as ":8443", or "0" to disable the server`,
		`health.livenessEndpointName: Invalid value: "readyz": must differ from readinessEndpointName`,
		`leaderElection.retryPeriod: Invalid value: "0s": must be greater than 0`,
		`leaderElection.leaseDuration: Invalid value: "1s": must be greater than renewDeadline`,
		`leaderElection.resourceLock: Unsupported value: "endpoints": supported values: "leases"`,
		`tls: Invalid value: "VersionTLS10": minVersion: VersionTLS10 is not secure, use VersionTLS12 or VersionTLS13`,
		`internalCertManagement.webhookServiceName: Invalid value: "A": a DNS-1035 label must consist of lower case alphanumeric characters or '-', ` +
			`start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
		`clientConnection.qps: Invalid value: "0": must be greater than 0, or negative for no limit`,
		`clientConnection.burst: Invalid value: -1: must be at least 1`,
		`controller.maxConcurrentReconciles: Invalid value: -1: must be between 1 and 1000`,
	}
	var got []string
	for _, err := range Validate(cfg) {
		got = append(got, err.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Validate() of O21, O24, O28, O30, O31, O34, O37, O39, O40 and O515 (-want +got):\n%s", diff)
	}
}
