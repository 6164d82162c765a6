/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package placement tests exclusive placement through the API server: the
// webhooks of Pods, and the controller that repairs. The manager is put together
// as the shipped one, has the rights shipped for it and no others, and the
// webhooks are configured as the install configures them. Nothing else runs:
// the specs create Pods as a Job controller does, and bind them as a scheduler does.
package placement

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/go-logr/logr/funcr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"sigs.k8s.io/jobset/pkg/controllers"
	jobsetcontroller "sigs.k8s.io/jobset/pkg/controllers/jobset"
	placementcontroller "sigs.k8s.io/jobset/pkg/controllers/placement"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// patience of the manager with a leader that finds no node. Only JobSets that restart in place know it.
const patience = 2 * time.Second

func TestPlacement(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Exclusive placement")
}

var (
	config *rest.Config
	admin  client.Client
	plane  *cluster.Cluster
	// managersConfig is the way to the API server with the rights of the manager.
	managersConfig *rest.Config
)

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	log := funcr.New(func(prefix, args string) { _, _ = fmt.Fprintln(GinkgoWriter, prefix, args) }, funcr.Options{})
	ctrl.SetLogger(log)
	klog.SetLogger(log)

	scheme := cluster.NewScheme()
	plane = framework.StartControlPlane(cluster.Options{Webhooks: &envtest.WebhookInstallOptions{
		MutatingWebhooks:   []*admissionregistrationv1.MutatingWebhookConfiguration{mutatingWebhooks()},
		ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{validatingWebhooks()},
	}})
	config = plane.Config
	var err error
	admin, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	managersConfig = withShippedRights()
	startManager(scheme)
})

// startManager starts a manager with all that the shipped one has for Pods.
func startManager(scheme *runtime.Scheme) {
	GinkgoHelper()
	host, port, certDir := plane.Webhooks()
	cached := controllers.CacheOptions()
	cached.ReaderFailOnMissingInformer = true
	mgr, err := ctrl.NewManager(managersConfig, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cached,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: host, Port: port, CertDir: certDir,
		}),
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	Expect(jobsetcontroller.Setup(ctx, mgr, framework.GateOn, policy.Progress{})).To(Succeed())
	Expect(placementcontroller.Setup(ctx, mgr, policy.Progress{Assembly: patience})).To(Succeed())
	Expect(webhooks.Setup(mgr, framework.GateOn, validation.Cluster{})).To(Succeed())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	DeferCleanup(func() {
		cancel()
		Eventually(done).Should(Receive(Succeed()), "the manager stops")
	})
	Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())
	Eventually(func() error { return mgr.GetWebhookServer().StartedChecker()(nil) }).Should(Succeed(), "the webhook server listens")
}

// withShippedRights is the way to the API server for a user who may do what the ClusterRole of the manager says.
func withShippedRights() *rest.Config {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(yaml.Unmarshal(documentOf(shipped("rbac", "role.yaml"), 0), role)).To(Succeed())
	Expect(role.Kind).To(Equal("ClusterRole"))
	Expect(admin.Create(context.Background(), role)).To(Succeed())
	Expect(admin.Create(context.Background(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "manager"}},
	})).To(Succeed())
	user := rest.CopyConfig(config)
	user.Impersonate.UserName = "manager"
	return user
}

// shipped is the path of a file below config/components.
func shipped(path ...string) string {
	GinkgoHelper()
	return filepath.Join(append([]string{framework.Root(), "config", "components"}, path...)...)
}

func mutatingWebhooks() *admissionregistrationv1.MutatingWebhookConfiguration {
	GinkgoHelper()
	return patchedWebhooks[admissionregistrationv1.MutatingWebhookConfiguration](0, "mutating_pods_patch.yaml")
}

func validatingWebhooks() *admissionregistrationv1.ValidatingWebhookConfiguration {
	GinkgoHelper()
	return patchedWebhooks[admissionregistrationv1.ValidatingWebhookConfiguration](1, "validating_pods_patch.yaml")
}

// patchedWebhooks puts a document of the generated manifest and its patch together, as kustomize does.
func patchedWebhooks[T any](document int, patchFile string) *T {
	GinkgoHelper()
	merged, err := strategicpatch.StrategicMergePatch(
		documentOf(shipped("webhook", "manifests.yaml"), document), documentOf(shipped("webhook", patchFile), 0), new(T))
	Expect(err).NotTo(HaveOccurred())
	webhooks := new(T)
	Expect(yaml.Unmarshal(merged, webhooks)).To(Succeed())
	return webhooks
}

// documentOf reads one document of a YAML file as JSON.
func documentOf(file string, document int) []byte {
	GinkgoHelper()
	content, err := os.Open(file)
	Expect(err).NotTo(HaveOccurred())
	defer content.Close() //nolint:errcheck // it was only read
	decoder := yaml.NewYAMLOrJSONDecoder(content, 4096)
	var raw runtime.RawExtension
	for range document + 1 {
		raw = runtime.RawExtension{}
		Expect(decoder.Decode(&raw)).To(Succeed())
	}
	return raw.Raw
}

// trusting settings are for our own server, whose certificate has another name.
var trusting = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
