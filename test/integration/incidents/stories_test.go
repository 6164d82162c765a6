/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package incidents

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/test/worker/order"
)

// nothing is wrong that anybody would have to look at.
const nothing = `^(?s:.*)$`

var _ = Describe("An operator sees", func() {
	// 64 s: three troubles one after the other, and each has to show in status, events, plugin and metrics.
	It("C373 C374 C375: a node die, its Pod hang, and its successor fail to pull", func(ctx SpecContext) {
		i := begin(ctx, "jobset-agent")
		a, b, c, d := i.namespace+"-a", i.namespace+"-b", i.namespace+"-c", i.namespace+"-d"
		startNode(a, i.namespace, containers)
		dies := startNode(b, i.namespace, containers)
		i.trains(10)
		lost := on(i.runsAt(1), b)

		dies()
		i.minute("03:02, the node is silent: the status still says running", sees{
			condition: `WorkersNotReady=True WorkersNotReady: 1 of 2 workers of epoch 1 not ready: ` + lost.Name + ` on node ` + b + ` since \S+, its node has stopped reporting`,
			event:     `Warning WorkersNotReady: 1 of 2 workers of epoch 1 not ready: ` + lost.Name,
			plugin:    `(?s)State: +running at epoch 1\b.*Workers: +1 of 2 not ready: 1 NodeSilent\n.*` + lost.Name + ` +` + b + ` +1 +\S+ +NodeSilent +its node has stopped reporting; if that machine is off`,
			alerts:    []string{"JobSetWorkersNotReady"},
		})
		i.isEvicted(lost)
		i.minute("03:20, Kubernetes evicts it, and the dead node does not let it go: the group waits without end", sees{
			event:     `Warning InPlaceRestartStarted: worker pod ` + lost.Name + ` was deleted \(DeletionByTaintManager\) on node ` + b,
			condition: `WorkersNotReady=False GroupNotRunning: `,
			plugin: `(?s)State: +assembling .*Workers: +\d of 2 not back: .*1 Terminating.*` + lost.Name + ` +` + b +
				` +1 +\S+ +Terminating +(DeletionByTaintManager, )?its grace period ended`,
			alerts: []string{"JobSetGroupNotTogether", "JobSetPodStuck"},
		})

		By("03:40, the operator has made sure that the machine is off. The replacement comes to a node that cannot pull")
		startNode(c, i.namespace, cannotPull{containers})
		kubectl(ctx, "taint node "+b+" node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
		i.minute("03:45, all have reported, and one cannot start", sees{
			condition: `WorkersNotReady=True WorkersNotReady: 1 of 2 workers of epoch 2 not ready: \S+ on node ` + c + ` since \S+, container worker waits: ImagePullBackOff`,
			event:     `Warning WorkersNotReady: 1 of 2 workers of epoch 2 not ready: \S+ on node ` + c,
			plugin:    `(?s)State: +running at epoch 2\b.*Workers: +1 of 2 not ready: 1 Blocked\n.*` + c + ` +2 +\S+ +Blocked +container worker: ErrImagePull, .*connection refused`,
			alerts:    []string{"JobSetWorkersNotReady"},
		})

		By("03:50, as the page says: cordon, and delete one Pod")
		startNode(d, i.namespace, containers)
		kubectl(ctx, "cordon "+c)
		kubectl(ctx, "delete pod -n "+i.namespace+" --wait=false "+on(i.pods(), c).Name)
		on(i.runsAt(3), d)
		i.minute("03:52, it runs", sees{
			event: `Normal InPlaceRestartCompleted: 2 workers restarted in place: epoch 3`, condition: `WorkersNotReady=False `,
			plugin: `(?s)State: +running at epoch 3\b.*Restarts: +2 of 10 used.*Workers: +all 2 back\n`, alerts: nil,
		})
	}, SpecTimeout(6*time.Minute))

	// 42 s: nobody reports, so a period of P24 must pass.
	It("C375 P24: agents that may not report", func(ctx SpecContext) {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "reads-only-"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"jobset.x-k8s.io"}, Resources: []string{"jobsets"}, Verbs: []string{"get", "list", "watch"}},
		}}
		Expect(api.Create(ctx, role)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(api.Delete(ctx, role)).To(Succeed()) })
		i := begin(ctx, role.Name)
		startNode(i.namespace+"-a", i.namespace, containers)
		startNode(i.namespace+"-b", i.namespace, containers)
		i.trains(10)

		i.minute("03:01, nobody is back, and the plugin says where to look", sees{
			event: nothing, condition: nothing,
			plugin: `(?s)State: +assembling .*first start.*Workers: +2 of 2 not back: 2 NotReported\n.*NotReported +runs, its agent has not reported an epoch; see: kubectl logs \S+ -c jobset-agent`,
			alerts: nil,
		})
		Eventually(func(g Gomega) { // of Pods that may be about to be replaced
			pods := i.pods()
			g.Expect(pods).NotTo(BeEmpty())
			g.Expect(log(pods[0], "jobset-agent")).To(ContainSubstring("403 Forbidden"))
		}).WithContext(ctx).Should(Succeed())
		i.minute("03:05, it takes too long, and the JobSet says what is lacking", sees{
			event: `Warning AgentAccessDenied: .*patch pods`, condition: `AgentAccessDenied=True AgentAccessDenied: `, plugin: `2 of 2 not back: 2 NotReported`, alerts: []string{"JobSetGroupNotTogether"},
		})
		i.minute("03:10, the manager recreates the Pods, and says which", sees{
			event:     `Warning WorkersMissing: 2 of 2 workers have not reported epoch 1 within 20s`,
			condition: nothing, plugin: `2 of 2 not back`, alerts: []string{"JobSetGroupNotTogether"},
		})

		By("03:12, the operator gives the right")
		i.binds("jobset-agent")
		i.runsAt(1)
		i.minute("03:13, it runs", sees{
			event: nothing, condition: nothing, plugin: `(?s)State: +running at epoch 1.*Workers: +all 2 back\n`, alerts: nil,
		})
	}, SpecTimeout(4*time.Minute))

	// 23 s: as many restarts as the budget has, with growing pauses.
	It("C374 C375 P15: a crash loop from bad data, until the budget is spent", func(ctx SpecContext) {
		i := begin(ctx, "jobset-agent")
		startNode(i.namespace+"-a", i.namespace, containers)
		startNode(i.namespace+"-b", i.namespace, containers)
		i.trains(9)
		fails := func(epoch int32) {
			pod := i.runsAt(epoch)[0]
			i.listens(pod, epoch-1)
			signal(pod, order.Exit(3))
		}
		for epoch := int32(1); epoch <= 8; epoch++ {
			fails(epoch)
		}
		last := i.runsAt(9)
		cause := `container worker of worker pod ` + last[0].Name + ` exited with code 3 on node ` + last[0].Spec.NodeName
		i.minute("03:02, eight restarts later", sees{
			event:     `Warning InPlaceRestartStarted: ` + cause + `; all workers of epoch 8 restart in place`,
			condition: `RestartingJobSet=False WorkersSynced: all 2 workers have reached epoch 9`,
			plugin:    `(?s)State: +running at epoch 9\b.*Restarts: +8 of 9 used, 1 left .*(InPlace +\d to \d +\S+ \(\S+ ago\) +\d+\.\ds +` + cause + `\s+){2}`,
			alerts:    []string{"JobSetRestartBudgetNearlySpent", "JobSetRestartLoop", "JobSetRestartLoopSlow"},
		})
		By("the logs of all runs are there, as long as the Pod is")
		i.listens(last[0], 8)
		Expect(log(last[0], "worker")).To(MatchRegexp(`(?s)simnode: \S+ run 0 .*simnode: \S+ run 8 `))

		fails(9)
		fails(10)
		i.minute("03:03, no restart is left", sees{
			event: `Warning ReachedMaxRestarts: `, condition: `Failed=True ReachedMaxRestarts: `,
			plugin: `(?s)State: +failed .*Restarts: +9 of 9 used, 0 left`,
			alerts: []string{"JobSetRestartLoop", "JobSetRestartLoopSlow"},
		})
	}, SpecTimeout(4*time.Minute))
})
