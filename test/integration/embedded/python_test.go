/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/stories"
)

// pythonWithClient is a Python that has the client of Kubernetes. A version manager may hide that of the distribution.
func pythonWithClient() string {
	GinkgoHelper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import kubernetes").Run() == nil {
			return python
		}
	}
	Skip("examples/python is NOT tested: no python3 here has the client of Kubernetes; install it with: apt-get install python3-kubernetes, or: pip install kubernetes")
	return ""
}

var _ = Describe("The program of examples/python", func() {
	// run starts the program with a command for the workers.
	run := func(ctx SpecContext, namespace string, command ...string) *gexec.Session {
		GinkgoHelper()
		program := exec.CommandContext(ctx, pythonWithClient(), append([]string{
			"-B", filepath.Join(framework.Root(), "examples", "python", "create_jobset.py"),
			"--kubeconfig", shown.plane.Kubeconfig, "--namespace", namespace, "--name", "hello", "--image", stories.WorkerImage, "--",
		}, command...)...)
		program.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(framework.Root(), "sdk", "python"))
		session, err := gexec.Start(program, GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait() })
		return session
	}
	It("P145: creates a JobSet, waits until it is done, and exits with 0", func(ctx SpecContext) {
		space := newNamespace(ctx)
		session := run(ctx, space, "/worker", "resolve", "localhost")
		Eventually(session).WithContext(ctx).Should(gexec.Exit(0))
		Expect(session.Out).To(gbytes.Say("^JobSet %s/hello created\n", space))
		Expect(session.Out).To(gbytes.Say("Completed=True AllJobsCompleted: .+\n$"))

		js := &jobset.JobSet{}
		Expect(stories.API().Get(ctx, client.ObjectKey{Namespace: space, Name: "hello"}, js)).To(Succeed())
		Expect(js.Spec.ReplicatedJobs[0].Replicas).To(BeEquivalentTo(2))

		By("creating it again")
		again := run(ctx, space, "/worker", "resolve", "localhost")
		Eventually(again).WithContext(ctx).Should(gexec.Exit(1))
		Expect(again.Err).To(gbytes.Say("error: creating JobSet %s/hello: .*already exists", space))
	}, SpecTimeout(specTime))

	It("P145: exits with 1 when the JobSet fails", func(ctx SpecContext) {
		session := run(ctx, newNamespace(ctx), "/worker", "no-such-command")
		Eventually(session).WithContext(ctx).Should(gexec.Exit(1))
		Expect(session.Out).To(gbytes.Say("Failed=True .+\n"))
		Expect(session.Err).To(gbytes.Say("error: the JobSet failed\n"))
	}, SpecTimeout(specTime))

	It("P145: exits with 1 when somebody deletes the JobSet", func(ctx SpecContext) {
		space := newNamespace(ctx)
		session := run(ctx, space, "/worker")
		Eventually(session).WithContext(ctx).Should(gbytes.Say("created"))
		Expect(stories.API().Delete(ctx, &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "hello"}})).To(Succeed())
		Eventually(session).WithContext(ctx).Should(gexec.Exit(1))
		Expect(session.Err).To(gbytes.Say("was deleted before it finished"))
	}, SpecTimeout(specTime))
})

// newNamespace creates a namespace for one spec.
func newNamespace(ctx SpecContext) string {
	GinkgoHelper()
	created := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(stories.API().Create(ctx, created)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(stories.API().Delete(ctx, created)).To(Succeed()) })
	return created.Name
}
