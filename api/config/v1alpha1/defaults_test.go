/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentconfig "k8s.io/component-base/config/v1alpha1"
	"k8s.io/utils/ptr"
)

func defaults() *Configuration {
	return &Configuration{
		ControllerManager: ControllerManager{
			Webhook: ControllerWebhook{Port: ptr.To(9443)},
			Metrics: ControllerMetrics{BindAddress: ":8443"},
			Health:  ControllerHealth{HealthProbeBindAddress: ":8081"},
			LeaderElection: &componentconfig.LeaderElectionConfiguration{
				LeaderElect:   ptr.To(true),
				LeaseDuration: metav1.Duration{Duration: 15 * time.Second},
				RenewDeadline: metav1.Duration{Duration: 10 * time.Second},
				RetryPeriod:   metav1.Duration{Duration: 2 * time.Second},
				ResourceLock:  "leases",
				ResourceName:  "6d4f6a47.jobset.x-k8s.io",
			},
		},
		InternalCertManagement: &InternalCertManagement{
			Enable:             ptr.To(true),
			WebhookServiceName: ptr.To("jobset-webhook-service"),
			WebhookSecretName:  ptr.To("jobset-webhook-server-cert"),
		},
		ClientConnection: &ClientConnection{QPS: ptr.To[float32](500), Burst: ptr.To[int32](500)},
	}
}

func defaultsBut(change func(*Configuration)) *Configuration {
	cfg := defaults()
	change(cfg)
	return cfg
}

func TestDefaults(t *testing.T) {
	tests := map[string]struct {
		given *Configuration
		want  *Configuration
	}{
		"an empty configuration gets every default (O21-O41, C9, C13)": {
			given: &Configuration{},
			want:  defaults(),
		},
		"what is given stays, also when it is zero (O21, O39, O40)": {
			given: &Configuration{
				ControllerManager: ControllerManager{Webhook: Webhook{Port: ptr.To(0), Host: "::1", CertDir: "/certs"}},
				ClientConnection:  &ClientConnection{QPS: ptr.To[float32](0), Burst: ptr.To[int32](0)},
			},
			want: defaultsBut(func(cfg *Configuration) {
				cfg.Webhook = Webhook{Port: ptr.To(0), Host: "::1", CertDir: "/certs"}
				cfg.ClientConnection = &ClientConnection{QPS: ptr.To[float32](0), Burst: ptr.To[int32](0)}
			}),
		},
		"servers can be disabled (O24, O26)": {
			given: &Configuration{ControllerManager: ControllerManager{Metrics: Metrics{BindAddress: "0"}, Health: Health{HealthProbeBindAddress: "0"}}},
			want: defaultsBut(func(cfg *Configuration) {
				cfg.Metrics.BindAddress = "0"
				cfg.Health.HealthProbeBindAddress = "0"
			}),
		},
		"leader election that is off keeps its other defaults (O29-O33)": {
			given: &Configuration{ControllerManager: ControllerManager{LeaderElection: &componentconfig.LeaderElectionConfiguration{LeaderElect: ptr.To(false)}}},
			want:  defaultsBut(func(cfg *Configuration) { cfg.LeaderElection.LeaderElect = ptr.To(false) }),
		},
		"names of internal certificates are not filled in when those are off (O37, O38)": {
			given: &Configuration{InternalCertManagement: &InternalCertManagement{Enable: ptr.To(false)}},
			want: defaultsBut(func(cfg *Configuration) {
				cfg.InternalCertManagement = &InternalCertManagement{Enable: ptr.To(false)}
			}),
		},
		"one half of a block gets the other half (O38, O40)": {
			given: &Configuration{
				InternalCertManagement: &InternalCertManagement{WebhookServiceName: ptr.To("hooks")},
				ClientConnection:       &ClientConnection{QPS: ptr.To[float32](7)},
			},
			want: defaultsBut(func(cfg *Configuration) {
				cfg.InternalCertManagement.WebhookServiceName = ptr.To("hooks")
				cfg.ClientConnection.QPS = ptr.To[float32](7)
			}),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			SetDefaults_Configuration(tc.given)
			if diff := cmp.Diff(tc.want, tc.given); diff != "" {
				t.Errorf("defaults (-want +got):\n%s", diff)
			}
		})
	}
}
