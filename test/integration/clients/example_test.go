/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package clients

import (
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	typed "sigs.k8s.io/jobset/client-go/clientset/versioned/typed/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("The program of examples/client-go", Ordered, func() {
	var program string

	BeforeAll(func(ctx SpecContext) {
		program = filepath.Join(framework.Build(ctx, "./examples/client-go"), "client-go")
	})

	// start runs the program until it has created its JobSet.
	start := func(ctx SpecContext) (*gexec.Session, typed.JobSetInterface) {
		GinkgoHelper()
		client, namespace := newClient(ctx)
		command := exec.Command(program, "--kubeconfig", cluster.Kubeconfig(), "--namespace", namespace, "--name", "hello")
		session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait() })
		Eventually(session).Should(gbytes.Say("JobSet %s/hello created\n", namespace))
		return session, client
	}

	It("O437: prints conditions as they change and exits with 0 when the JobSet completes", func(ctx SpecContext) {
		session, client := start(ctx)
		js := get(ctx, client, "hello")
		Expect(js.Spec.ReplicatedJobs).To(HaveLen(2))
		report(ctx, client, "hello", jobset.JobSetSuspended, "held back")
		Eventually(session).Should(gbytes.Say("Suspended=True Spec: held back\n"))
		report(ctx, client, "hello", jobset.JobSetCompleted, "all done")
		Eventually(session).Should(gexec.Exit(0))
		Expect(session.Out).To(gbytes.Say("^Completed=True Spec: all done\n$"), "conditions that did not change are not repeated")
	})

	It("O437: exits with 1 when the JobSet fails", func(ctx SpecContext) {
		session, client := start(ctx)
		report(ctx, client, "hello", jobset.JobSetFailed, "no more restarts")
		Eventually(session).Should(gexec.Exit(1))
		Expect(session.Out).To(gbytes.Say("Failed=True Spec: no more restarts\n"))
		Expect(session.Err).To(gbytes.Say("error: the JobSet failed\n"))
	})

	It("O437: exits with 1 when somebody deletes the JobSet", func(ctx SpecContext) {
		session, client := start(ctx)
		Expect(client.Delete(ctx, "hello", metav1.DeleteOptions{})).To(Succeed())
		Eventually(session).Should(gexec.Exit(1))
		Expect(session.Err).To(gbytes.Say("was deleted before it finished"))
	})

	It("O437: exits with 1 and says why if the JobSet exists already", func(ctx SpecContext) {
		_, client := start(ctx)
		namespace := get(ctx, client, "hello").Namespace
		second := exec.Command(program, "--kubeconfig", cluster.Kubeconfig(), "--namespace", namespace, "--name", "hello")
		session, err := gexec.Start(second, GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		Eventually(session).Should(gexec.Exit(1))
		Expect(session.Err).To(gbytes.Say("already exists"))
	})
})
