/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package manager runs the manager as users do: as a process of its own, with the
// rights of its service account, beside an API server on which config/default is
// installed as it ships.
//
// Two things of a cluster are missing and played here. The network: the Service of
// the webhooks is an ExternalName on this machine, so that the API server still
// verifies the name of the Service. The kubelet: mount brings Secrets into directories.
package manager

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/process"
)

const (
	root = "../../.."

	system      = "jobset-system"
	account     = "jobset-controller-manager"
	serviceName = "jobset-webhook-service"
	secretName  = "jobset-webhook-server-cert"
	leaseName   = "6d4f6a47.jobset.x-k8s.io"
	dnsName     = serviceName + "." + system + ".svc"

	validatingName = "jobset-validating-webhook-configuration"
	mutatingName   = "jobset-mutating-webhook-configuration"

	// What the build writes into the manager of this suite.
	gitVersion = "v9.8.7-rc.1"
	gitCommit  = "0123456789abcdef"
	userAgent  = "jobset/v9.8.7 ("
)

// plane is the cluster of the suite.
var plane struct {
	*cluster.Cluster
	client  client.Client
	scheme  *runtime.Scheme
	program string
	audit   string
	// hooks are the webhook configurations as shipped.
	validating *admissionregistrationv1.ValidatingWebhookConfiguration
	mutating   *admissionregistrationv1.MutatingWebhookConfiguration
}

func TestManager(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The manager as a process")
}

var _ = SynchronizedBeforeSuite(func(ctx SpecContext) []byte {
	return []byte(framework.Build(ctx, "-ldflags",
		"-X sigs.k8s.io/jobset/pkg/version.GitVersion="+gitVersion+" -X sigs.k8s.io/jobset/pkg/version.GitCommit="+gitCommit, "./cmd/manager"))
}, func(ctx SpecContext, dir []byte) {
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	framework.Quiet()
	plane.program = filepath.Join(string(dir), "manager")
	startPlane()
	install(ctx)
})

func startPlane() {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	plane.audit = filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "audit-policy.yaml")
	Expect(os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Request, resources: [{group: authorization.k8s.io}]}, {level: Metadata}]\n"), 0o600)).To(Succeed())
	plane.Cluster = framework.StartControlPlane(cluster.Options{Dir: dir, Bare: true, APIServer: []string{
		"--audit-policy-file=" + policy, "--audit-log-path=" + plane.audit, "--audit-log-mode=blocking",
	}})
	plane.scheme = cluster.NewScheme()
	var err error
	plane.client, err = client.New(plane.Config, client.Options{Scheme: plane.scheme})
	Expect(err).NotTo(HaveOccurred())
}

// install installs as the documentation says, and puts the Service on this machine.
func install(ctx context.Context) {
	GinkgoHelper()
	kubectl("apply", "--server-side", "-k", filepath.Join(root, "config/default"))
	kubectl("wait", "--for=condition=Established", "crd/jobsets.jobset.x-k8s.io")

	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: serviceName}}
	Expect(plane.client.Delete(ctx, service)).To(Succeed())
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: process.Localhost}
	Expect(plane.client.Create(ctx, service)).To(Succeed())

	plane.validating = &admissionregistrationv1.ValidatingWebhookConfiguration{}
	Expect(plane.client.Get(ctx, client.ObjectKey{Name: validatingName}, plane.validating)).To(Succeed())
	plane.mutating = &admissionregistrationv1.MutatingWebhookConfiguration{}
	Expect(plane.client.Get(ctx, client.ObjectKey{Name: mutatingName}, plane.mutating)).To(Succeed())
}

// BeforeEach takes back what managers wrote: certificates, authorities and the lease.
var _ = BeforeEach(func(ctx SpecContext) {
	for _, object := range []client.Object{
		plane.validating, plane.mutating,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: secretName}},
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: leaseName}},
	} {
		Expect(client.IgnoreNotFound(plane.client.Delete(ctx, object))).To(Succeed())
	}
	Expect(plane.client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: secretName}})).To(Succeed())
})

// webhooksOn puts the webhook configurations as shipped in place, with the port of a
// manager and, unless somebody injects it, the authority that signed its certificate.
func webhooksOn(ctx context.Context, port int, authority []byte) {
	GinkgoHelper()
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: validatingName}, Webhooks: plane.validating.DeepCopy().Webhooks,
	}
	for i := range validating.Webhooks {
		aim(&validating.Webhooks[i].ClientConfig, port, authority)
	}
	Expect(plane.client.Create(ctx, validating)).To(Succeed())
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: mutatingName}, Webhooks: plane.mutating.DeepCopy().Webhooks,
	}
	for i := range mutating.Webhooks {
		aim(&mutating.Webhooks[i].ClientConfig, port, authority)
	}
	Expect(plane.client.Create(ctx, mutating)).To(Succeed())
}

func aim(config *admissionregistrationv1.WebhookClientConfig, port int, authority []byte) {
	config.Service.Port = ptr.To(int32(port))
	config.CABundle = authority
}
