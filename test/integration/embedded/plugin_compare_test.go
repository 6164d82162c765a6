/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// row is what the report says of a strategy.
type row struct {
	Strategy, Refused, Failed string
	Workers, Restarts         int
	FirstStart                float64
	Times                     *struct{ Break, Back, Lift, Run, Total float64 }
	Saved                     *float64 `json:"nodeHoursSavedPerDay"`
}

var _ = Describe("kubectl jobset compare", func() {
	var namespace string
	BeforeEach(func(ctx SpecContext) {
		made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "compare-"}}
		Expect(stories.API().Create(ctx, made)).To(Succeed())
		namespace = made.Name
		DeferCleanup(func(ctx SpecContext) { Expect(stories.API().Delete(ctx, made)).To(Succeed()) })
		serveLogs(ctx)
	})
	left := func(ctx context.Context) []string {
		GinkgoHelper()
		var names []string
		var sets jobset.JobSetList
		Expect(stories.API().List(ctx, &sets, client.InNamespace(namespace))).To(Succeed())
		for i := range sets.Items {
			names = append(names, sets.Items[i].Name)
		}
		return names
	}
	compared := func(out string) (rows []row) {
		GinkgoHelper()
		var report struct{ Strategies []row }
		Expect(json.Unmarshal([]byte(out), &report)).To(Succeed(), out)
		return report.Strategies
	}
	measured := func(strategy string, restarts int, saved OmegaMatcher) OmegaMatcher {
		return MatchFields(IgnoreExtras, Fields{
			"Strategy": Equal(strategy), "Refused": BeEmpty(), "Failed": BeEmpty(), "Workers": Equal(2), "Restarts": Equal(restarts),
			"FirstStart": BeNumerically(">", 0), "Saved": saved,
			"Times": PointTo(MatchAllFields(Fields{"Break": BeNumerically(">", 0), "Back": BeNumerically(">=", 0), "Lift": BeNumerically(">=", 0),
				"Run": BeNumerically(">=", 0), "Total": BeNumerically(">", 0)})),
		})
	}

	// The Job controller waits ten seconds before it replaces a Pod, once in each mode.
	It("P128: measures each strategy when Pods are deleted, with the rights that its page names, and leaves nothing", func(ctx SpecContext) {
		page, err := os.ReadFile(filepath.Join(framework.Root(), "site", "content", "en", "docs", "reference", "kubectl-jobset.md"))
		Expect(err).NotTo(HaveOccurred())
		_, rest, found := strings.Cut(string(page), "`compare` needs these:\n\n```yaml\n")
		Expect(found).To(BeTrue(), "the page shows the Role")
		text, _, _ := strings.Cut(rest, "```")
		role := &rbacv1.Role{}
		Expect(yaml.UnmarshalStrict([]byte(text), role)).To(Succeed())
		may(ctx, namespace, "runner", role)
		var got answer
		Eventually(func() answer { // until the API server knows the rights, nothing is created
			got = kubectlJobSet(ctx, namespace, "compare", "-f", manifest(""), "--as=runner", "--restarts=1", "--between=0s", "--failures-per-day=10", "--nodes=100", "-o=json")
			return got
		}).WithContext(ctx).Should(HaveField("Code", 0))
		Expect(compared(got.Out)).To(HaveExactElements(
			measured("InPlaceRestart Process", 1, PointTo(Not(BeZero()))),
			measured("InPlaceRestart Container", 1, PointTo(Not(BeZero()))),
			measured("Recreate", 1, BeNil())))
		Expect(left(ctx)).To(BeEmpty())
		var pods corev1.PodList
		Expect(stories.API().List(ctx, &pods, client.InNamespace(namespace))).To(Succeed())
		Expect(pods.Items).To(BeEmpty())
	}, SpecTimeout(2*specTime))

	It("P128: lets kubectl run a command in the container of a worker, keeps copies if it is told, and says what admission refuses", func(ctx SpecContext) {
		path := GinkgoT().TempDir()
		called := filepath.Join(path, "called")
		Expect(os.WriteFile(filepath.Join(path, "kubectl"), fmt.Appendf(nil, "#!/bin/sh\necho \"$@\" >> %s\n", called), 0o700)).To(Succeed())
		// Without a command, nothing can be put before it.
		file := manifest("")
		content, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(file, content[:len(content)-len("              command: [/worker]\n")], 0o600)).To(Succeed())

		// The part of the container: each call is followed by what its command would do.
		done := make(chan struct{})
		go func() {
			defer GinkgoRecover()
			defer close(done)
			for calls := 1; calls <= 2; calls++ {
				var name string
				Eventually(func() string {
					text, _ := os.ReadFile(called)
					name = podOfCall(string(text), calls)
					return name
				}).WithContext(ctx).WithTimeout(time.Minute).ShouldNot(BeEmpty())
				pod := &corev1.Pod{}
				Expect(stories.API().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod)).To(Succeed())
				worker := stories.Container{Pod: pod, Name: "worker"}
				Eventually(func() (string, error) { return shown.Log(ctx, worker) }).WithContext(ctx).WithTimeout(time.Minute).
					Should(ContainSubstring(`"msg":"start"`), "before that it hears no signal")
				_, err := shown.Signal(ctx, order.Exit(1), worker)
				Expect(err).NotTo(HaveOccurred())
			}
		}()
		got := run(command(ctx, path, namespace, "compare", "-f", file, "--restarts=1", "--between=0s", "--keep", "-o", "json", "--exec", "kill me",
			"--kubeconfig="+shown.plane.Kubeconfig))
		<-done
		Expect(got).To(HaveField("Code", 0))
		rows := compared(got.Out)
		Expect(rows).To(HaveExactElements(
			And(HaveField("Refused", ContainSubstring("command")), HaveField("Restarts", 0)),
			measured("InPlaceRestart Container", 1, BeNil()), measured("Recreate", 1, BeNil())))
		Expect(os.ReadFile(called)).To(ContainSubstring("--container=worker --kubeconfig=" + shown.plane.Kubeconfig + " -- sh -c kill me\n"))
		Expect(left(ctx)).To(HaveLen(2))
	}, SpecTimeout(2*specTime))

	It("P128: refuses what would harm others, or what it may not do, before it creates anything", func(ctx SpecContext) {
		queued := manifest("\n  labels: {kueue.x-k8s.io/queue-name: gold}")
		Expect(kubectlJobSet(ctx, namespace, "compare", "-f", queued)).To(And(HaveField("Code", 1), HaveField("Out", BeEmpty()), HaveField("Err", ContainSubstring("--allow-queue"))))

		claims := manifest("")
		more(claims, `            volumes: [{name: data, persistentVolumeClaim: {claimName: checkpoints}}]`)
		Expect(kubectlJobSet(ctx, namespace, "compare", "-f", claims)).To(And(HaveField("Code", 1), HaveField("Out", BeEmpty()),
			HaveField("Err", And(ContainSubstring("PersistentVolumeClaim checkpoints"), ContainSubstring("--allow-claims")))))

		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "runs-jobsets"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets"}, Verbs: []string{"create", "list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch", "delete"}},
		}}
		may(ctx, namespace, "runner", role)
		Eventually(func() answer { return kubectlJobSet(ctx, namespace, "compare", "-f", manifest(""), "--as", "runner") }).WithContext(ctx).Should(And(HaveField("Code", 1),
			HaveField("Err", Equal("error: nothing was created: in namespace "+namespace+" you may not delete jobsets, get pods/log\n"))))
		Expect(left(ctx)).To(BeEmpty())
	}, SpecTimeout(specTime))

	It("P128: deletes its copies when their workers do not come to run, and says so", func(ctx SpecContext) {
		nowhere := manifest("")
		more(nowhere, `            nodeSelector: {nowhere: "true"}`)
		Expect(kubectlJobSet(ctx, namespace, "compare", "-f", nowhere, "--timeout=3s", "--between=0s")).To(And(HaveField("Code", 1),
			HaveField("Err", ContainSubstring("3 of 3 strategies were not measured to the end")), HaveField("Out", ContainSubstring("after 3s: 2 of 2 workers are not running and ready"))))
		Expect(left(ctx)).To(BeEmpty())
	}, SpecTimeout(specTime))

	It("P128: deletes its copy when it is interrupted", func(ctx SpecContext) {
		interrupted, interrupt := context.WithCancel(ctx)
		defer interrupt()
		var got answer
		done := make(chan struct{})
		go func() {
			defer GinkgoRecover()
			defer close(done)
			got = run(command(interrupted, "", namespace, "compare", "-f", manifest(""), "--between=1h"))
		}()
		Eventually(func() []string { return left(ctx) }).WithContext(ctx).WithTimeout(time.Minute).Should(HaveLen(1))
		interrupt()
		Eventually(done).WithContext(ctx).WithTimeout(time.Minute).Should(BeClosed())
		Expect(got).To(And(HaveField("Code", 1), HaveField("Err", And(ContainSubstring("deleted JobSet "+namespace+"/compare-"), ContainSubstring("error: interrupted"))),
			HaveField("Out", ContainSubstring("InPlaceRestart Process was not measured to the end: interrupted"))))
		Eventually(func() []string { return left(ctx) }).WithContext(ctx).WithTimeout(time.Minute).Should(BeEmpty())
	}, SpecTimeout(specTime))
})

