/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

// access: workers run with the account of the agent, so what it may do, they may.
func access() {
	DescribeTable("C301: let an agent change the epoch of its own Pod and nothing else", func(ctx SpecContext, ownAgent bool) {
		group := Create(ctx, Shape{OwnAgent: ownAgent})
		round := group.RunsAt(1)
		own, other := round.Pods[0], round.Pods[1]
		agent := asPod(ctx, own)

		annotation := func(key string) map[string]any { return map[string]any{"annotations": map[string]any{key: "7"}} }
		Expect(patch(ctx, agent, own, annotation(jobset.EpochKey))).To(Succeed(), "the epoch of its own Pod")
		denied := map[string]error{
			"the epoch of another Pod":       patch(ctx, agent, other, annotation(jobset.EpochKey)),
			"another annotation of its Pod":  patch(ctx, agent, own, annotation("example.com/other")),
			"a label of its Pod":             patch(ctx, agent, own, map[string]any{"labels": map[string]any{"a": "b"}}),
			"the finalizers of its Pod":      patch(ctx, agent, own, map[string]any{"finalizers": []string{}}),
			"the owners of its Pod":          patch(ctx, agent, own, map[string]any{"ownerReferences": []any{}}),
			"an epoch that is no number":     patch(ctx, agent, own, map[string]any{"annotations": map[string]any{jobset.EpochKey: "x"}}),
			"the image of its own container": patchImage(ctx, agent, own),
			"the status of its Pod": agent.Status().Patch(ctx, own.DeepCopy(),
				client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Failed"}}`)), client.DryRunAll),
			"reading its Pod":        agent.Get(ctx, client.ObjectKeyFromObject(own), &corev1.Pod{}),
			"deleting its Pod":       agent.Delete(ctx, own.DeepCopy(), client.DryRunAll),
			"listing Pods":           agent.List(ctx, &corev1.PodList{}, client.InNamespace(group.namespace)),
			"listing Secrets":        agent.List(ctx, &corev1.SecretList{}, client.InNamespace(group.namespace)),
			"the spec of its JobSet": patchSuspend(ctx, agent, group.namespace),
			"the status of its JobSet": agent.Status().Patch(ctx, &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: group.namespace, Name: jobSetName}},
				client.RawPatch(types.MergePatchType, []byte(`{"status":{"syncedEpoch":9}}`)), client.DryRunAll),
		}
		if !ownAgent {
			denied["all JobSets of its namespace"] = agent.List(ctx, &jobset.JobSetList{}, client.InNamespace(group.namespace))
		}
		for what, err := range denied {
			Expect(apierrors.IsForbidden(err) || apierrors.IsInvalid(err)).To(BeTrue(), "%s: %v", what, err)
		}
		itself := client.MatchingFields{"metadata.name": jobSetName}
		Expect(agent.List(ctx, &jobset.JobSetList{}, client.InNamespace(group.namespace), itself)).To(Succeed(), "reading its JobSet")
		Expect(agent.List(ctx, &jobset.JobSetList{}, client.InNamespace("default"))).NotTo(Succeed(), "reading JobSets elsewhere")
		Expect(rulesBeyond(ctx, agent, group.namespace)).To(BeEmpty(), "further rights")
		group.RunsAt(1).IsUntouched(round)
		group.Charged(0)
	},
		Entry("P56: by a Role that the manager made", Contract, SpecTimeout(specTime), false),
		Entry("O101: by a ClusterRole that an administrator bound", SpecTimeout(specTime), true),
	)
}

// asPod is a client with the token of a Pod.
func asPod(ctx context.Context, pod *corev1.Pod) client.Client {
	GinkgoHelper()
	token, err := cluster.Token(ctx, pod)
	Expect(err).NotTo(HaveOccurred())
	config := rest.AnonymousClientConfig(cluster.Config())
	config.BearerToken = token
	made, err := client.New(config, client.Options{Scheme: api.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return made
}

// patch changes metadata of a Pod in a rehearsal: admission is asked, nothing happens.
func patch(ctx context.Context, c client.Client, pod *corev1.Pod, metadata map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	Expect(err).NotTo(HaveOccurred())
	return c.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, body), client.DryRunAll)
}

func patchImage(ctx context.Context, c client.Client, pod *corev1.Pod) error {
	body := fmt.Sprintf(`{"spec":{"containers":[{"name":%q,"image":"other"}]}}`, workerName)
	return c.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(body)), client.DryRunAll)
}

func patchSuspend(ctx context.Context, c client.Client, namespace string) error {
	js := &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: jobSetName}}
	return c.Patch(ctx, js, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`)), client.DryRunAll)
}

// rulesBeyond are the rights in a namespace other than those of every account and those an agent needs.
func rulesBeyond(ctx context.Context, c client.Client, namespace string) (beyond []string) {
	GinkgoHelper()
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	Expect(c.Create(ctx, review)).To(Succeed())
	usual := map[string]bool{
		"patch pods": true, "get jobsets": true, "list jobsets": true, "watch jobsets": true,
		"create leases": true, "patch leases": true, // P153: a policy narrows them to its own
		// The mark by which the admission policy knows an agent; the API server has nothing behind it.
		"report jobsets/agent": true,
		// What a cluster grants everybody: asking about oneself.
		"get clustertrustbundles": true, "list clustertrustbundles": true, "watch clustertrustbundles": true, // from 1.37 on
		"create selfsubjectreviews": true, "create selfsubjectaccessreviews": true, "create selfsubjectrulesreviews": true,
	}
	for _, rule := range review.Status.ResourceRules {
		for _, verb := range rule.Verbs {
			for _, resource := range rule.Resources {
				if right := verb + " " + resource; !usual[right] {
					beyond = append(beyond, right)
				}
			}
		}
	}
	return beyond
}

func gate() {
	It("C280: run on while the gate is off, and restart in place when it is back", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		before := group.RunsAt(1)
		Expect(cluster.SetGate(ctx, false)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(cluster.SetGate(ctx, true)).To(Succeed()) })
		group.Has(jobset.JobSetInPlaceRestartDisabled, metav1.ConditionTrue, constants.InPlaceRestartDisabledReason)
		group.RunsAt(1).IsUntouched(before)

		group.eventually(func() error {
			return api.Create(ctx, refused(group.namespace), client.DryRunAll)
		}).Should(MatchError(And(ContainSubstring("spec.failurePolicy.restartStrategy"), ContainSubstring("--feature-gates=InPlaceRestart=true"))))

		told := group.Tell(order.Exit(1), before.Worker(0))
		group.eventually(func() time.Time {
			at, _ := startOf(ctx, group.Now(before.Worker(0)))
			return at
		}).Should(BeTemporally(">", told), "the worker that failed runs again, alone")
		Expect(startOf(ctx, group.Now(before.Worker(1)))).To(Equal(before.Started[1]), "nobody told the other one to restart")
		Expect(group.record.status().InPlaceRestarts).To(BeZero())

		Expect(cluster.SetGate(ctx, true)).To(Succeed())
		group.Has(jobset.JobSetInPlaceRestartDisabled, metav1.ConditionFalse, constants.InPlaceRestartEnabledReason)
		group.RunsAt(3).IsInPlaceOf(before) // P34b: epoch 2 is spent
		group.Charged(0)
	}, SpecTimeout(specTime))
}

func refused(namespace string) *jobset.JobSet {
	js := Shape{}.withDefaults().jobSet(namespace)
	js.Name = "refused"
	return js
}
