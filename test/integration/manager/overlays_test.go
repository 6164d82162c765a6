/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sigs.k8s.io/jobset/pkg/config"
	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("Overlays", func() {
	var install framework.Rendering
	BeforeEach(func() { install = installed() })

	It("W131, O103, O109, O148, O470, O522: config/overlays/certmanager leaves certificates to cert-manager, all of it", func() {
		overlay := framework.Render("config/overlays/certmanager")
		Expect(added(overlay, install)).To(Equal([]string{
			"Certificate jobset-ca", "Certificate jobset-metrics-cert", "Certificate jobset-serving-cert",
			"Issuer jobset-ca-issuer", "Issuer jobset-selfsigned-issuer",
		}))
		Expect(added(install, overlay)).To(Equal([]string{
			"Role jobset-manager-secrets-role", "RoleBinding jobset-manager-secrets-rolebinding", "Secret " + secretName,
		}))

		By("ordering certificates for the names of the Services")
		for name, service := range map[string]string{
			"jobset-serving-cert": serviceName, "jobset-metrics-cert": "jobset-controller-manager-metrics-service",
		} {
			Expect(install).To(HaveKey("Service " + service))
			spec := overlay["Certificate "+name].Object["spec"].(map[string]any)
			Expect(spec).To(SatisfyAll(HaveKeyWithValue("duration", "8760h"), HaveKeyWithValue("renewBefore", "720h")))
			Expect(spec["usages"]).To(ContainElements("server auth", "client auth"))
			Expect(spec["dnsNames"]).To(Equal([]any{service + "." + system + ".svc", service + "." + system + ".svc.cluster.local"}))
			Expect(spec["issuerRef"]).To(HaveKeyWithValue("name", "jobset-ca-issuer"))
		}

		By("mounting them where the manager looks, under the names by which they are ordered")
		deployment := framework.Rendered[appsv1.Deployment](overlay, deploymentKey)
		Expect(secretsOf(deployment)).To(Equal(map[string]string{"cert": secretName, "metrics-cert": "jobset-metrics-server-cert"}))
		Expect(overlay["Certificate jobset-serving-cert"].Object["spec"]).To(HaveKeyWithValue("secretName", secretName))
		Expect(overlay["Certificate jobset-metrics-cert"].Object["spec"]).To(HaveKeyWithValue("secretName", "jobset-metrics-server-cert"))
		cfg, err := config.Decode([]byte(framework.Rendered[corev1.ConfigMap](overlay, "ConfigMap jobset-manager-config").Data["controller_manager_config.yaml"]))
		Expect(err).NotTo(HaveOccurred())
		Expect(config.Validate(cfg)).To(BeEmpty())
		Expect(*cfg.InternalCertManagement.Enable).To(BeFalse())
		Expect(*cfg.LeaderElection.LeaderElect).To(BeTrue())
		paths := volumeMounts(deployment)
		Expect(paths["metrics-cert"]).To(Equal(cfg.Metrics.CertDir))
		Expect(cfg.Webhook.CertDir).To(BeEmpty(), "the default, where config/default mounts it")
		Expect(paths["cert"]).To(Equal(volumeMounts(framework.Rendered[appsv1.Deployment](install, deploymentKey))["cert"]))

		By("having the authority written into both webhook configurations")
		for _, key := range []string{"MutatingWebhookConfiguration " + mutatingName, "ValidatingWebhookConfiguration " + validatingName} {
			Expect(overlay[key].GetAnnotations()).To(HaveKeyWithValue("cert-manager.io/inject-ca-from", system+"/jobset-serving-cert"))
			Expect(overlay[key].Object["webhooks"]).To(Equal(install[key].Object["webhooks"]))
		}
	})

	It("O78, O516: config/overlays/ha runs two managers apart, of which one stays", func() {
		overlay := framework.Render("config/overlays/ha")
		Expect(added(overlay, install)).To(Equal([]string{"PodDisruptionBudget " + account}))
		Expect(added(install, overlay)).To(BeEmpty())
		deployment := framework.Rendered[appsv1.Deployment](overlay, deploymentKey)
		Expect(*deployment.Spec.Replicas).To(Equal(int32(2)))
		var keys []string
		for _, spread := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
			keys = append(keys, spread.TopologyKey)
			for key, value := range spread.LabelSelector.MatchLabels {
				Expect(deployment.Spec.Template.Labels).To(HaveKeyWithValue(key, value))
			}
		}
		Expect(keys).To(Equal([]string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}))

		budget := framework.Rendered[policyv1.PodDisruptionBudget](overlay, "PodDisruptionBudget "+account)
		Expect(*budget.Spec.MinAvailable).To(Equal(intstr.FromInt32(1)))
		Expect(budget.Spec.Selector.MatchLabels).To(Equal(deployment.Spec.Selector.MatchLabels))

		By("being what the API server takes")
		kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k", filepath.Join(root, "config/overlays/ha"))
	})

	It("O110, O111, O466, O495: config/prometheus lets the Prometheus of the operator in", func() {
		overlay := framework.Render("config/prometheus")
		Expect(added(overlay, nil)).To(Equal([]string{
			"ClusterRoleBinding jobset-prometheus-metrics-reader", "PrometheusRule jobset-alerts", "Role prometheus-k8s", "RoleBinding prometheus-k8s",
			"ServiceMonitor controller-manager-metrics-monitor",
		}))
		scraper := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "monitoring", Name: "prometheus-k8s"}
		operator := rbacv1.Subject{Kind: "ServiceAccount", Namespace: "monitoring", Name: "prometheus-operator"}
		binding := framework.Rendered[rbacv1.RoleBinding](overlay, "RoleBinding prometheus-k8s")
		Expect(binding.Namespace).To(Equal(system))
		Expect(binding.Subjects).To(Equal([]rbacv1.Subject{scraper, operator}))
		reader := framework.Rendered[rbacv1.ClusterRoleBinding](overlay, "ClusterRoleBinding jobset-prometheus-metrics-reader")
		Expect(reader.Subjects).To(Equal([]rbacv1.Subject{scraper}))
		Expect(install).To(HaveKey("ClusterRole " + reader.RoleRef.Name))

		By("finding the Service of the metrics, and only that")
		monitor := overlay["ServiceMonitor controller-manager-metrics-monitor"]
		Expect(monitor.GetNamespace()).To(Equal(system))
		labels, _, err := unstructured.NestedStringMap(monitor.Object, "spec", "selector", "matchLabels")
		Expect(err).NotTo(HaveOccurred())
		var found []string
		for key, object := range install {
			if object.GetKind() == "Service" && matches(labels, object.GetLabels()) {
				found = append(found, key)
			}
		}
		Expect(found).To(Equal([]string{"Service jobset-controller-manager-metrics-service"}))
	})

	It("config/overlays/prometheus-certmanager verifies whom it scrapes", func() {
		overlay := framework.Render("config/overlays/prometheus-certmanager")
		endpoints, _, err := unstructured.NestedSlice(overlay["ServiceMonitor controller-manager-metrics-monitor"].Object, "spec", "endpoints")
		Expect(err).NotTo(HaveOccurred())
		Expect(endpoints).To(HaveLen(1))
		Expect(endpoints[0]).To(HaveKeyWithValue("tlsConfig", map[string]any{
			"ca":         map[string]any{"secret": map[string]any{"name": "jobset-metrics-server-cert", "key": "ca.crt"}},
			"serverName": "jobset-controller-manager-metrics-service." + system + ".svc",
		}))
	})
})

func matches(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}