var _ = Describe("kubectl jobset logs", func() {
	It("P129: cuts logs by epoch and rank, and tells who was the first to fail, by the log or by the status of its container", func(ctx SpecContext) {
		serveLogs(ctx)
		group := stories.Create(ctx, stories.Shape{Process: true})
		logs := func(args ...string) answer {
			GinkgoHelper()
			return kubectlJobSet(ctx, group.Namespace(), append([]string{"logs", group.Name()}, args...)...)
		}
		first := group.RunsAt(1)
		group.Tell(order.Exit(3), first.Worker(1))
		second := group.RunsAt(2)
		group.Tell(syscall.SIGKILL, second.Worker(0)) // its supervisor
		group.RunsAt(3)
		Eventually(func() answer { return logs() }).WithContext(ctx).WithTimeout(time.Minute).Should(And(HaveField("Code", 0), HaveField("Err", BeEmpty()), HaveField("Out", And(
			MatchRegexp(`(?m)^1 .* 2 +0 +1 +workers rank 1, Pod %s, container worker, node \S+, exit code 3$`, first.Pods[1].Name),
			MatchRegexp(`(?m)^2 .* 2 +0 +1 +workers rank 0, Pod %s, container worker, node \S+, (exit code 137|signal 9)$`, second.Pods[0].Name),
			MatchRegexp(`(?m)^3 .* - +2 +2 +0 +-$`)))))

		one := logs("--epoch=1", "--rank=1")
		Expect(one.Out).To(And(HavePrefix("==> epoch 1, workers rank 1, Pod "+first.Pods[1].Name), ContainSubstring("; the first to fail: exit code 3 <==\n"),
			ContainSubstring(" run=start epoch=1 rank=1\n"), ContainSubstring(`"epoch":"1","rank":"1"`), ContainSubstring(" run=end epoch=1 rank=1 code=3\n"),
			Not(ContainSubstring("epoch=2"))))
		Expect(logs("--epoch=2").Out).To(And(ContainSubstring(`"epoch":"2","rank":"0"`), ContainSubstring(`"epoch":"2","rank":"1"`),
			MatchRegexp(`==> epoch 2, workers rank 0, .*, before its container was restarted; the first to fail: `), Not(ContainSubstring(`"epoch":"1"`))))
		Expect(logs("--rank=7")).To(And(HaveField("Code", 1), HaveField("Err", ContainSubstring("no log has this epoch and rank"))))
	}, SpecTimeout(specTime))

	It("P129: says which right is missing", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true})
		group.RunsAt(1)
		logs := func() answer { return kubectlJobSet(ctx, group.Namespace(), "logs", group.Name(), "--as=reader") }
		Expect(logs()).To(And(HaveField("Code", 1), HaveField("Out", BeEmpty()), HaveField("Err", ContainSubstring(`cannot get resource "jobsets"`))))
		may(ctx, group.Namespace(), "reader", &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reads"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}},
		}})
		Eventually(logs).WithContext(ctx).Should(And(HaveField("Code", 1), HaveField("Out", BeEmpty()), HaveField("Err", ContainSubstring(`cannot get resource "pods/log"`))))
	}, SpecTimeout(specTime))

	It("P129: refuses in container mode, and says which logs there are", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{})
		group.RunsAt(1)
		Expect(kubectlJobSet(ctx, group.Namespace(), "logs", group.Name())).To(And(HaveField("Code", 1), HaveField("Out", BeEmpty()),
			HaveField("Err", And(ContainSubstring("restarts in place with mode Container"), ContainSubstring("--previous")))))
	}, SpecTimeout(specTime))
})

// may gives a user the rights of a Role.
func may(ctx context.Context, namespace, user string, role *rbacv1.Role) {
	GinkgoHelper()
	role.Namespace = namespace
	Expect(stories.API().Create(ctx, role)).To(Succeed())
	Expect(stories.API().Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})).To(Succeed())
}

// more adds a line to the Pod of a manifest.
func more(file, line string) {
	GinkgoHelper()
	text, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(file, append(text, line+"\n"...), 0o600)).To(Succeed())
}
