/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

const (
	serviceMonitorAPI = "monitoring.coreos.com/v1/ServiceMonitor"
	serviceMonitor    = "ServiceMonitor jobset-metrics-service-monitor"
	metricsService    = "Service jobset-metrics-service"
)

func TestMetricsService(t *testing.T) {
	service := get[corev1.Service](t, release{}, metricsService)
	want := corev1.ServiceSpec{
		Selector: map[string]string{
			"app.kubernetes.io/name": "jobset", "app.kubernetes.io/instance": "jobset", "app.kubernetes.io/component": "controller"},
		Ports: []corev1.ServicePort{{Name: "https", Port: 8443, Protocol: "TCP", TargetPort: service.Spec.Ports[0].TargetPort}},
	}
	if diff := cmp.Diff(want, service.Spec); diff != "" {
		t.Errorf("O157, O163, O267: the Service of the metrics (-want +got):\n%s", diff)
	}
	if find(t, release{values: `metrics: {bindAddress: "0"}`}.objects(t), metricsService) != nil {
		t.Error("there is a Service of the metrics, though there is no metrics server")
	}
}

func TestPrometheus(t *testing.T) {
	apis := []string{serviceMonitorAPI}

	if find(t, release{apis: apis}.objects(t), serviceMonitor) != nil {
		t.Error("O150, O267: there is a ServiceMonitor that nobody asked for")
	}
	_, err := release{values: `prometheus: {enable: true}`}.files(t)
	wantError(t, err, "prometheus.enable needs", serviceMonitorAPI) // O150, O267
	_, err = release{values: `{prometheus: {enable: true}, metrics: {bindAddress: "0"}}`, apis: apis}.files(t)
	wantError(t, err, "metrics.bindAddress")

	tests := map[string]struct {
		values string
		want   map[string]any
	}{
		"O150, O158, O267: the ServiceMonitor trusts the certificate that the server makes for itself": {
			values: `prometheus: {enable: true}`,
			want:   map[string]any{"insecureSkipVerify": true},
		},
		"O152: with cert-manager Prometheus verifies the certificate of the server": {
			values: `{prometheus: {enable: true}, certManager: {enable: true}}`,
			want: map[string]any{
				"serverName": "jobset-metrics-service.jobset-system.svc",
				"ca":         map[string]any{"secret": map[string]any{"name": "jobset-metrics-server-cert", "key": "ca.crt"}},
			},
		},
		"O152: with cert-manager the CA may be in another Secret": {
			values: `{prometheus: {enable: true, prometheusClientCertSecretName: mine}, certManager: {enable: true}}`,
			want: map[string]any{
				"serverName": "jobset-metrics-service.jobset-system.svc",
				"ca":         map[string]any{"secret": map[string]any{"name": "mine", "key": "ca.crt"}},
			},
		},
		"O152: the Secret counts for nothing without cert-manager": {
			values: `prometheus: {enable: true, prometheusClientCertSecretName: mine}`,
			want:   map[string]any{"insecureSkipVerify": true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			monitor := find(t, release{values: tc.values, apis: apis}.objects(t), serviceMonitor)
			if monitor == nil {
				t.Fatalf("there is no %s", serviceMonitor)
			}
			spec := monitor["spec"].(map[string]any)
			if diff := cmp.Diff(any(tc.want), spec["endpoints"].([]any)[0].(map[string]any)["tlsConfig"]); diff != "" {
				t.Errorf("TLS (-want +got):\n%s", diff)
			}
			selected := spec["selector"].(map[string]any)["matchLabels"].(map[string]any)
			labels := get[corev1.Service](t, release{values: tc.values, apis: apis}, metricsService).Labels
			for label, value := range selected {
				if labels[label] != value {
					t.Errorf("the ServiceMonitor selects %s=%v, and the Service has %q", label, value, labels[label])
				}
			}
		})
	}
}

func TestPrometheusRights(t *testing.T) {
	r := release{values: `prometheus: {enable: true, prometheusNamespace: observability}`, apis: []string{serviceMonitorAPI}}
	account := func(name string) rbacv1.Subject {
		return rbacv1.Subject{Kind: "ServiceAccount", Name: name, Namespace: "observability"}
	}
	want := []rbacv1.Subject{account("prometheus-k8s"), account("prometheus-operator")}

	binding := get[rbacv1.RoleBinding](t, r, "RoleBinding jobset-prometheus-k8s")
	if diff := cmp.Diff(want, binding.Subjects); diff != "" {
		t.Errorf("O111, O151: subjects (-want +got):\n%s", diff)
	}
	if find(t, r.objects(t), binding.RoleRef.Kind+" "+binding.RoleRef.Name) == nil {
		t.Errorf("O160: the binding is to %s %s, which does not exist", binding.RoleRef.Kind, binding.RoleRef.Name)
	}
	scrape := get[rbacv1.ClusterRoleBinding](t, r, "ClusterRoleBinding jobset-prometheus-metrics-reader")
	if scrape.RoleRef.Name != "jobset-metrics-reader" || !cmp.Equal(want[:1], scrape.Subjects) {
		t.Errorf("O98: the account of Prometheus may not get /metrics: %v to %v", scrape.Subjects, scrape.RoleRef)
	}
}

func TestAlerts(t *testing.T) {
	const rules = "PrometheusRule jobset-alerts"
	tests := map[string]struct {
		values string
		want   bool
	}{
		"O150: nobody asked for them":             {``, false},
		"O150: they come with the ServiceMonitor": {`prometheus: {enable: true}`, true},
		"who has others leaves them out":          {`prometheus: {enable: true, alerts: false}`, false},
		"they need a Prometheus that scrapes":     {`prometheus: {enable: false, alerts: true}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			found := find(t, release{values: tc.values, apis: []string{serviceMonitorAPI}}.objects(t), rules)
			if (found != nil) != tc.want {
				t.Errorf("%s is there: %t, want %t", rules, found != nil, tc.want)
			}
			// That the rules are those of config/, with their own templates in them, is in drift_test.go.
		})
	}
}
