/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package framework is what the integration suites share: a real API server,
// managers that run in this process and can be made to fail at any write, and
// hands to play the Job controller, the kubelet and the agents, none of which run.
//
//	Cluster    etcd and kube-apiserver with our CRD, our webhooks in front of it
//	World      one spec: a namespace, a manager that sees nothing else, the actors
//	Manager    the controllers, with a journal of their writes, and ways to crash
//
// Specs share the cluster and nothing else, so they may run in any order and side by side.
package framework

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
)

// GateOn and GateOff are about in-place restart; AllGatesOn has every feature on.
var (
	GateOn     = gates.Set{InPlaceRestart: true}
	GateOff    = gates.Set{}
	AllGatesOn = gates.Set{
		InPlaceRestart: true, RestartJob: true, ElasticJobSet: true, FaultTolerance: true,
		ExecutionAttemptsTracking: true, MutablePodResourcesForSuspendedJobSets: true, JobSetActiveDeadlineSeconds: true,
	}
)

// Cluster is a real API server with our CRD and webhooks.
type Cluster struct {
	// Config has all rights.
	Config *rest.Config
	Client client.WithWatch
	Scheme *runtime.Scheme
	// Root is the root directory of the repository.
	Root string

	plane     *cluster.Cluster
	admission *Manager
}

// Start starts a cluster for a suite, with webhooks behind the given gates.
// Call it in BeforeSuite; it stops itself.
func Start(g gates.Set) *Cluster {
	GinkgoHelper()
	c := StartAPI(cluster.Options{})
	c.ServeWebhooks(g)
	DeferCleanup(func() { c.admission.Stop() })
	return c
}

// StartAPI starts a cluster for a suite that serves the webhooks itself.
func StartAPI(options cluster.Options) *Cluster {
	GinkgoHelper()
	patience()
	quiet()
	plane := StartControlPlane(options)
	direct, err := plane.NewClient()
	Expect(err).NotTo(HaveOccurred())
	return &Cluster{Config: plane.Config, Client: direct, Scheme: direct.Scheme(), Root: Root(), plane: plane}
}

// Webhooks says where the API server expects the webhooks: address, port, and the directory with the certificate that it trusts.
func (c *Cluster) Webhooks() (host string, port int, certDir string) { return c.plane.Webhooks() }

// ServeWebhooks puts webhooks with these gates in the place of those that serve now.
func (c *Cluster) ServeWebhooks(g gates.Set) {
	GinkgoHelper()
	if c.admission != nil {
		c.admission.Stop()
	}
	c.admission = c.startWebhooks(g)
	_, port, _ := c.plane.Webhooks()
	// The certificate is for a host name of the cluster; that it is served is enough.
	settings := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	Eventually(func() error {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", process.Address(port), settings)
		if err != nil {
			return err
		}
		return conn.Close()
	}).Should(Succeed(), "the webhook server does not listen")
	c.asksWebhooks()
}

// asksWebhooks waits until the API server asks the webhooks, the one that changes JobSets and the one that refuses them: it hears
// late of their configurations, and later still that those it was connected to are gone.
func (c *Cluster) asksWebhooks() {
	GinkgoHelper()
	rehearse := func(js *jobset.JobSet) error {
		js.Namespace = metav1.NamespaceDefault
		return c.Client.Create(context.Background(), js, client.DryRunAll)
	}
	Eventually(func(g Gomega) {
		good, bad := AB(), AB()
		g.Expect(rehearse(good)).To(Succeed())
		g.Expect(good.Spec.SuccessPolicy).NotTo(BeNil())
		bad.Spec.ManagedBy = ptr.To("nobody")
		g.Expect(rehearse(bad)).To(MatchError(ContainSubstring("denied the request")))
	}).Should(Succeed(), "the API server does not ask the webhooks")
}

// NewNamespace creates a namespace for one spec.
func (c *Cluster) NewNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(c.Client.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
}

// patience is how long specs wait for what must come. For what must not come they wait until
// the manager has settled, see World.Settles.
func patience() {
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
}

// Quiet discards what libraries log.
func Quiet() {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
}

// quiet shows only errors of managers, with the spec they belong to.
func quiet() {
	ctrl.SetLogger(logger())
	klog.SetLogger(logger())
}

func logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		_, _ = fmt.Fprintln(GinkgoWriter, prefix, args)
	}, funcr.Options{Verbosity: -1})
}
