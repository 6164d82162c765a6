/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package e2e tells the stories of package stories, and those that need real
// nodes, on the cluster that KUBECONFIG names. JobSet has to be installed there
// with the feature gate InPlaceRestart (make deploy DEPLOY_CONFIG=test/e2e/config),
// and the nodes need the images of worker and agent. `make test-e2e` sees to all
// of that with a kind cluster.
package e2e

import (
	"cmp"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/jobset/test/stories"
)

const (
	managerNamespace = "jobset-system"
	managerName      = "jobset-controller-manager"
	managerSelector  = "control-plane=controller-manager"

	handsName = "hands"
)

// Settings of the suite, beside KUBECONFIG.
const (
	kubectlVariable     = "KUBECTL"
	agentImageVariable  = "E2E_AGENT_IMAGE"
	workerImageVariable = "E2E_WORKER_IMAGE"
	pythonImageVariable = "E2E_PYTHON_IMAGE"
	// previousImageVariable is an image with the last manager that added no agents, podsOnlyImageVariable with the last that read no Leases.
	previousImageVariable = "E2E_PREVIOUS_IMAGE"
	podsOnlyImageVariable = "E2E_PODS_ONLY_IMAGE"
	reportVariable        = "E2E_REPORT"
	sizesVariable         = "E2E_SIZES"
)

var live *realCluster

func TestEndToEnd(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "In-place restart on real nodes")
}

var (
	_ = stories.Tell(Serial)
	_ = stories.Compare(sizes()...)
	_ = stories.Grace()
	_ = stories.Hangs()
)

// sizes are how many workers the compared groups have.
func sizes() (all []int32) {
	for _, text := range strings.Fields(cmp.Or(os.Getenv(sizesVariable), "2 20")) {
		size, err := strconv.ParseInt(text, 10, 32)
		if err != nil || size < 1 {
			panic(sizesVariable + " has " + strconv.Quote(text) + "; set numbers of workers, such as \"2 20 60\"")
		}
		all = append(all, int32(size))
	}
	return all
}

// The first process prepares the cluster for all.
var _ = SynchronizedBeforeSuite(func(ctx SpecContext) []byte {
	connect()
	_, err := run(ctx, live.kubectl, "rollout", "status", "--namespace", managerNamespace, "deployment/"+managerName, "--timeout=180s")
	Expect(err).NotTo(HaveOccurred(), "is JobSet installed? make deploy DEPLOY_CONFIG=test/e2e/config")
	giveHands(ctx)
	return []byte(live.hands)
}, func(hands []byte) {
	connect()
	live.hands = string(hands)
})

var _ = SynchronizedAfterSuite(func() {}, func(ctx SpecContext) {
	if live == nil || live.hands == "" {
		return
	}
	err := live.client.CoreV1().Namespaces().Delete(ctx, live.hands, metav1.DeleteOptions{})
	Expect(err == nil || apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
})

func connect() {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	for variable, image := range map[string]*string{agentImageVariable: &stories.AgentImage, workerImageVariable: &stories.WorkerImage} {
		if value := os.Getenv(variable); value != "" {
			*image = value
		}
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	Expect(err).NotTo(HaveOccurred(), "set KUBECONFIG to a cluster for tests")
	config.QPS, config.Burst = 200, 400
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	kubectl := os.Getenv(kubectlVariable)
	if kubectl == "" {
		kubectl, err = exec.LookPath("kubectl")
		Expect(err).NotTo(HaveOccurred(), "put kubectl on PATH, or set %s", kubectlVariable)
	}
	live = &realCluster{config: config, client: client, kubectl: kubectl}
	Expect(stories.Use(live)).To(Succeed())
}

// giveHands runs a Pod on each node that sees the processes of the node, and
// waits until all do.
func giveHands(ctx SpecContext) {
	namespace, err := live.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "jobset-e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"},
	}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	live.hands = namespace.Name
	labels := map[string]string{"app": handsName}
	_, err = live.client.AppsV1().DaemonSets(live.hands).Create(ctx, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: live.hands, Name: handsName},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					HostPID:                       true,
					TerminationGracePeriodSeconds: ptr.To[int64](1),
					Containers: []corev1.Container{{
						Name: handsName, Image: stories.WorkerImage,
						SecurityContext: &corev1.SecurityContext{RunAsUser: ptr.To[int64](0)},
					}},
				},
			},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = run(ctx, live.kubectl, "rollout", "status", "--namespace", live.hands, "daemonset/"+handsName, "--timeout=120s")
	Expect(err).NotTo(HaveOccurred())
}
