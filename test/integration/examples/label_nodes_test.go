/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("O438: label-nodes.sh", func() {
	const zone = "topology.kubernetes.io/zone"

	BeforeEach(func(ctx SpecContext) {
		for name, labels := range map[string]map[string]string{
			"a1": {zone: "a"}, "a2": {zone: "a"}, "b1": {zone: "b"}, "unzoned": {},
			"control": {zone: "c", "node-role.kubernetes.io/control-plane": ""},
		} {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
			Expect(cluster.Client.Create(ctx, node)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(cluster.Client.Delete(ctx, node)).To(Succeed()) })
		}
	})

	It("gives each Job all nodes of a domain of its own, and again changes nothing", func(ctx SpecContext) {
		_, err := labelNodes("--namespace", "team", zone, "js-workers-0", "js-workers-1")
		Expect(err).NotTo(HaveOccurred())
		want := map[string]string{"a1": "team_js-workers-0", "a2": "team_js-workers-0", "b1": "team_js-workers-1"}
		Expect(reserved(ctx)).To(Equal(want))

		output, err := labelNodes("--namespace", "team", zone, "js-workers-1", "js-workers-0")
		Expect(err).NotTo(HaveOccurred())
		Expect(output).To(BeEmpty())
		Expect(reserved(ctx)).To(Equal(want))
	})

	It("says with --dry-run what it would do, and does nothing", func(ctx SpecContext) {
		output, err := labelNodes("--dry-run", zone, "js-workers-0")

		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Split(strings.TrimSpace(output), "\n")).To(Equal([]string{
			"kubectl taint nodes a1 alpha.jobset.sigs.k8s.io/no-schedule=true:NoSchedule --overwrite",
			"kubectl label nodes a1 alpha.jobset.sigs.k8s.io/namespaced-job=default_js-workers-0 --overwrite",
			"kubectl taint nodes a2 alpha.jobset.sigs.k8s.io/no-schedule=true:NoSchedule --overwrite",
			"kubectl label nodes a2 alpha.jobset.sigs.k8s.io/namespaced-job=default_js-workers-0 --overwrite",
		}))
		Expect(reserved(ctx)).To(BeEmpty())
	})

	It("changes nothing when there are too few domains", func(ctx SpecContext) {
		output, err := labelNodes(zone, "js-workers-0", "js-workers-1", "js-workers-2")

		Expect(err).To(HaveOccurred())
		Expect(output).To(ContainSubstring("no domain left for js-workers-2: there are 2"))
		Expect(reserved(ctx)).To(BeEmpty())
	})

	It("changes nothing when no node has the label of the topology", func(ctx SpecContext) {
		output, err := labelNodes("example.com/rack", "js-workers-0")

		Expect(err).To(HaveOccurred())
		Expect(output).To(ContainSubstring("no domain left for js-workers-0: there are 0"))
		Expect(reserved(ctx)).To(BeEmpty())
	})

	It("leaves the domains of other Jobs alone, and gives back what it took with --undo", func(ctx SpecContext) {
		_, err := labelNodes(zone, "js-workers-0")
		Expect(err).NotTo(HaveOccurred())
		_, err = labelNodes(zone, "other-workers-0")
		Expect(err).NotTo(HaveOccurred())
		Expect(reserved(ctx)).To(HaveKeyWithValue("b1", "default_other-workers-0"))

		_, err = labelNodes("--undo", "js-workers-0")
		Expect(err).NotTo(HaveOccurred())
		Expect(reserved(ctx)).To(Equal(map[string]string{"b1": "default_other-workers-0"}))
	})

	It("finishes an --undo that ended after it had removed the taint of a node, and not yet the label", func(ctx SpecContext) {
		_, err := labelNodes("--namespace", "team", zone, "js-workers-0")
		Expect(err).NotTo(HaveOccurred())
		node := &corev1.Node{}
		Expect(cluster.Client.Get(ctx, client.ObjectKey{Name: "a1"}, node)).To(Succeed())
		node.Spec.Taints = nil
		Expect(cluster.Client.Update(ctx, node)).To(Succeed())
		Expect(reserved(ctx)).To(HaveKeyWithValue("a1", "half team_js-workers-0"))

		_, err = labelNodes("--namespace", "team", "--undo", "js-workers-0")
		Expect(err).NotTo(HaveOccurred())
		Expect(reserved(ctx)).To(BeEmpty())
	})

	It("explains itself when it is called in a wrong way", func() {
		output, err := labelNodes(zone)

		Expect(err).To(HaveOccurred())
		Expect(output).To(ContainSubstring("label-nodes.sh [--namespace NAMESPACE] [--dry-run] TOPOLOGY JOB..."))
	})
})

// reserved are the nodes that are labelled and tainted, with the Job they are
// for; a node that is only one of both has "half" in front.
func reserved(ctx context.Context) map[string]string {
	GinkgoHelper()
	var nodes corev1.NodeList
	Expect(cluster.Client.List(ctx, &nodes)).To(Succeed())
	found := map[string]string{}
	for i := range nodes.Items {
		node := &nodes.Items[i]
		job, labelled := node.Labels[jobset.NamespacedJobKey]
		tainted := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == jobset.NoScheduleTaintKey && t.Value == "true" && t.Effect == corev1.TaintEffectNoSchedule
		})
		switch {
		case labelled && tainted:
			found[node.Name] = job
		case labelled || tainted:
			found[node.Name] = "half " + job
		}
	}
	return found
}

// labelNodes runs the script with all rights and returns all it prints.
func labelNodes(args ...string) (string, error) {
	GinkgoHelper()
	script, err := filepath.Abs(root + "/examples/node-selector-placement/label-nodes.sh")
	Expect(err).NotTo(HaveOccurred())
	command := exec.Command(script, args...)
	command.Env = append(os.Environ(),
		"KUBECONFIG="+cluster.Kubeconfig(),
		"PATH="+os.Getenv(framework.AssetsEnv)+string(os.PathListSeparator)+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	return string(output), err
}
