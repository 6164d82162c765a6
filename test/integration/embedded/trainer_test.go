/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/process"
	"sigs.k8s.io/jobset/test/stories"
)

// The manager of the Kubeflow Trainer and the source of its module; `make test-trainer` provides both.
const (
	trainerManagerEnv = "TRAINER_MANAGER"
	trainerSourceEnv  = "TRAINER_SOURCE"
)

// trainerAccount is the service account that the install of the Trainer gives its manager.
var trainerAccount = types.NamespacedName{Namespace: "kubeflow-system", Name: "kubeflow-trainer-controller-manager"}

// startTrainer installs the Kubeflow Trainer and runs its manager, with the rights that its install gives it.
func startTrainer(ctx context.Context, plane *cluster.Cluster, program, source string) {
	GinkgoHelper()
	base, dir := filepath.Join(source, "manifests", "base"), GinkgoT().TempDir()
	_, err := envtest.InstallCRDs(plane.Config, envtest.CRDInstallOptions{Paths: []string{filepath.Join(base, "crds")}, ErrorIfPathMissing: true})
	Expect(err).NotTo(HaveOccurred())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: trainerAccount.Namespace}}
	Expect(stories.API().Create(ctx, namespace)).To(Succeed())
	_, err = plane.Kubectl(ctx, "apply", "--namespace", namespace.Name,
		"-f", filepath.Join(base, "rbac", "role.yaml"), "-f", filepath.Join(base, "rbac", "service_account.yaml"))
	Expect(err).NotTo(HaveOccurred())
	_, err = plane.Kubectl(ctx, "create", "clusterrolebinding", trainerAccount.Name,
		"--clusterrole="+trainerAccount.Name, "--serviceaccount="+trainerAccount.Namespace+":"+trainerAccount.Name)
	Expect(err).NotTo(HaveOccurred())

	hooks := envtest.WebhookInstallOptions{
		Paths: []string{filepath.Join(base, "webhook", "manifests.yaml")}, LocalServingHost: process.Localhost, LocalServingPort: framework.FreePort(),
	}
	Expect(hooks.PrepWithoutInstalling()).To(Succeed())
	DeferCleanup(hooks.Cleanup)
	renames(&hooks)
	Expect(hooks.Install(plane.Config)).To(Succeed())
	serveFrom(dir, hooks.LocalServingCertDir)

	token, err := cluster.Token(ctx, plane.Client, trainerAccount)
	Expect(err).NotTo(HaveOccurred())
	kubeconfig, config := filepath.Join(dir, "trainer.kubeconfig"), filepath.Join(dir, "trainer.yaml")
	Expect(cluster.WriteKubeconfig(kubeconfig, plane.Config.Host, plane.Config.CAData, token)).To(Succeed())
	health := process.Address(framework.FreePort())
	Expect(os.WriteFile(config, fmt.Appendf(nil, `apiVersion: config.trainer.kubeflow.org/v1alpha1
kind: Configuration
health: {healthProbeBindAddress: %q}
metrics: {bindAddress: "0"}
webhook: {host: %s, port: %d}
leaderElection: {leaderElect: false}
certManagement: {enable: false}
`, health, process.Localhost, hooks.LocalServingPort), 0o600)).To(Succeed())
	manager, err := process.Start(process.Command{
		Dir: dir, Name: "trainer", Program: program, Args: []string{"--config=" + config, "--kubeconfig=" + kubeconfig},
		Env: append(os.Environ(), "TMPDIR="+dir),
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(manager.Stop)
	DeferCleanup(func() {
		if log, err := os.ReadFile(manager.LogFile); err == nil && CurrentSpecReport().Failed() {
			AddReportEntry("log of the Trainer", string(log), ReportEntryVisibilityFailureOrVerbose)
		}
	})
	Expect(manager.WaitReady(ctx, "http://"+health+"/readyz")).To(Succeed())
}

// renames gives the webhooks of the Trainer the names that its kustomization gives them: those of its manifests are the names
// that every project has whose manifests are generated, ours too.
func renames(hooks *envtest.WebhookInstallOptions) {
	GinkgoHelper()
	Expect(hooks.MutatingWebhooks).To(HaveLen(1))
	Expect(hooks.ValidatingWebhooks).To(HaveLen(1))
	hooks.MutatingWebhooks[0].Name, hooks.ValidatingWebhooks[0].Name = "defaulter.trainer.kubeflow.org", "validator.trainer.kubeflow.org"
}

// serveFrom puts the certificate of webhooks where a manager looks for it that is not told: below its temporary directory.
func serveFrom(temporary, certificates string) {
	GinkgoHelper()
	place := filepath.Join(temporary, "k8s-webhook-server")
	Expect(os.Mkdir(place, 0o700)).To(Succeed())
	Expect(os.Symlink(certificates, filepath.Join(place, "serving-certs"))).To(Succeed())
}

// example is an object of the examples that users are shown.
func example(name string) *unstructured.Unstructured {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(framework.Root(), "examples", "kubeflow-trainer", name))
	Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal(bytes.TrimSpace(text), &object.Object)).To(Succeed())
	return object
}

// trains creates the TrainJob of the example, with the worker of the stories as its program.
func trains(ctx SpecContext, runtime string) (*stories.Group, *trainJob) {
	GinkgoHelper()
	var followed *trainJob
	shape := stories.Shape{Process: true, Workers: 4, MaxRestarts: 10, Container: "node"}
	group := stories.CreateBy(ctx, shape, func(namespace string) error {
		job := example("trainjob.yaml")
		job.SetNamespace(namespace)
		spec := job.Object["spec"].(map[string]any)
		spec["runtimeRef"] = map[string]any{"name": runtime}
		trainer := spec["trainer"].(map[string]any)
		trainer["image"], trainer["command"] = stories.WorkerImage, []any{"/worker"}
		if followed == nil {
			followed = followTrainJob(namespace)
		}
		return client.IgnoreAlreadyExists(stories.API().Create(ctx, job))
	})
	return group, followed
}
