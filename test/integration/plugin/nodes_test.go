/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plugin

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	report "sigs.k8s.io/jobset/pkg/restarts"
	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("kubectl jobset nodes", func() {
	It("P95: says that no node is known to have failed", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		w.Create(framework.AB())
		Expect(nodes(ctx, "-n", w.Namespace)).To(Equal("No restart that is still known of began on a known node.\n"))
	})

	It("P95: lists nodes of several JobSets by their failures, from its history and from what is kept of nodes, each once", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		first := failedOn(w, "train-a", "n1", 30*time.Hour, 2*time.Minute) // the first is not in the history any more
		failedOn(w, "train-b", "n1", time.Minute)
		failedOn(w, "train-c", "n2", time.Hour)
		restarted(w, first, "n1", 2*time.Minute-3*time.Second) // a little later

		Expect(nodes(ctx, "-n", w.Namespace)).To(And(
			MatchRegexp(`NODE +FAILURES +JOBSETS +AVOIDED BY +LAST\nn1 +3 +2 +%s/train-a +\d+s\nn2 +1 +1 +- +\d+m\n`, w.Namespace),
			MatchRegexp(`n1 +\S+ +%s/train-a +container worker of worker pod train-a-w-0-0 exited with code 1 on node n1\n`, w.Namespace),
			MatchRegexp(`n1 +30h +%s/train-a +no longer recorded\n`, w.Namespace)))
		Expect(nodes(ctx, "-n", w.Namespace, "--limit", "1")).To(ContainSubstring("... and 2 more, see them with --limit 0"))

		var got []report.FailingNode
		text := nodes(ctx, "-A", "-o", "json")
		Expect(json.Unmarshal([]byte(text), &got)).To(Succeed(), text)
		Expect(got).To(ContainElement(And(HaveField("Name", "n1"), HaveField("JobSets", ContainElements(w.Namespace+"/train-a", w.Namespace+"/train-b")))))
	})

	It("P95: shows them to who may not read events, and refuses who may not list JobSets", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		failedOn(w, "train-a", "n1", time.Minute)
		role := roleOf(w.Namespace, "reference", "kubectl-jobset.md")
		role.Rules[2].Resources = []string{"pods"}
		grant(w, role, "node-reader")
		ask := func() answer { return kubectl(ctx, "jobset", "nodes", "-n", w.Namespace, "--as", "node-reader") }
		Eventually(ask).Should(And(HaveField("Code", 0), HaveField("Out", ContainSubstring("n1"))))
		Expect(kubectl(ctx, "jobset", "nodes", "-n", w.Namespace, "--as", "stranger")).To(And(HaveField("Code", 1), HaveField("Out", BeEmpty()),
			HaveField("Err", MatchRegexp(`^error: listing JobSets: .*"stranger" cannot list resource "jobsets"`))))
		Expect(kubectl(ctx, "jobset", "nodes", "n1")).To(And(HaveField("Code", 1), HaveField("Err", ContainSubstring(`there is no JobSet "n1"`))))
		Expect(kubectl(ctx, "jobset", "nodes", "--limit", "-1")).To(HaveField("Err", ContainSubstring("--limit is -1, it must be 0, which means all, or more")))
	})
})

// nodes runs `kubectl jobset nodes`, which must succeed.
func nodes(ctx context.Context, args ...string) string {
	GinkgoHelper()
	a := kubectl(ctx, append([]string{"jobset", "nodes"}, args...)...)
	Expect(a.Code).To(BeZero(), "kubectl jobset nodes %v: %s", args, a.Err)
	return a.Out
}

// failedOn makes a JobSet whose status remembers failures on a node, the last at the end. Two make it avoid the node.
func failedOn(w *framework.World, name, node string, ago ...time.Duration) *jobset.JobSet {
	GinkgoHelper()
	js := framework.Training(2, 5)
	js.Name = name
	js.Spec.FaultTolerance = &jobset.FaultTolerance{AvoidNodes: &jobset.AvoidNodes{Failures: 2}}
	js = w.Create(js)
	failures := jobset.NodeFailures{Node: node, Cause: "container worker of worker pod " + name + "-w-0-0 exited with code 1 on node " + node}
	for _, d := range ago {
		failures.Times = append(failures.Times, metav1.NewTime(time.Now().Add(-d)))
	}
	if len(ago) == 2 {
		failures.AvoidedSince = ptr.To(failures.Times[1])
	}
	js.Status.FaultTolerance = &jobset.FaultToleranceStatus{NodeFailures: []jobset.NodeFailures{failures}}
	Expect(w.Client.Status().Update(w.Context, js)).To(Succeed())
	return js
}

// restarted writes a restart that began on a node.
func restarted(w *framework.World, js *jobset.JobSet, node string, ago time.Duration) {
	GinkgoHelper()
	js.Status.RestartHistory = []jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Began: metav1.NewMicroTime(time.Now().Add(-ago)),
		Cause: jobset.RestartCause{Type: jobset.CauseExited, Container: "worker", Pod: js.Name + "-w-0-0", ExitCode: 1, Node: node}}}
	Expect(w.Client.Status().Update(w.Context, js)).To(Succeed())
}
