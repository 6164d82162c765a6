/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/pkg/constants"
	report "sigs.k8s.io/jobset/pkg/restarts"
	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("kubectl jobset", func() {
	It("is found by kubectl on PATH", func(ctx SpecContext) {
		Expect(kubectl(ctx, "plugin", "list").Out).To(ContainSubstring("/kubectl-jobset\n"))
		Expect(kubectl(ctx, "jobset", "version").Out).To(HavePrefix("jobset v"))
		Expect(kubectl(ctx, "jobset", "--help").Out).To(ContainSubstring("kubectl jobset restarts train"))
	})

	It("tells a group restart from its first worker to its end", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		w.StartManager()
		js, pods := w.RunningGroup(framework.Training(3, 5))
		Expect(restarts(ctx, "train", "-n", w.Namespace)).To(And(
			MatchRegexp(`JobSet: +%s/train\n`, w.Namespace),
			MatchRegexp(`State: +running at epoch 1\n`),
			MatchRegexp(`Restarts: +0 of 5 used, 5 left`),
			MatchRegexp(`Workers: +all 3 back\n`),
			Not(ContainSubstring("Last restarts")), Not(ContainSubstring("Note:"))))

		begun := time.Now()
		w.Agents.Report(2, pods[1])
		w.Reaches(js, 1, 1)
		w.TellsUser(js, corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "")
		Expect(restarts(ctx, "train", "-n", w.Namespace)).To(And(
			MatchRegexp(`State: +assembling for \d+s, the workers are held until all report epoch 2\n`),
			MatchRegexp(`Because: +worker pod %s restarted, its exit code was not seen; `, pods[1].Name),
			MatchRegexp(`Restarts: +1 of 5 used, 4 left \(1 in place`),
			MatchRegexp(`Workers: +2 of 3 not back: `),
			MatchRegexp(`workers +0 +0 +%s .* 1 +\S+ +(Waiting|Unscheduled|NotReported) `, pods[0].Name),
			MatchRegexp(`InPlace +1 to 2 .* so far +worker pod %s restarted`, pods[1].Name)))

		w.Agents.Report(2, pods[0], pods[2])
		w.Reaches(js, 1, 2)
		w.TellsUser(js, corev1.EventTypeNormal, constants.InPlaceRestartCompletedReason, "")
		text := restarts(ctx, "train", "-n", w.Namespace, "-o", "json")
		var got report.Report
		Expect(json.Unmarshal([]byte(text), &got)).To(Succeed(), text)
		Expect(got.State.Name).To(Equal(report.Running))
		Expect(got.Epochs).To(HaveValue(Equal(report.Epochs{Synced: 2, Deprecated: 1})))
		Expect(got.Workers).To(HaveValue(Equal(report.Workers{Total: 3, Back: 3})))
		Expect(got.LastRestarts).To(HaveLen(1))
		last := got.LastRestarts[0]
		Expect(last.Ended).NotTo(BeNil())
		Expect(last.Seconds).To(HaveValue(BeNumerically("<=", time.Since(begun).Seconds()+1)))
		Expect(last.Because).To(Equal("worker pod " + pods[1].Name + " restarted, its exit code was not seen"))
		Expect(got.Notes).To(BeEmpty())
	})

	It("counts only what belongs to the JobSet, and sees a worker that is gone", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		w.StartManager()
		js, pods := w.RunningGroup(framework.Training(2, 5))
		other := framework.Training(1, 5)
		other.Name = "another"
		w.Create(other)

		w.Kubelet.Removes(pods[0])
		w.Reaches(js, 1, 1)
		Expect(restarts(ctx, "train", "-n", w.Namespace)).To(And(
			MatchRegexp(`Jobs: +1 of 1 created`),
			MatchRegexp(`Workers: +2 of 2 not back: `),
			MatchRegexp(`workers +0 +0 +- +- +- +- +NoPod `)))
	})

	It("says what JobSets of another strategy lack", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		w.Create(framework.AB())
		Expect(restarts(ctx, "js", "-n", w.Namespace)).To(And(
			MatchRegexp(`Strategy: +Recreate\n`), MatchRegexp(`State: +running\n`), ContainSubstring("Note: there is no failurePolicy"),
			Not(ContainSubstring("Epochs:")), Not(ContainSubstring("Workers:"))))
	})

	It("needs the rights that its page names, prints the rest without that to events, and refuses who may not read JobSets", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		w.Create(framework.Training(1, 5))
		role := roleOf(w.Namespace, "reference", "kubectl-jobset.md")
		grant(w, role, "reader")
		asReader := func() answer { return kubectl(ctx, "jobset", "restarts", "train", "-n", w.Namespace, "--as", "reader") }
		Eventually(asReader).Should(And(HaveField("Code", 0), HaveField("Out", And(ContainSubstring("Workers:"), Not(ContainSubstring("Note:"))))))
		Expect(kubectl(ctx, "__complete", "jobset", "restarts", "-n", w.Namespace, "--as", "reader", "").Out).To(HavePrefix("train\n"))

		Expect(role.Rules[2].Resources).To(Equal([]string{"pods", "events"}))
		framework.Change(w, role, func(role *rbacv1.Role) { role.Rules[2].Resources = []string{"pods"} })
		Eventually(asReader).Should(And(HaveField("Code", 0),
			HaveField("Out", MatchRegexp(`(?s)Workers: .*Note: events could not be read, so what they report about agents and Services is missing here: .*User "reader" cannot list resource "events"`))))

		stranger := kubectl(ctx, "jobset", "restarts", "train", "-n", w.Namespace, "--as", "stranger")
		Expect(stranger).To(And(HaveField("Code", 1), HaveField("Out", BeEmpty()),
			HaveField("Err", MatchRegexp(`^error: reading JobSet %s/train: .*"stranger" cannot get resource "jobsets"`, regexp.QuoteMeta(w.Namespace)))))
	})

	It("says what is wrong when there is no such JobSet, and when there are none in the cluster", func(ctx SpecContext) {
		namespace := cluster.NewNamespace(ctx)
		Expect(kubectl(ctx, "jobset", "restarts", "nobody", "-n", namespace)).To(Equal(answer{Code: 1,
			Err: `error: there is no JobSet "nobody" in namespace "` + namespace + `"; --namespace chooses another` + "\n"}))
		// Below this path the API server answers as one that knows no such API.
		Expect(kubectl(ctx, "jobset", "restarts", "nobody", "-n", namespace, "--server", cluster.Config.Host+"/none")).To(
			HaveField("Err", ContainSubstring("this cluster does not serve jobset.x-k8s.io/v1alpha2")))
	})

	It("completes the names of JobSets through kubectl", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		js := framework.AB()
		js.Spec.Suspend = ptr.To(true)
		w.Create(js)
		Expect(kubectl(ctx, "__complete", "jobset", "restarts", "-n", w.Namespace, "").Out).To(HavePrefix("js\n:4"))
	})
})

// grant creates a Role and gives it to a user.
func grant(w *framework.World, role *rbacv1.Role, user string) {
	GinkgoHelper()
	Expect(w.Client.Create(w.Context, role)).To(Succeed())
	Expect(w.Client.Create(w.Context, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})).To(Succeed())
}

// roleOf is the Role that a page of the documentation shows.
func roleOf(namespace string, page ...string) *rbacv1.Role {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(append([]string{cluster.Root, "site", "content", "en", "docs"}, page...)...))
	Expect(err).NotTo(HaveOccurred())
	_, rest, found := strings.Cut(string(content), "```yaml\n")
	Expect(found).To(BeTrue(), "the page shows no Role")
	text, _, _ := strings.Cut(rest, "```")
	role := &rbacv1.Role{}
	Expect(yaml.UnmarshalStrict([]byte(text), role)).To(Succeed())
	role.Namespace = namespace
	return role
}
