/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/agent"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// barrier is what holds a worker, without a port.
type barrier struct{ lifted atomic.Bool }

func (b *barrier) Hold() (<-chan error, error) { return nil, nil }
func (b *barrier) Release()                    { b.lifted.Store(true) }
func (b *barrier) Close()                      {}

// process is one agent, started in this process with the token of a Pod.
type process struct {
	barrier
	wire
	pod     *corev1.Pod
	log     *gbytes.Buffer
	done    chan struct{}
	outcome agent.Outcome
	err     error
	kill    context.CancelFunc
}

func start(ctx context.Context, pod *corev1.Pod, name, uid string) *process {
	GinkgoHelper()
	p := &process{pod: pod, log: gbytes.NewBuffer(), done: make(chan struct{})}
	config := configOf(token(ctx, pod.Namespace, AgentAccount, pod))
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		p.next = next
		return &p.wire
	})
	life, kill := context.WithCancel(context.Background())
	p.kill = kill
	go func() {
		defer close(p.done)
		p.outcome, p.err = agent.Run(life,
			agent.Config{Namespace: pod.Namespace, PodName: pod.Name, JobSetName: name, JobSetUID: uid},
			agent.Deps{API: config, Barrier: &p.barrier, Log: slog.New(slog.NewTextHandler(p.log, nil))})
	}()
	DeferCleanup(p.stop)
	return p
}

// stop ends an agent as SIGTERM does.
func (p *process) stop() {
	GinkgoHelper()
	p.kill()
	Eventually(p.done).Should(BeClosed())
	Expect(p.err).NotTo(HaveOccurred())
}

func (p *process) lifts() { GinkgoHelper(); Eventually(p.lifted.Load).Should(BeTrue(), "held") }

// holds waits until the agent says why it holds its worker.
func (p *process) holds(because string) {
	GinkgoHelper()
	Eventually(p.log).Should(gbytes.Say(`msg=hold reason="` + because))
	Expect(p.lifted.Load() || p.ended()).To(BeFalse(), "no longer held")
}

// runsOn changes a JobSet in a way that means nothing to an agent. Once the agent has taken that in, it has decided on what the
// JobSet was before: states are handed over one at a time.
func (p *process) runsOn(n *node, js *jobset.JobSet) {
	GinkgoHelper()
	n.annotates(js, func(all map[string]string) { all["example.com/seen-by"] = p.pod.Name })
	Eventually(p.took).WithArguments(`"resourceVersion":"`+js.ResourceVersion+`"`).Should(BeTrue(), "the agent has not taken the change in")
	Expect(p.ended()).To(BeFalse(), "ended")
	Expect(string(p.log.Contents())).NotTo(ContainSubstring("msg=restart"), "about to end")
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// restarts waits until the agent asks for a restart of its Pod.
func (p *process) restarts(because string) {
	GinkgoHelper()
	Eventually(p.done).Should(BeClosed(), "the agent runs on")
	Expect(p.err).NotTo(HaveOccurred())
	Expect(p.outcome.Kind).To(Equal(agent.Restarted))
	Expect(p.outcome.Cause).To(MatchError(ContainSubstring(because)))
}

// reports waits for the annotation on the Pod.
func (p *process) reports(epoch string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		stored := &corev1.Pod{}
		g.Expect(cluster.Client.Get(context.Background(), client.ObjectKeyFromObject(p.pod), stored)).To(Succeed())
		g.Expect(stored.Annotations).To(HaveKeyWithValue(jobset.EpochKey, epoch))
	}).Should(Succeed())
}

// stored is a JobSet as agents see it; there is no controller.
func (n *node) stores(js *jobset.JobSet) *jobset.JobSet {
	GinkgoHelper()
	js.Namespace = n.space
	Expect(cluster.Client.Create(n.context, js)).To(Succeed())
	return js
}

// says writes the epochs into the status.
func (n *node) says(js *jobset.JobSet, deprecated, synced int32) {
	GinkgoHelper()
	n.changesStatus(js, func(s *jobset.JobSetStatus) {
		s.DeprecatedEpoch, s.SyncedEpoch = ptr.To(deprecated), ptr.To(synced)
	})
}

func (n *node) changesStatus(js *jobset.JobSet, change func(*jobset.JobSetStatus)) {
	GinkgoHelper()
	Expect(cluster.Client.Get(n.context, client.ObjectKeyFromObject(js), js)).To(Succeed())
	change(&js.Status)
	Expect(cluster.Client.Status().Update(n.context, js)).To(Succeed())
}

// bypasses sets the condition that disables in-place restart.
func (n *node) bypasses(js *jobset.JobSet, status metav1.ConditionStatus) {
	GinkgoHelper()
	n.changesStatus(js, func(s *jobset.JobSetStatus) {
		s.Conditions = []metav1.Condition{{Type: string(jobset.JobSetInPlaceRestartDisabled), Status: status, Reason: "DisabledByAnnotation", LastTransitionTime: metav1.Now()}}
	})
}

func (n *node) annotates(js *jobset.JobSet, change func(map[string]string)) {
	GinkgoHelper()
	Expect(cluster.Client.Get(n.context, client.ObjectKeyFromObject(js), js)).To(Succeed())
	if js.Annotations == nil {
		js.Annotations = map[string]string{}
	}
	change(js.Annotations)
	Expect(cluster.Client.Update(n.context, js)).To(Succeed())
}

