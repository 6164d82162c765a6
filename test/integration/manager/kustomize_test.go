/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sigs.k8s.io/jobset/pkg/config"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// installed is config/default, which no spec changes.
var installed = sync.OnceValue(func() framework.Rendering { return framework.Render("config/default") })

// added are the objects that one rendering has and the other has not.
func added(to, from framework.Rendering) []string {
	var keys []string
	for key := range to {
		if from[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

const deploymentKey = "Deployment " + account

func volumeMounts(deployment appsv1.Deployment) map[string]string {
	paths := map[string]string{}
	for _, mount := range deployment.Spec.Template.Spec.Containers[0].VolumeMounts {
		paths[mount.Name] = mount.MountPath
	}
	return paths
}

func secretsOf(deployment appsv1.Deployment) map[string]string {
	secrets := map[string]string{}
	for _, volume := range deployment.Spec.Template.Spec.Volumes {
		if volume.Secret != nil {
			secrets[volume.Name] = volume.Secret.SecretName
		}
	}
	return secrets
}

var _ = Describe("config/default", func() {
	var install framework.Rendering
	BeforeEach(func() { install = installed() })

	It("O124: is applied on the server's side, the CRD being too large for the other", func() {
		dir := filepath.Join(root, "config/default")
		kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k", dir)
		crd := filepath.Join(root, "config/components/crd")
		output, err := tryKubectl("create", "--save-config", "--dry-run=server", "-k", crd)
		Expect(err).To(HaveOccurred())
		Expect(output).To(ContainSubstring("may not be more than 262144 bytes"))
	})

	It("W130, O102, O108, O113-O119, O125: is one labelled set of objects in one namespace", func() {
		for key, object := range install {
			Expect(object.GetLabels()).To(SatisfyAll(HaveKeyWithValue("app.kubernetes.io/name", "jobset"),
				HaveKeyWithValue("app.kubernetes.io/instance", "jobset"), HaveKeyWithValue("app.kubernetes.io/managed-by", "kustomize")), key)
			Expect(object.GetNamespace()).To(BeElementOf("", system), key)
		}
		Expect(framework.Rendered[corev1.Namespace](install, "Namespace "+system).Labels).To(HaveKeyWithValue("control-plane", "controller-manager"), "O113")
		Expect(install).To(HaveKey("ServiceAccount "+account), "O115")
		Expect(framework.Rendered[corev1.Secret](install, "Secret "+secretName).Data).To(BeEmpty(), "O117")

		cfg, err := config.Decode([]byte(framework.Rendered[corev1.ConfigMap](install, "ConfigMap jobset-manager-config").Data["controller_manager_config.yaml"]))
		Expect(err).NotTo(HaveOccurred())
		Expect(config.Validate(cfg)).To(BeEmpty())
		Expect(*cfg.LeaderElection.LeaderElect && *cfg.InternalCertManagement.Enable).To(BeTrue(), "O116")

		hooks := framework.Rendered[corev1.Service](install, "Service "+serviceName)
		Expect(hooks.Spec.Ports[0].Port).To(Equal(int32(443)), "O118")
		Expect(hooks.Spec.Ports[0].TargetPort).To(Equal(intstr.FromInt32(9443)), "O118")
		metrics := framework.Rendered[corev1.Service](install, "Service jobset-controller-manager-metrics-service")
		Expect(metrics.Labels).To(HaveKeyWithValue("control-plane", "controller-manager"), "O119")
		Expect(metrics.Spec.Ports[0]).To(Equal(corev1.ServicePort{Name: "https", Protocol: corev1.ProtocolTCP, Port: 8443, TargetPort: intstr.FromInt32(8443)}), "O119")
		Expect(framework.Rendered[appsv1.Deployment](install, deploymentKey).Spec.Selector.MatchLabels).To(Equal(map[string]string{
			"app.kubernetes.io/name": "jobset", "app.kubernetes.io/instance": "jobset", "app.kubernetes.io/managed-by": "kustomize",
			"control-plane": "controller-manager",
		}), "immutable (O125)")
		pods := framework.Rendered[appsv1.Deployment](install, deploymentKey).Spec.Template.Labels
		for _, service := range []corev1.Service{hooks, metrics} {
			for key, value := range service.Spec.Selector {
				Expect(pods).To(HaveKeyWithValue(key, value), "selector of %s", service.Name)
			}
		}
	})

	It("O105: has Namespace, Deployment and configuration of one component, whose file is the ConfigMap without a hash", func() {
		const component = "config/components/manager"
		manager := framework.Render(component)
		Expect(manager).To(And(HaveKey("Namespace system"), HaveKey("Deployment controller-manager"), HaveKey("ConfigMap manager-config")))
		file, err := os.ReadFile(filepath.Join(root, component, "controller_manager_config.yaml"))
		Expect(err).NotTo(HaveOccurred())
		want := map[string]string{"controller_manager_config.yaml": string(file)}
		Expect(framework.Rendered[corev1.ConfigMap](manager, "ConfigMap manager-config").Data).To(Equal(want))
		Expect(framework.Rendered[corev1.ConfigMap](install, "ConfigMap jobset-manager-config").Data).To(Equal(want))
	})

	It("O104, O114, O509: has a CRD of one version without a conversion webhook", func() {
		crd := framework.Rendered[apiextensionsv1.CustomResourceDefinition](install, "CustomResourceDefinition jobsets.jobset.x-k8s.io")
		Expect(crd.Spec.Conversion).To(BeNil())
		Expect(crd.Annotations).NotTo(HaveKey("cert-manager.io/inject-ca-from"))
		Expect(crd.Spec.Names.ShortNames).To(BeEmpty())
		Expect(crd.Spec.Names.Categories).To(BeEmpty())
		Expect(crd.Spec.Versions).To(HaveLen(1))
		version := crd.Spec.Versions[0]
		Expect(version.Name).To(Equal("v1alpha2"))
		Expect(version.Served && version.Storage && version.Subresources.Status != nil).To(BeTrue())
		var columns []string
		for _, column := range version.AdditionalPrinterColumns {
			if column.Name != "InPlaceRestarts" { // that of our own feature
				columns = append(columns, column.Name)
			}
		}
		Expect(columns).To(Equal([]string{"TerminalState", "Restarts", "Completed", "Suspended", "Age"}))
	})

	It("W126, W127, W128, W129, W130, O62, O70-O72, O106, O107, O122: has four webhooks, of which two see Pods of JobSets alone", func() {
		var configurations []string
		for key, object := range install {
			if strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
				configurations = append(configurations, key)
			}
		}
		Expect(configurations).To(ConsistOf("MutatingWebhookConfiguration jobset-mutating-webhook-configuration",
			"ValidatingWebhookConfiguration jobset-validating-webhook-configuration"), "W129")

		// The other kind has no such field.
		Expect(framework.Rendered[admissionregistrationv1.MutatingWebhookConfiguration](install, "MutatingWebhookConfiguration "+mutatingName).Webhooks).To(
			HaveEach(HaveField("ReinvocationPolicy", BeNil())), "W127")

		type hook struct{ name, path, resource, operations, selector string }
		var hooks []hook
		for _, key := range []string{"MutatingWebhookConfiguration " + mutatingName, "ValidatingWebhookConfiguration " + validatingName} {
			// Both kinds have all that is looked at here.
			for _, webhook := range framework.Rendered[admissionregistrationv1.ValidatingWebhookConfiguration](install, key).Webhooks {
				Expect(*webhook.FailurePolicy).To(Equal(admissionregistrationv1.Fail))
				Expect(*webhook.SideEffects).To(Equal(admissionregistrationv1.SideEffectClassNone))
				Expect(webhook.AdmissionReviewVersions).To(Equal([]string{"v1"}))
				Expect(webhook.TimeoutSeconds).To(BeNil())
				Expect(webhook.NamespaceSelector).To(BeNil())
				Expect(webhook.MatchPolicy).To(BeNil())
				Expect(webhook.MatchConditions).To(BeEmpty())
				service := webhook.ClientConfig.Service
				Expect([]string{service.Namespace, service.Name}).To(Equal([]string{system, serviceName}))
				Expect(service.Port).To(BeNil(), "443")
				Expect(webhook.Rules).To(HaveLen(1))
				rule := webhook.Rules[0]
				Expect(rule.Scope).To(BeNil())
				var operations []string
				for _, operation := range rule.Operations {
					operations = append(operations, string(operation))
				}
				selector := ""
				if webhook.ObjectSelector != nil {
					selector = metav1.FormatLabelSelector(webhook.ObjectSelector)
				}
				resource := strings.Join(slices.Concat(rule.APIGroups, rule.APIVersions, rule.Resources), "/")
				hooks = append(hooks, hook{webhook.Name, *service.Path, resource, strings.Join(operations, " "), selector})
			}
		}
		Expect(hooks).To(ConsistOf(
			hook{"mjobset.kb.io", "/mutate-jobset-x-k8s-io-v1alpha2-jobset", "jobset.x-k8s.io/v1alpha2/jobsets", "CREATE UPDATE", ""},
			hook{"mpod.kb.io", "/mutate--v1-pod", "/v1/pods", "CREATE", "jobset.sigs.k8s.io/jobset-name"},
			hook{"vjobset.kb.io", "/validate-jobset-x-k8s-io-v1alpha2-jobset", "jobset.x-k8s.io/v1alpha2/jobsets", "CREATE UPDATE", ""},
			hook{"vpod.kb.io", "/validate--v1-pod", "/v1/pods", "CREATE", "jobset.sigs.k8s.io/jobset-name"},
		))
	})

	It("W131, O66, O120, O123, O507: runs one manager with little and waits for it to start", func() {
		deployment := framework.Rendered[appsv1.Deployment](install, deploymentKey)
		Expect(*deployment.Spec.Replicas).To(Equal(int32(1)))
		pod := deployment.Spec.Template.Spec
		Expect(*pod.TerminationGracePeriodSeconds).To(Equal(int64(10)))
		Expect(*pod.SecurityContext.RunAsNonRoot).To(BeTrue())
		Expect(pod.SecurityContext.SeccompProfile.Type).To(Equal(corev1.SeccompProfileTypeRuntimeDefault))
		Expect(pod.Containers).To(HaveLen(1))

		c := pod.Containers[0]
		Expect(c.Name).To(Equal("manager"))
		Expect(c.Args).To(Equal([]string{"--config=/controller_manager_config.yaml", "--zap-log-level=2"}))
		Expect(c.Ports).To(Equal([]corev1.ContainerPort{
			{Name: "metrics", ContainerPort: 8443, Protocol: corev1.ProtocolTCP},
			{Name: "webhook-server", ContainerPort: 9443, Protocol: corev1.ProtocolTCP},
		}))
		Expect(c.Resources.Requests.Cpu().String()).To(Equal("500m"))
		Expect(c.Resources.Requests.Memory().String()).To(Equal("128Mi"))
		Expect(c.Resources.Limits.Memory().String()).To(Equal("4Gi"))
		Expect(c.Resources.Limits).NotTo(HaveKey(corev1.ResourceCPU))
		Expect(*c.SecurityContext.AllowPrivilegeEscalation).To(BeFalse())
		Expect(*c.SecurityContext.ReadOnlyRootFilesystem).To(BeTrue())
		Expect(c.SecurityContext.Capabilities.Drop).To(Equal([]corev1.Capability{"ALL"}))

		for path, probe := range map[string]*corev1.Probe{"/healthz": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
			Expect(probe.HTTPGet.Path).To(Equal(path))
			Expect(probe.HTTPGet.Port).To(Equal(intstr.FromInt32(8081)))
		}
		Expect([]int32{c.LivenessProbe.InitialDelaySeconds, c.LivenessProbe.PeriodSeconds}).To(Equal([]int32{30, 20}))
		Expect([]int32{c.ReadinessProbe.InitialDelaySeconds, c.ReadinessProbe.PeriodSeconds}).To(Equal([]int32{5, 10}))
		Expect(c.StartupProbe.HTTPGet.Path).To(Equal("/healthz"))
		Expect(c.StartupProbe.PeriodSeconds*c.StartupProbe.FailureThreshold).To(BeNumerically(">=", 120), "seconds to start in (O507)")

		Expect(c.VolumeMounts).To(ConsistOf(
			corev1.VolumeMount{Name: "manager-config", MountPath: "/controller_manager_config.yaml", SubPath: "controller_manager_config.yaml", ReadOnly: true},
			corev1.VolumeMount{Name: "cert", MountPath: "/tmp/k8s-webhook-server/serving-certs", ReadOnly: true},
		))
		Expect(secretsOf(deployment)).To(Equal(map[string]string{"cert": secretName}))
		for _, volume := range pod.Volumes {
			if volume.Secret != nil {
				Expect(*volume.Secret.DefaultMode).To(Equal(int32(420)))
			}
		}
	})

	It("C27, O84-O97, O121: gives the manager no right beyond those it is known for", func() {
		read := []string{"get", "list", "watch"}
		const hooks = "webhookconfigurations.admissionregistration.k8s.io"
		Expect(rightsOf(framework.Rendered[rbacv1.ClusterRole](install, "ClusterRole jobset-manager-role").Rules)).To(Equal(map[string][]string{
			"nodes": read, "persistentvolumeclaims": {"create", "get", "list", "watch"}, // O84, O85
			"pods": {"delete", "get", "list", "patch", "watch"}, "pods/status": {"patch"}, // O86
			"resourcequotas":             {"list", "watch"},                                                // P112
			"leases.coordination.k8s.io": {"create", "list", "patch", "watch"},                             // P152, P153
			"services":                   {"create", "get", "list", "watch"},                               // O87
			"events":                     {"create", "patch"}, "events.events.k8s.io": {"create", "patch"}, // O88
			"mutating" + hooks: {"list", "watch"}, "validating" + hooks: {"list", "watch"}, // O89
			"mutating" + hooks + " " + mutatingName:                                                           {"get", "update"},
			"validating" + hooks + " " + validatingName:                                                       {"get", "update"},
			"validatingadmissionpolicies.admissionregistration.k8s.io jobset-agent jobset-agent-leases":       {"list", "watch"},
			"validatingadmissionpolicybindings.admissionregistration.k8s.io jobset-agent jobset-agent-leases": {"list", "watch"},
			"subjectaccessreviews.authorization.k8s.io":                                                       {"create"}, // O97
			"jobs.batch": {"create", "delete", "get", "list", "patch", "watch"}, "jobs/status.batch": {"patch"}, // O90, O91
			"jobsets.jobset.x-k8s.io": {"delete", "get", "list", "patch", "watch"}, "jobsets/finalizers.jobset.x-k8s.io": {"update"}, // O92, O93
			"jobsets/status.jobset.x-k8s.io": {"update"}, // O94
			// P56: what agents are granted, and the objects that grant it.
			"jobsets/agent.jobset.x-k8s.io":          {"report"},
			"roles.rbac.authorization.k8s.io":        {"create", "get", "list", "patch", "watch"},
			"rolebindings.rbac.authorization.k8s.io": {"create", "get", "list", "patch", "watch"},
		}))
		Expect(rightsOf(framework.Rendered[rbacv1.Role](install, "Role jobset-manager-secrets-role").Rules)).To(Equal(map[string][]string{
			"secrets " + secretName: {"get", "list", "update", "watch"}, // O63, O95
		}))
		Expect(rightsOf(framework.Rendered[rbacv1.Role](install, "Role jobset-leader-election-role").Rules)).To(Equal(map[string][]string{
			"leases.coordination.k8s.io": {"create", "delete", "get", "list", "patch", "update", "watch"},
			"events":                     {"create", "patch"}, "events.events.k8s.io": {"create", "patch"}, // O96
		}))
		Expect(rightsOf(framework.Rendered[rbacv1.ClusterRole](install, "ClusterRole jobset-proxy-role").Rules)).To(Equal(map[string][]string{
			"tokenreviews.authentication.k8s.io": {"create"}, "subjectaccessreviews.authorization.k8s.io": {"create"}, // O97
		}))
		for key, object := range install {
			if !strings.HasSuffix(object.GetKind(), "Binding") {
				continue
			}
			binding := framework.Rendered[rbacv1.ClusterRoleBinding](install, key)
			Expect(binding.Subjects).To(Equal([]rbacv1.Subject{{Kind: "ServiceAccount", Namespace: system, Name: account}}), key)
			Expect(install).To(HaveKey(binding.RoleRef.Kind+" "+binding.RoleRef.Name), key)
		}
	})

	It("O98, O99, O518: has roles for scrapers, and roles for people that come with admin, edit and view", func() {
		Expect(framework.Rendered[rbacv1.ClusterRole](install, "ClusterRole jobset-metrics-reader").Rules).To(Equal(
			[]rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}))

		status := rbacv1.PolicyRule{APIGroups: []string{"jobset.x-k8s.io"}, Resources: []string{"jobsets/status"}, Verbs: []string{"get"}}
		editor := framework.Rendered[rbacv1.ClusterRole](install, "ClusterRole jobset-editor-role")
		Expect(editor.Labels).To(SatisfyAll(HaveKeyWithValue("rbac.authorization.k8s.io/aggregate-to-admin", "true"),
			HaveKeyWithValue("rbac.authorization.k8s.io/aggregate-to-edit", "true")))
		Expect(editor.Rules).To(Equal([]rbacv1.PolicyRule{{
			APIGroups: []string{"jobset.x-k8s.io"}, Resources: []string{"jobsets"},
			Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"},
		}, status}))
		viewer := framework.Rendered[rbacv1.ClusterRole](install, "ClusterRole jobset-viewer-role")
		Expect(viewer.Labels).To(HaveKeyWithValue("rbac.authorization.k8s.io/aggregate-to-view", "true"))
		Expect(viewer.Rules).To(Equal([]rbacv1.PolicyRule{{
			APIGroups: []string{"jobset.x-k8s.io"}, Resources: []string{"jobsets"}, Verbs: []string{"get", "list", "watch"},
		}, status}))
	})
})

// rightsOf is what rules give: the verbs by resource, and by name where they are for named objects only.
func rightsOf(rules []rbacv1.PolicyRule) map[string][]string {
	GinkgoHelper()
	rights := map[string][]string{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				name := strings.TrimSuffix(resource+"."+group, ".")
				if len(rule.ResourceNames) > 0 {
					name += " " + strings.Join(rule.ResourceNames, " ")
				}
				Expect(rights).NotTo(HaveKey(name), "given twice")
				rights[name] = rule.Verbs
			}
		}
	}
	return rights
}
