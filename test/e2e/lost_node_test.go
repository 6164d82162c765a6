/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

// lostNodeVariable chooses the settings of the JobSets whose node is lost; nothing is measured without it.
const lostNodeVariable = "E2E_LOST_NODE"

// lossSettings are what a JobSet sets for nodes that do not answer. The grace period of the node is that of the cluster.
type lossSettings struct {
	name string
	// tolerates is tolerationSeconds, 0 for those that the API server adds: 300.
	tolerates, grace int64
	// force and pause are forcefulDeletionGracePeriodSeconds and retryPauseSeconds.
	force, pause int32
}

// usual are the defaults of Kubernetes for a Pod. Deleting by force after 600 s would show nothing but that it takes as long.
var (
	usual = lossSettings{"300 s tolerated, grace 30 s, forced after 30 s, pause 10 s", 0, 30, 30, 10}
	soon  = lossSettings{"5 s tolerated, grace 5 s, forced after 10 s, pause 10 s", 5, 5, 10, 10}
)

const lossTime = 20 * time.Minute

var _ = Describe("all strategies when a node is lost", Serial, Label("node-loss", "slow", "lost-node"), func() {
	DescribeTable("each second until all run again", func(ctx SpecContext, wanted string, settings lossSettings, lose string) {
		if os.Getenv(lostNodeVariable) != wanted {
			Skip("set " + lostNodeVariable + "=" + wanted + " to measure this")
		}
		groups := loseable(ctx, settings)
		place := placeToLose(ctx, groups[0].before)
		node := groups[0].before.Pods[place].Spec.NodeName
		docker(ctx, lose, node)
		at := time.Now()
		DeferCleanup(func(ctx SpecContext) { bringBack(ctx, node) })
		unreachable := becomesUnreachable(ctx, node, at)

		var fenced time.Duration
		for _, tolerant := range []bool{true, false} { // the others wait until somebody acts
			if !tolerant {
				for _, g := range groups {
					if !g.InPlace() {
						continue // its Job fails when the lost Pod is gone
					}
					Eventually(g.HasBroken).WithContext(ctx).WithTimeout(lossTime).WithPolling(tick).Should(BeTrue(), g.Namespace())
				}
				taint(ctx, node, true)
				fenced = time.Since(at)
			}
			for _, g := range groups {
				if g.tolerant != tolerant {
					continue
				}
				mine := slices.IndexFunc(g.before.Pods, func(pod *corev1.Pod) bool { return pod.Spec.NodeName == node })
				after := g.RunsWithin(lossTime)
				loss := g.NodeLoss(at, g.before.Pods[mine], after, mine)
				loss.How, loss.Settings, loss.Tolerant, loss.Unreachable = lose, settings.name, tolerant, unreachable
				if !tolerant {
					loss.Fenced = fenced
				}
				AddReportEntry(stories.NodeLossEntry, loss, ReportEntryVisibilityNever)
			}
		}
	},
		Entry("docker pause, soon", SpecTimeout(lossTime), "soon", soon, "pause"),
		Entry("docker stop, soon", SpecTimeout(lossTime), "soon", soon, "stop"),
		Entry("docker pause, with the usual settings", SpecTimeout(lossTime), "usual", usual, "pause"),
		Entry("docker stop, with the usual settings", SpecTimeout(lossTime), "usual", usual, "stop"),
	)
})

type loseableGroup struct {
	*stories.Group
	before   *stories.Round
	tolerant bool
}

// loseable makes one group of each kind, of two workers on the same two nodes.
func loseable(ctx SpecContext, settings lossSettings) (groups []loseableGroup) {
	GinkgoHelper()
	for _, shape := range []stories.Shape{{Process: true}, {}, {Strategy: jobset.Recreate}} {
		for _, tolerant := range []bool{false, true} {
			shape.Change = func(js *jobset.JobSet) { settings.apply(js, tolerant) }
			groups = append(groups, loseableGroup{Group: stories.Create(ctx, shape), tolerant: tolerant})
		}
	}
	for i := range groups {
		if g := &groups[i]; g.InPlace() {
			g.before = g.RunsAt(1)
		} else {
			g.before = g.RunsAttempt(0)
		}
	}
	return groups
}

func (s lossSettings) apply(js *jobset.JobSet, tolerant bool) {
	onDifferentNodes(js)
	js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To(s.grace)
	if s.tolerates > 0 {
		tolerateLoss(js, s.tolerates)
	}
	if tolerant {
		js.Spec.FaultTolerance = &jobset.FaultTolerance{ForcefulDeletionGracePeriodSeconds: ptr.To(s.force), RetryPauseSeconds: ptr.To(s.pause)}
	}
}

// becomesUnreachable returns how long after a moment a node had the taint for it.
func becomesUnreachable(ctx context.Context, node string, since time.Time) (after time.Duration) {
	GinkgoHelper()
	Eventually(func(expect Gomega) {
		got, err := live.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		expect.Expect(err).NotTo(HaveOccurred())
		after = time.Since(since)
		expect.Expect(slices.ContainsFunc(got.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == corev1.TaintNodeUnreachable && t.Effect == corev1.TaintEffectNoExecute
		})).To(BeTrue(), "node %s is unreachable", node)
	}).WithContext(ctx).WithTimeout(patience).WithPolling(tick).Should(Succeed())
	return after
}

// lossTable shows whose time it was until all ran again after a node was lost, one row for each group.
func lossTable(specs types.SpecReports) string {
	all := stories.Entries[stories.NodeLoss](specs, stories.NodeLossEntry)
	if len(all) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("## A lost node: seconds from the loss\n\n" +
		"| docker | settings | strategy | faultTolerance | unreachable | told to stop | break | out-of-service taint | lost Pod gone | replacement exists | has a node | all run |\n" +
		"|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, l := range all {
		way := string(l.Strategy)
		if l.Strategy == jobset.InPlaceRestart {
			way += map[bool]string{true: ", process mode", false: ", container mode"}[l.Process]
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %t |", l.How, l.Settings, way, l.Tolerant)
		for _, after := range []time.Duration{l.Unreachable, l.Told, l.Broke, l.Fenced, l.Gone, l.Created, l.Placed, l.Runs} {
			if after <= 0 { // it was not seen
				out.WriteString(" - |")
				continue
			}
			fmt.Fprintf(&out, " %.1f |", after.Seconds())
		}
		out.WriteString("\n")
	}
	return out.String()
}