var _ = Describe("An agent", func() {
	It("P30 P31 P33 P38: reports S+1 by one watch and one patch, and lifts when S gets there", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(1, 10))
		n.says(train, 4, 4)
		a := start(ctx, n.runs("own"), "train", string(train.UID))

		a.reports("5")
		a.holds("waiting for the group to reach epoch 5")
		n.says(train, 4, 5)
		a.lifts()

		Expect(a.sent(http.MethodPatch)).To(HaveLen(1))
		Expect(a.sent(http.MethodGet)).To(HaveLen(1), "neither a list nor a second watch")
		query := a.sent(http.MethodGet)[0].Query()
		Expect(query.Get("watch")).To(Equal("true"))
		Expect(query.Get("sendInitialEvents")).To(Equal("true"))
		Expect(query.Get("resourceVersionMatch")).To(Equal("NotOlderThan"))
		Expect(query).NotTo(HaveKey("resourceVersion"))
		Expect(query.Get("fieldSelector")).To(Equal("metadata.name=train"))
	})

	It("P32: asks for a restart when its epoch is deprecated", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(1, 10))
		a := start(ctx, n.runs("own"), "train", string(train.UID))
		a.reports("1")
		n.says(train, 0, 1)
		a.lifts()

		n.says(train, 1, 1)

		a.restarts("epoch 1 is deprecated")
		again := start(ctx, a.pod, "train", string(train.UID))
		again.reports("2")
		again.holds("waiting for the group to reach epoch 2")
		n.says(train, 1, 2)
		again.lifts()
	})

	It("P32 C275: asks for a restart when it was left behind, or the status was lost", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(2, 10))
		n.says(train, 2, 2)
		behind := start(ctx, n.runs("behind"), "train", string(train.UID))
		behind.reports("3")
		n.says(train, 2, 4)
		behind.restarts("left behind")

		ahead := start(ctx, n.runs("ahead"), "train", string(train.UID))
		ahead.reports("5")
		n.says(train, 0, 0)
		ahead.restarts("lost or restored")
	})

	It("P30: holds while there is no JobSet, and goes on when there is one", func(ctx SpecContext) {
		n := newNode(ctx)
		a := start(ctx, n.runs("own"), "train", "")
		a.holds("the JobSet does not exist")
		Expect(a.sent(http.MethodPatch)).To(BeEmpty())

		train := n.stores(Training(1, 10))

		a.reports("1")
		n.says(train, 0, 1)
		a.lifts()
	})

	It("P30 C269: holds while the JobSet of that name is another one", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(1, 10))
		n.says(train, 0, 1)
		a := start(ctx, n.runs("own"), "train", "33333333-3333-3333-3333-333333333333")

		a.holds("the JobSet has UID " + string(train.UID))
		Expect(a.sent(http.MethodPatch)).To(BeEmpty())
	})

	It("P30: holds when its JobSet is deleted, and leaves a worker alone that runs", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(2, 10))
		held := start(ctx, n.runs("held"), "train", string(train.UID))
		held.reports("1")
		n.says(train, 0, 1)
		held.lifts()
		late := start(ctx, n.runs("late"), "train", string(train.UID))
		late.reports("2")

		Expect(cluster.Client.Delete(ctx, train)).To(Succeed())

		late.holds("the JobSet does not exist")
		held.runsOn(n, n.stores(Training(2, 10)))
	})

	It("P34b O57 C281: passes straight through by the condition, and asks for a restart when that ends", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(1, 10))
		n.bypasses(train, metav1.ConditionTrue)
		a := start(ctx, n.runs("own"), "train", string(train.UID))

		a.lifts()
		Expect(a.sent(http.MethodPatch)).To(BeEmpty())
		n.says(train, 1, 1)
		a.runsOn(n, train)
		n.bypasses(train, metav1.ConditionFalse)

		a.restarts("while in-place restart was off")
	})

	It("P34b C281: is freed by the condition while it holds", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(1, 10))
		a := start(ctx, n.runs("own"), "train", string(train.UID))
		a.reports("1")

		n.bypasses(train, metav1.ConditionTrue)

		a.lifts()
		n.says(train, 1, 1)
		a.runsOn(n, train)
	})

	It("P34 O57 C280: is freed by the condition of the gate, and by another strategy", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(1, 10))
		gated := start(ctx, n.runs("gated"), "train", string(train.UID))
		gated.reports("1")
		n.bypasses(train, metav1.ConditionTrue)
		gated.lifts()

		plain := n.stores(JobSet("plain", Replicated("a", 1, 1)))
		other := start(ctx, n.runs("other"), "plain", string(plain.UID))
		other.lifts()
		Expect(other.sent(http.MethodPatch)).To(BeEmpty())
	})

	It("P36 C279: leaves its worker alone while the API server is away, and obeys when it is back", func(ctx SpecContext) {
		n := newNode(ctx)
		train := n.stores(Training(1, 10))
		a := start(ctx, n.runs("own"), "train", string(train.UID))
		a.reports("1")
		a.cut.Store(true)
		n.says(train, 0, 1)
		a.lifts() // by the watch that is open
		a.runsOn(n, train)
		a.cut.Store(false)

		n.says(train, 1, 1)

		a.restarts("deprecated")
	})

	It("P36: keeps trying to report while the API server is away", func(ctx SpecContext) {
		n := newNode(ctx)
		pod := n.runs("own")
		a := start(ctx, pod, "train", "")
		Eventually(func() int { return len(a.sent(http.MethodGet)) }).Should(Equal(1))
		a.holds("the JobSet does not exist")
		a.cut.Store(true)
		train := n.stores(Training(1, 10))
		Eventually(func() int { return len(a.sent(http.MethodPatch)) }).Should(BeNumerically(">=", 2))
		a.cut.Store(false)

		a.reports("1")
		n.says(train, 0, 1)
		a.lifts()
	})
})
