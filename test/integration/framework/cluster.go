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
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// AssetsEnv names the directory of the control plane's binaries.
const AssetsEnv = "KUBEBUILDER_ASSETS"

const localhost = "127.0.0.1"

// GateOn and GateOff are about in-place restart; AllGatesOn has every feature on.
var (
	GateOn     = gates.Set{InPlaceRestart: true}
	GateOff    = gates.Set{}
	AllGatesOn = gates.Set{InPlaceRestart: true, RestartJob: true, ElasticJobSet: true}
)

// Cluster is a real API server with our CRD and webhooks.
type Cluster struct {
	// Config has all rights.
	Config *rest.Config
	Client client.WithWatch
	Scheme *runtime.Scheme
	// Root is the root directory of the repository.
	Root string

	env       *envtest.Environment
	admission *Manager
}

// Start starts a cluster for a suite, with webhooks behind the given gates.
// Call it in BeforeSuite; it stops itself.
func Start(g gates.Set) *Cluster {
	GinkgoHelper()
	if os.Getenv(AssetsEnv) == "" {
		Fail(fmt.Sprintf("%s is not set: run `make test-integration`, which builds etcd and kube-apiserver and sets it; "+
			"or set it to the directory that `hack/build-cluster.sh --print-dir` prints", AssetsEnv))
	}
	patience()
	quiet()
	root := repositoryRoot()
	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(jobset.AddToScheme(scheme)).To(Succeed())

	env := &envtest.Environment{
		Scheme:                scheme,
		ErrorIfCRDPathMissing: true,
		CRDDirectoryPaths:     []string{filepath.Join(root, "config", "components", "crd", "bases")},
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths:            []string{filepath.Join(root, "config", "components", "webhook", "manifests.yaml")},
			LocalServingHost: localhost,
			LocalServingPort: quietPort(),
		},
	}
	config, err := env.Start()
	Expect(err).NotTo(HaveOccurred(), "starting the control plane of %s", os.Getenv(AssetsEnv))
	config.QPS, config.Burst = -1, -1
	DeferCleanup(func() {
		Expect(env.Stop()).To(Succeed())
	})
	direct, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	c := &Cluster{Config: config, Client: direct, Scheme: scheme, Root: root, env: env}
	c.ServeWebhooks(g)
	DeferCleanup(func() { c.admission.Stop() })
	return c
}

// ServeWebhooks puts webhooks with these gates in the place of those that serve now.
func (c *Cluster) ServeWebhooks(g gates.Set) {
	GinkgoHelper()
	if c.admission != nil {
		c.admission.Stop()
	}
	c.admission = c.startWebhooks(g)
	options := c.env.WebhookInstallOptions
	address := net.JoinHostPort(options.LocalServingHost, strconv.Itoa(options.LocalServingPort))
	// The certificate is for a host name of the cluster; that it is served is enough.
	settings := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	Eventually(func() error {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", address, settings)
		if err != nil {
			return err
		}
		return conn.Close()
	}).Should(Succeed(), "the webhook server does not listen")
}

// quietPort is a free port that no outgoing connection will take: the kernel
// gives those ports from 32768. The webhooks bind it seconds later.
func quietPort() int {
	GinkgoHelper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		listener, err := net.Listen("tcp", net.JoinHostPort(localhost, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		Expect(listener.Close()).To(Succeed())
		return port
	}
	Fail("no free port from 20000 to 29999")
	return 0
}

// NewNamespace creates a namespace for one spec.
func (c *Cluster) NewNamespace(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(c.Client.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
}

// patience is how long specs wait: long for what must come, short for what must not.
func patience() {
	SetDefaultEventuallyTimeout(20 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	SetDefaultConsistentlyDuration(300 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
}

// quiet shows errors of managers with the spec they belong to, and nothing else.
func quiet() {
	ctrl.SetLogger(logger())
	klog.SetLogger(logger())
}

func logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		_, _ = fmt.Fprintln(GinkgoWriter, prefix, args)
	}, funcr.Options{Verbosity: -1})
}

func repositoryRoot() string {
	GinkgoHelper()
	dir, err := os.Getwd()
	Expect(err).NotTo(HaveOccurred())
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		Expect(parent).NotTo(Equal(dir), "no go.mod above the working directory")
		dir = parent
	}
}
