/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("Leader election", func() {
	var first, second *manager

	BeforeEach(func(ctx SpecContext) {
		a, b := newSettings(), newSettings()
		a.lease, b.lease = shortLease, shortLease
		webhooksOn(ctx, b.webhook, nil)
		mount(a.certDir)
		mount(b.certDir)
		first = start(ctx, a)
		first.isReady()
		Eventually(holder(ctx)).ShouldNot(BeEmpty())
		second = start(ctx, b)
		second.isReady()
	})

	It("O32, O65, O76: lets one act while all answer webhooks, and another act when the first is killed", func(ctx SpecContext) {
		namespace, scraper := newNamespace(ctx), allowedToken(ctx)
		leader := holder(ctx)()

		By("creating a JobSet through the webhooks of the second, whose Jobs the first makes")
		one := newJobSet(namespace, "one")
		create(ctx, one)
		Eventually(jobsOf(ctx, one)).Should(Equal(1))
		Eventually(first.reconciles(scraper)).Should(BeTrue())
		Expect(second.reconciles(scraper)()).To(BeFalse())
		Expect(holder(ctx)()).To(Equal(leader))

		By("killing the first: the second waits until the lease is over")
		first.crash()
		Eventually(holder(ctx)).Should(SatisfyAll(Not(BeEmpty()), Not(Equal(leader))))
		two := newJobSet(namespace, "two")
		Expect(plane.client.Create(ctx, two)).To(Succeed())
		Eventually(jobsOf(ctx, two)).Should(Equal(1))
		Eventually(second.reconciles(scraper)).Should(BeTrue())
	})

	It("O29-O33, O76: hands the lease over when the leader is stopped", func(ctx SpecContext) {
		leader := holder(ctx)()
		var lease coordinationv1.Lease
		Expect(plane.client.Get(ctx, client.ObjectKey{Namespace: system, Name: leaseName}, &lease)).To(Succeed())
		Expect(*lease.Spec.LeaseDurationSeconds).To(Equal(int32(15)), "O30")
		first.stop()
		Eventually(holder(ctx)).Should(SatisfyAll(Not(BeEmpty()), Not(Equal(leader))))
	})
})

// holder tells who holds the lease.
func holder(ctx context.Context) func() string {
	return func() string {
		var lease coordinationv1.Lease
		if err := plane.client.Get(ctx, client.ObjectKey{Namespace: system, Name: leaseName}, &lease); err != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
}

// reconciles reports whether the manager has reconciled a JobSet.
func (m *manager) reconciles(token string) func() bool {
	return func() bool {
		GinkgoHelper()
		status, text, err := m.scrape(token)
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusOK))
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, `controller_runtime_reconcile_time_seconds_count{controller="jobset"}`) && !strings.HasSuffix(line, " 0\n") {
				return true
			}
		}
		return false
	}
}

var _ = Describe("Metrics", func() {
	It("C1, C227, O73, O79, O80, O98, O495: are for those who may get /metrics", func(ctx SpecContext) {
		m := startReady(ctx, newSettings())

		status, _, err := m.scrape("")
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusUnauthorized), "no token")
		status, text, err := m.scrape("nonsense")
		Expect(err).NotTo(HaveOccurred())
		// The API server calls it an error, and the library passes that on as its own.
		Expect(status).To(BeElementOf(http.StatusUnauthorized, http.StatusInternalServerError), "a token that is none")
		Expect(text).NotTo(ContainSubstring("jobset_"))
		status, text, err = m.scrape(token(ctx, newNamespace(ctx), "nobody"))
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusForbidden), "a token without rights")
		Expect(text).NotTo(ContainSubstring("jobset_"))

		js := newJobSet(newNamespace(ctx), "measured")
		create(ctx, js)
		Eventually(m.reconciles(allowedToken(ctx))).Should(BeTrue())
		status, text, err = m.scrape(allowedToken(ctx))
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusOK))
		for _, metric := range []string{
			"# TYPE jobset_in_place_restarts_total counter", "# TYPE jobset_in_place_restart_duration_seconds histogram",
			`jobset_restarts_total{action="RestartJobSet"} 0`,
			`controller_runtime_reconcile_errors_total{controller="jobset"} 0`,
			`controller_runtime_reconcile_time_seconds_count{controller="jobset"} `,
			`controller_runtime_reconcile_errors_total{controller="pod"} 0`, // C1: both controllers are of this process
			`workqueue_adds_total{controller="jobset",name="jobset"`,
			`workqueue_adds_total{controller="pod",name="pod"`,
		} {
			Expect(text).To(ContainSubstring(metric))
		}

		By("refusing to speak without TLS")
		response, err := (&http.Client{Timeout: time.Minute}).Get("http://" + m.address(m.metrics) + "/metrics")
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response.StatusCode).To(Equal(http.StatusBadRequest))
	})
})

