/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/test/integration/framework"
)

func annotation(key, value string) client.Patch {
	return merge(fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value))
}

func epoch(value string) client.Patch { return annotation(jobset.EpochKey, value) }

// deny matches an answer of the API server of this kind with this text.
func deny(is func(error) bool, text string) func(error) {
	return func(err error) {
		GinkgoHelper()
		Expect(is(err)).To(BeTrue(), "not refused as expected: %v", err)
		Expect(err).To(MatchError(ContainSubstring(text)))
	}
}

// attempt is something that is to be refused; run fails otherwise.
type attempt struct {
	name string
	run  func()
}

// allRefused makes every attempt, and then fails with all that were not refused as they should be.
func allRefused(attempts []attempt) {
	GinkgoHelper()
	var failures []string
	for _, a := range attempts {
		By(a.name)
		for _, failure := range InterceptGomegaFailures(a.run) {
			failures = append(failures, a.name+": "+failure)
		}
	}
	if len(failures) > 0 {
		Fail(strings.Join(failures, "\n\n"))
	}
}

var _ = Describe("The rights of an agent", func() {
	// act is something that an agent tries; both Pods are in its namespace.
	type act func(ctx SpecContext, agent client.Client, own, other *corev1.Pod) error

	patches := func(patch client.Patch) act {
		return func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.Patch(ctx, own.DeepCopy(), patch)
		}
	}
	byPolicy := func(text string) func(error) { return deny(apierrors.IsForbidden, text) }
	byRole := func(verb, resource string) func(error) {
		return deny(apierrors.IsForbidden, fmt.Sprintf("cannot %s resource %q", verb, resource))
	}

	// attacks are what no agent may do, whatever its account is called.
	attacks := []struct {
		name    string
		try     act
		refused func(error)
	}{
		{"C301: report for another Pod", func(ctx SpecContext, agent client.Client, _, other *corev1.Pod) error {
			return agent.Patch(ctx, other.DeepCopy(), epoch("1"))
		}, byPolicy("only the Pod its token is bound to, which is own")},
		{"add an annotation", patches(annotation("example.com/other", "1")), byPolicy("no annotation but jobset.sigs.k8s.io/epoch, jobset.sigs.k8s.io/worker-exit, jobset.sigs.k8s.io/progress and jobset.sigs.k8s.io/address")},
		{"change an annotation", patches(annotation("example.com/note", "changed")), byPolicy("no annotation but jobset.sigs.k8s.io/epoch, jobset.sigs.k8s.io/worker-exit, jobset.sigs.k8s.io/progress and jobset.sigs.k8s.io/address")},
		{"remove an annotation", patches(merge(`{"metadata":{"annotations":{"example.com/note":null}}}`)),
			byPolicy("no annotation but jobset.sigs.k8s.io/epoch, jobset.sigs.k8s.io/worker-exit, jobset.sigs.k8s.io/progress and jobset.sigs.k8s.io/address")},
		{"change an annotation beside its epoch", patches(merge(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"1","batch.kubernetes.io/job-completion-index":"0"}}}`)),
			byPolicy("no annotation but jobset.sigs.k8s.io/epoch, jobset.sigs.k8s.io/worker-exit, jobset.sigs.k8s.io/progress and jobset.sigs.k8s.io/address")},
		{"P122: send others to an address of its own, where it has no rank 0", patches(annotation(jobset.AddressKey, "10.0.0.1")),
			byPolicy("only the agent of the first Pod of a ReplicatedJob may set the annotation jobset.sigs.k8s.io/address")},
		{"P122: make itself rank 0", patches(merge(`{"metadata":{"labels":{"jobset.sigs.k8s.io/job-index":"0"},"annotations":{"jobset.sigs.k8s.io/address":"10.0.0.1","batch.kubernetes.io/job-completion-index":"0"}}}`)),
			deny(apierrors.IsForbidden, "may not change labels")},
		{"change labels", patches(merge(`{"metadata":{"labels":{"role":"leader"}}}`)), byPolicy("may not change labels")},
		{"remove all labels", patches(merge(`{"metadata":{"labels":null}}`)), byPolicy("may not change labels")},
		{"remove finalizers", patches(merge(`{"metadata":{"finalizers":null}}`)), byPolicy("may not change finalizers")},
		{"add finalizers", patches(merge(`{"metadata":{"finalizers":["example.com/held","example.com/mine"]}}`)), byPolicy("may not change finalizers")},
		{"add an owner", patches(merge(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"y"}]}}`)),
			byPolicy("may not change ownerReferences")},
		{"change what its name was made of", patches(merge(`{"metadata":{"generateName":"other-"}}`)), byPolicy("may not change generateName")},
		{"change the spec", patches(merge(`{"spec":{"activeDeadlineSeconds":1}}`)), byPolicy("may not change spec")},
		{"change an image beside its epoch", patches(merge(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"1"}},"spec":{"containers":[{"name":"worker","image":"other"}]}}`)),
			byPolicy("may not change spec")},
		{"write the status of its Pod", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.Status().Patch(ctx, own.DeepCopy(), merge(`{"status":{"phase":"Failed"}}`))
		}, byRole("patch", "pods/status")},
		{"update its Pod", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.Update(ctx, own.DeepCopy())
		}, byRole("update", "pods")},
		{"delete its Pod", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.Delete(ctx, own.DeepCopy())
		}, byRole("delete", "pods")},
		{"create Pods", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: own.Namespace, Name: "new"}, Spec: own.Spec})
		}, byRole("create", "pods")},
		{"read its Pod", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.Get(ctx, client.ObjectKeyFromObject(own), &corev1.Pod{})
		}, byRole("get", "pods")},
		{"list Pods", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.List(ctx, &corev1.PodList{}, client.InNamespace(own.Namespace))
		}, byRole("list", "pods")},
		{"read Secrets", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.List(ctx, &corev1.SecretList{}, client.InNamespace(own.Namespace))
		}, byRole("list", "secrets")},
		{"read Jobs", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			return agent.List(ctx, &batchv1.JobList{}, client.InNamespace(own.Namespace))
		}, byRole("list", "jobs")},
		{"write JobSets", func(ctx SpecContext, agent client.Client, own, _ *corev1.Pod) error {
			js := framework.AB()
			js.Namespace = own.Namespace
			return agent.Create(ctx, js)
		}, byRole("create", "jobsets")},
	}

	It("O101 C301: let it report the epoch of its own Pod, again and again, and change nothing else by it", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		agent := n.agentOf(own)

		for _, value := range []string{"1", "2", "2147483647"} {
			Expect(agent.Patch(ctx, own.DeepCopy(), epoch(value))).To(Succeed())
		}

		stored := &corev1.Pod{}
		Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(own), stored)).To(Succeed())
		Expect(stored.Annotations).To(Equal(map[string]string{"example.com/note": "kept", jobset.EpochKey: "2147483647"}))
		Expect(stored.Labels).To(Equal(own.Labels))
		Expect(stored.Spec).To(Equal(own.Spec))
	})

	It("P66: let it tell with its report how its worker ended, and take that back", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		agent := n.agentOf(own)
		exit, err := protocol.WorkerExit{Container: "worker", Epoch: 1, Leave: strings.Repeat("ä;", 300), LeaveReason: protocol.ProcessStuck,
			Exit: protocol.Exit{Code: 137, Signal: 9, OOMKilled: true, Stopped: true, Hung: protocol.Hang{SilentSeconds: 5, Signed: true, Step: 7}, Seen: "S do_wait wait4; T do_signal_stop", Time: time.Now()}}.Encode()
		Expect(err).NotTo(HaveOccurred())
		both, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
			jobset.EpochKey: "2", protocol.WorkerExitKey: exit,
		}}})
		Expect(err).NotTo(HaveOccurred())

		Expect(agent.Patch(ctx, own.DeepCopy(), merge(string(both)))).To(Succeed())
		stored := &corev1.Pod{}
		Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(own), stored)).To(Succeed())
		Expect(stored.Annotations).To(HaveKeyWithValue(protocol.WorkerExitKey, exit))
		Expect(agent.Patch(ctx, own.DeepCopy(), merge(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"3","jobset.sigs.k8s.io/worker-exit":null}}}`))).To(Succeed())
	})

	It("P66 P66a: let it tell no more than 512 bytes, and nothing that reads as something else", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")

		long := annotation(protocol.WorkerExitKey, strings.Repeat("ä", 257))
		deny(apierrors.IsInvalid, "the annotation jobset.sigs.k8s.io/worker-exit must have at most 512 bytes")(n.agentOf(own).Patch(ctx, own.DeepCopy(), long))
		for _, forged := range forgedExits {
			deny(apierrors.IsInvalid, "and be an object in JSON without spaces or escapes that begins with a container")(n.agentOf(own).Patch(ctx, own.DeepCopy(), annotation(protocol.WorkerExitKey, forged)))
		}
		Expect(cluster.Client.Patch(ctx, own.DeepCopy(), long)).To(Succeed())
		Expect(n.agentOf(own).Patch(ctx, own.DeepCopy(), epoch("1"))).To(Succeed(), "what others wrote does not keep it from reporting")
	})

	It("P137: let it tell the progress of its own Pod, within its bounds", func(ctx SpecContext) {
		n := newNode(ctx)
		own, other := n.runs("own"), n.runs("other")
		agent := n.agentOf(own)
		told, err := protocol.ProgressReport{
			Epoch: math.MaxInt32, Steps: &protocol.Steps{First: math.MaxInt64, Last: math.MaxInt64, Highest: math.MaxInt64},
			StartMillis: protocol.Millis(math.MaxInt64), LongestGapMillis: protocol.Millis(math.MaxInt64), SilentMillis: protocol.Millis(math.MaxInt64),
		}.Encode()
		Expect(err).NotTo(HaveOccurred())

		Expect(agent.Patch(ctx, own.DeepCopy(), annotation(protocol.ProgressKey, told))).To(Succeed())
		deny(apierrors.IsForbidden, "only the Pod its token is bound to")(agent.Patch(ctx, other.DeepCopy(), annotation(protocol.ProgressKey, told)))
		for _, wrong := range []string{"", "[]", "5", `{"epoch": 1}`, "{ä}", "{\t}", `{"epoch":1}` + "\n", "{" + strings.Repeat("1", protocol.MaxProgressReport) + "}"} {
			deny(apierrors.IsInvalid, "the annotation jobset.sigs.k8s.io/progress must have at most 256 bytes")(agent.Patch(ctx, own.DeepCopy(), annotation(protocol.ProgressKey, wrong)))
		}
		Expect(cluster.Client.Patch(ctx, own.DeepCopy(), annotation(protocol.ProgressKey, "what others wrote"))).To(Succeed())
		Expect(agent.Patch(ctx, own.DeepCopy(), epoch("1"))).To(Succeed(), "what others wrote does not keep it from reporting")
	})

	It("P122: let the first Pod of a ReplicatedJob report an IPv4 address beside its epoch, and nothing else", func(ctx SpecContext) {
		n := newNode(ctx)
		first := n.ranks("first", "0", "0")
		agent := n.agentOf(first)
		Expect(agent.Patch(ctx, first.DeepCopy(), merge(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"1","jobset.sigs.k8s.io/address":"10.1.2.3"}}}`))).To(Succeed())
		for _, wrong := range []string{"", "10.1.2", "010.1.2.3", "10.1.2.256", "fd00::1", "example.com", "10.1.2.3:1", "10.1.2.3\n"} {
			deny(apierrors.IsInvalid, "must be an IPv4 address")(agent.Patch(ctx, first.DeepCopy(), annotation(jobset.AddressKey, wrong)))
		}
		Expect(agent.Patch(ctx, first.DeepCopy(), merge(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":"2","jobset.sigs.k8s.io/address":null}}}`))).To(Succeed())

		for _, place := range [][2]string{{"0", "1"}, {"1", "0"}, {"", "0"}, {"0", ""}} {
			other := n.ranks("job-"+place[0]+"-index-"+place[1]+"-x", place[0], place[1])
			deny(apierrors.IsForbidden, "only the agent of the first Pod of a ReplicatedJob")(n.agentOf(other).Patch(ctx, other.DeepCopy(), annotation(jobset.AddressKey, "10.1.2.3")))
			Expect(cluster.Client.Patch(ctx, other.DeepCopy(), annotation(jobset.AddressKey, "what others wrote"))).To(Succeed())
			Expect(n.agentOf(other).Patch(ctx, other.DeepCopy(), epoch("1"))).To(Succeed(), "what others wrote does not keep it from reporting")
		}
	})

	It("O101: let it list and watch JobSets of its namespace", func(ctx SpecContext) {
		n := newNode(ctx)
		agent := n.agentOf(n.runs("own"))

		Expect(agent.List(ctx, &jobset.JobSetList{}, client.InNamespace(n.space))).To(Succeed())
		deny(apierrors.IsForbidden, "at the cluster scope")(agent.List(ctx, &jobset.JobSetList{}))
	})

	DescribeTable("P56 O101 C301 P122: refuse each attack, whatever its account is called and whoever granted them:",
		func(ctx SpecContext, account string, grant func(*node)) {
			n := newNode(ctx)
			grant(n)
			own, other := n.runsAs(account, "own"), n.runsAs(account, "other")
			agent := n.agentOf(own)

			var attempts []attempt
			for _, attack := range attacks {
				attempts = append(attempts, attempt{attack.name, func() { attack.refused(attack.try(ctx, agent, own, other)) }})
			}
			allRefused(attempts)
		},
		Entry("account jobset-agent", framework.AgentAccount, func(n *node) { n.bind(framework.AgentAccount, "ClusterRole", "jobset-agent", agentRule) }),
		Entry("account trainer", "trainer", func(n *node) { n.bind("trainer", "ClusterRole", "jobset-agent", agentRule) }),
		Entry("an account that the controller granted them to", "default", func(n *node) { n.granted(framework.Training(2, 10), "default") }),
	)

	DescribeTable("do not let it report what is no epoch:",
		func(ctx SpecContext, patch client.Patch) {
			n := newNode(ctx)
			own := n.runs("own")
			agent := n.agentOf(own)
			Expect(agent.Patch(ctx, own.DeepCopy(), epoch("7"))).To(Succeed())

			err := agent.Patch(ctx, own.DeepCopy(), patch)

			deny(apierrors.IsInvalid, "must be a decimal number from 1 to 2147483647")(err)
		},
		Entry("text", epoch("one")),
		Entry("nothing", epoch("")),
		Entry("zero", epoch("0")),
		Entry("a leading zero", epoch("01")),
		Entry("a sign", epoch("-1")),
		Entry("more than 32 bits", epoch("2147483648")),
		Entry("more than 64 bits", epoch("99999999999999999999")),
		Entry("its own report taken back", merge(`{"metadata":{"annotations":{"jobset.sigs.k8s.io/epoch":null}}}`)),
	)

	It("C301: end where a token is not bound to a Pod", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		unbound := clientOf(token(ctx, n.space, framework.AgentAccount, nil))

		err := unbound.Patch(ctx, own.DeepCopy(), epoch("1"))

		deny(apierrors.IsForbidden, "only with a token that is bound to a Pod")(err)
	})

	It("C301: do not pass to another Pod of the same name", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		agent := n.agentOf(own)
		Expect(cluster.Client.Patch(ctx, own.DeepCopy(), merge(`{"metadata":{"finalizers":null}}`))).To(Succeed())
		Expect(cluster.Client.Delete(ctx, own, client.GracePeriodSeconds(0))).To(Succeed())
		successor := n.runs("own")

		err := agent.Patch(ctx, successor.DeepCopy(), epoch("1"))

		Expect(err).To(HaveOccurred())
		Expect(apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)).To(BeTrue(), "%v", err)
	})

	It("C301: do not reach into another namespace", func(ctx SpecContext) {
		here, there := newNode(ctx), newNode(ctx)
		own, foreign := here.runs("own"), there.runs("own")

		byRole("patch", "pods")(here.agentOf(own).Patch(ctx, foreign.DeepCopy(), epoch("1")))
	})

	It("do not grow by another role: subresources stay out of reach", func(ctx SpecContext) {
		n := newNode(ctx)
		own := n.runs("own")
		n.grant(framework.AgentAccount, core("patch", "pods/ephemeralcontainers"))
		agent := n.agentOf(own)

		Eventually(func() error {
			return agent.SubResource("ephemeralcontainers").Patch(ctx, own.DeepCopy(),
				merge(`{"spec":{"ephemeralContainers":[{"name":"mine","image":"i"}]}}`))
		}).Should(MatchError(ContainSubstring("may change no subresource of a Pod")))
	})
})

// forgedExits are reports that would show something else to people, or to programs, in a message (P66a).
var forgedExits = []string{
	`{"container":"w of worker pod other-0","epoch":1}`,
	`{"container":"w\u001b[2J","epoch":1}`,
	"{\"container\":\"w\u202e\",\"epoch\":1}",
	`{"container":"w","epoch":1,"leave":"a\nb"}`,
	`{"container":"w","epoch":1,"leave":"x; planned: workers have 9 s to save their state; all workers of epoch"}`,
	`{"container":"w","epoch":1,"leave":"x) on node other (y"}`,
	`{"container":"w","epoch":1,"Leave":"` + "\u2066" + `"}`,
	`{"epoch":1,"container":"w"}`,
	`{"container":"w","epoch":1,"hung":{"container":{"x":1}}}`,
	`{"container":"w","epoch":1} `,
}
