/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// grantsOf are the Roles and RoleBindings of agents in a namespace.
func grantsOf(ctx context.Context, namespace string) func() (int, error) {
	return func() (int, error) {
		var roles rbacv1.RoleList
		var bindings rbacv1.RoleBindingList
		ours := []client.ListOption{client.InNamespace(namespace), client.HasLabels{jobset.JobSetNameKey}}
		if err := plane.client.List(ctx, &roles, ours...); err != nil {
			return 0, err
		}
		err := plane.client.List(ctx, &bindings, ours...)
		return len(roles.Items) + len(bindings.Items), err
	}
}

// bareInPlace is a JobSet that restarts in place and brings no agent.
func bareInPlace(namespace, name string) *jobset.JobSet {
	js := newJobSet(namespace, name)
	js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0].Command = []string{"worker"}
	js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1, RestartStrategy: jobset.InPlaceRestart}
	return js
}

const withAgent = "inPlaceRestart: {agentImage: registry.example.com/agent:v1"

var _ = Describe("The rights that the manager grants to agents", func() {
	BeforeEach(func() {
		kubectl("apply", "--server-side", "-k", filepath.Join(root, "config/components/agent-access/cluster"))
	})
	var s settings
	BeforeEach(func(ctx SpecContext) {
		s = newSettings()
		webhooksOn(ctx, s.webhook, nil)
		mount(s.certDir)
	})
	run := func(ctx SpecContext, config string, args ...string) *manager {
		GinkgoHelper()
		s.more = config
		m := start(ctx, s, args...)
		m.isReady()
		Eventually(holder(ctx)).ShouldNot(BeEmpty())
		return m
	}
	asked := func() (n int) {
		for _, r := range requestsOf("system:serviceaccount:" + system + ":" + account) {
			if strings.Contains(r.RequestURI, "/apis/"+rbacv1.GroupName+"/") {
				n++
			}
		}
		return n
	}

	It("P56: cost a create of each, with the rights that it ships with, and no request is refused", func(ctx SpecContext) {
		run(ctx, withAgent+"}", inPlaceOn)
		namespace := newNamespace(ctx)
		js := bareInPlace(namespace, "train")
		create(ctx, js)

		Eventually(grantsOf(ctx, namespace)).Should(Equal(2))
		lifts(ctx, js)
		Expect(grantsOf(ctx, namespace)()).To(Equal(2), "later passes have granted nothing more")
		created := map[string]int{}
		for _, r := range requestsOf("system:serviceaccount:" + system + ":" + account) {
			Expect(r.ResponseStatus.Code).NotTo(Equal(403), "%s %s", r.Verb, r.RequestURI)
			path, _, _ := strings.Cut(r.RequestURI, "?")
			if _, kind, ours := strings.Cut(path, "/namespaces/"+namespace+"/"); ours && r.Verb == "create" && kind != "events" {
				created[kind]++
			}
		}
		Expect(created).To(Equal(map[string]int{"roles": 1, "rolebindings": 1, "jobs": 1, "services": 1}))
	})

	It("P56: are none with createAccess: false, and Roles are not even watched", func(ctx SpecContext) {
		before := asked()
		run(ctx, withAgent+", createAccess: false}", inPlaceOn)
		namespace := newNamespace(ctx)
		js := bareInPlace(namespace, "train")
		create(ctx, js)

		lifts(ctx, js)
		Expect(grantsOf(ctx, namespace)()).To(BeZero(), "later passes have granted nothing either")
		Expect(asked()).To(Equal(before))
	})

	It("P56: are other people's business once createAccess is turned off: what was withheld is told as what is lacking", func(ctx SpecContext) {
		kubectl("delete", "validatingadmissionpolicy", "jobset-agent")
		m := run(ctx, withAgent+"}", inPlaceOn)
		namespace := newNamespace(ctx)
		js := bareInPlace(namespace, "train")
		create(ctx, js)
		condition := func() (string, error) {
			err := plane.client.Get(ctx, client.ObjectKeyFromObject(js), js)
			c := apimeta.FindStatusCondition(js.Status.Conditions, string(jobset.JobSetAgentAccessDenied))
			if err != nil || c == nil {
				return "", err
			}
			return string(c.Status) + " " + c.Reason, nil
		}
		Eventually(condition).Should(Equal("True AgentAccessWithheld"))
		lifts(ctx, js)

		m.stop()
		run(ctx, withAgent+", createAccess: false}", inPlaceOn)

		Eventually(condition).Should(Equal("True AgentAccessDenied"), "of a group that runs")
		Expect(apimeta.FindStatusCondition(js.Status.Conditions, string(jobset.JobSetAgentAccessDenied)).Message).To(
			ContainSubstring("service account default may not watch jobsets, list jobsets, patch pods; grant it with: kubectl create rolebinding"))
		Expect(grantsOf(ctx, namespace)()).To(BeZero())
	})

	It("P56: are none with the gate off, and Roles are not even watched", func(ctx SpecContext) {
		before := asked()
		run(ctx, withAgent+"}")
		namespace := newNamespace(ctx)
		js := newJobSet(namespace, "train")
		create(ctx, js)

		Eventually(jobsOf(ctx, js)).Should(Equal(1))
		Expect(grantsOf(ctx, namespace)()).To(BeZero())
		Expect(asked()).To(Equal(before))
	})
})