// allowedToken is one of the Prometheus that config/prometheus is for, with the rights
// that it gives, once the authorizer has heard of them: managers remember for a while that they were told no.
func allowedToken(ctx context.Context) string {
	GinkgoHelper()
	scraper := token(ctx, "monitoring", "prometheus-k8s")
	binding := framework.Rendered[rbacv1.ClusterRoleBinding](framework.Render("config/prometheus"), "ClusterRoleBinding jobset-prometheus-metrics-reader")
	Expect(client.IgnoreAlreadyExists(plane.client.Create(ctx, &binding))).To(Succeed())
	Eventually(func() (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:                  "system:serviceaccount:monitoring:prometheus-k8s",
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
		}}
		err := plane.client.Create(ctx, review)
		return review.Status.Allowed, err
	}).Should(BeTrue())
	return scraper
}

// request is what we read of a line of the audit log.
type request struct {
	User           struct{ Username string }
	UserAgent      string
	Verb           string
	RequestURI     string
	ResponseStatus struct{ Code int }
	// RequestObject is kept of questions about rights, nil otherwise.
	RequestObject *authorizationv1.SubjectAccessReview
}

// ofAgentLeases is what requests for the Leases of agents begin with.
const ofAgentLeases = "/apis/coordination.k8s.io/v1/leases?"

// requestsOf are the requests of a user in all specs so far, but for those of the Leases of agents: one spec takes the right to them away.
func requestsOf(user string) []request {
	GinkgoHelper()
	return slices.DeleteFunc(allRequestsOf(user), func(r request) bool { return strings.HasPrefix(r.RequestURI, ofAgentLeases) })
}

func allRequestsOf(user string) []request {
	GinkgoHelper()
	file, err := os.Open(plane.audit)
	Expect(err).NotTo(HaveOccurred())
	defer file.Close() //nolint:errcheck // only read
	var found []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			continue // the last line may be half written
		}
		if r.User.Username == user {
			found = append(found, r)
		}
	}
	Expect(lines.Err()).NotTo(HaveOccurred())
	return found
}

var _ = Describe("At the API server", func() {
	It("C2: looks again after every write of a JobSet, one of its status too", func(ctx SpecContext) {
		startReady(ctx, newSettings())
		js := newJobSet(newNamespace(ctx), "looked-at")
		create(ctx, js)
		counts := func() ([]jobset.ReplicatedJobStatus, error) {
			err := plane.client.Get(ctx, client.ObjectKeyFromObject(js), js)
			return js.Status.ReplicatedJobsStatus, err
		}
		want := []jobset.ReplicatedJobStatus{{Name: "workers"}}
		Eventually(counts).Should(Equal(want))

		generation := js.Generation
		wrong := `{"status":{"replicatedJobsStatus":[{"name":"workers","ready":7,"succeeded":7,"failed":7,"active":7,"suspended":7}]}}`
		Expect(plane.client.Status().Patch(ctx, js, client.RawPatch(types.MergePatchType, []byte(wrong)))).To(Succeed())
		Expect(js.Status.ReplicatedJobsStatus).NotTo(Equal(want))

		Eventually(counts).Should(Equal(want))
		Expect(js.Generation).To(Equal(generation), "nobody changed the spec")
	})

	It("O18, O84-O97, O100: calls itself by its name, and is never refused with the rights it ships with", func(ctx SpecContext) {
		m := startReady(ctx, newSettings())
		js := newJobSet(newNamespace(ctx), "audited")
		create(ctx, js)
		Eventually(jobsOf(ctx, js)).Should(Equal(1))
		_, _, err := m.scrape("nonsense")
		Expect(err).NotTo(HaveOccurred())
		m.stop()

		requests := requestsOf("system:serviceaccount:" + system + ":" + account)
		Expect(requests).NotTo(BeEmpty())
		verbs := map[string]bool{}
		for _, r := range requests {
			path, _, _ := strings.Cut(r.RequestURI, "?")
			if strings.HasPrefix(path, "/apis/coordination.k8s.io/") {
				// The library names the client of the lease itself.
				Expect(r.UserAgent).To(HaveSuffix("/leader-election"))
			} else {
				Expect(r.UserAgent).To(HavePrefix(userAgent), path)
				Expect(r.UserAgent).To(HaveSuffix(") "+gitCommit[:7]), path)
			}
			Expect(r.ResponseStatus.Code).NotTo(Equal(http.StatusForbidden), "%s %s", r.Verb, path)
			verbs[r.Verb+" "+path[strings.LastIndex(path, "/")+1:]] = true
		}
		Expect(verbs).To(SatisfyAll(HaveKey("create jobs"), HaveKey("create tokenreviews"), HaveKey("watch jobsets"), HaveKey("watch secrets"),
			HaveKey("create leases"), HaveKey("update status"), HaveKey("update "+secretName), HaveKey("update "+validatingName)))
	})
})
