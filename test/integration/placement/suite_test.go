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
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
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
	api *framework.Cluster
	// managersConfig is the way to the API server with the rights of the manager.
	managersConfig *rest.Config
)

var _ = BeforeSuite(func() {
	install := framework.Render("config/default")
	mutating := framework.Rendered[admissionregistrationv1.MutatingWebhookConfiguration](install, "MutatingWebhookConfiguration jobset-mutating-webhook-configuration")
	validating := framework.Rendered[admissionregistrationv1.ValidatingWebhookConfiguration](install, "ValidatingWebhookConfiguration jobset-validating-webhook-configuration")
	api = framework.StartAPI(cluster.Options{Webhooks: &envtest.WebhookInstallOptions{
		MutatingWebhooks:   []*admissionregistrationv1.MutatingWebhookConfiguration{&mutating},
		ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{&validating},
	}})
	managersConfig = withRights(framework.Rendered[rbacv1.ClusterRole](install, "ClusterRole jobset-manager-role"))
	startManager()
})

// startManager starts a manager with all that the shipped one has for Pods.
func startManager() {
	GinkgoHelper()
	host, port, certDir := api.Webhooks()
	cached := controllers.CacheOptions()
	cached.ReaderFailOnMissingInformer = true
	mgr, err := ctrl.NewManager(managersConfig, ctrl.Options{
		Scheme:  api.Scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cached,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: host, Port: port, CertDir: certDir,
		}),
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	Expect(jobsetcontroller.Setup(ctx, mgr, framework.GateOn, policy.Deadlines{})).To(Succeed())
	pods, err := placementcontroller.Setup(ctx, mgr, policy.Deadlines{Assembly: patience})
	Expect(err).NotTo(HaveOccurred())
	Expect(webhooks.Setup(mgr, framework.GateOn, validation.Cluster{}, pods)).To(Succeed())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	DeferCleanup(func() {
		cancel()
		Eventually(done).Should(Receive(Succeed()), "the manager stops")
	})
	Expect(mgr.GetCache().WaitForCacheSync(ctx)).To(BeTrue())
	Eventually(func() error { return mgr.GetWebhookServer().StartedChecker()(nil) }).Should(Succeed(), "the webhook server listens")
}

// withRights is the way to the API server for a user who may do what a ClusterRole says.
func withRights(role rbacv1.ClusterRole) *rest.Config {
	GinkgoHelper()
	Expect(api.Client.Create(context.Background(), &role)).To(Succeed())
	Expect(api.Client.Create(context.Background(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "manager"}},
	})).To(Succeed())
	user := rest.CopyConfig(api.Config)
	user.Impersonate.UserName = "manager"
	return user
}

// trusting settings are for our own server, whose certificate has another name.
var trusting = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
