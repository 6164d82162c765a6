/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agentaccess

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/pkg/controllers/internal/testshell"
	"sigs.k8s.io/jobset/pkg/policy"
)

// policyCache shows one policy and one binding, after so many errors.
type policyCache struct {
	cache.Cache
	errors             int
	policies, bindings policyInformer
}

func (c *policyCache) GetInformer(_ context.Context, obj client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	if c.errors > 0 {
		c.errors--
		return nil, errors.New("forbidden")
	}
	if _, ok := obj.(*admissionregistrationv1.ValidatingAdmissionPolicy); ok {
		return &c.policies, nil
	}
	return &c.bindings, nil
}

type policyInformer struct {
	cache.Informer
	first client.Object
	toolscache.ResourceEventHandler
}

func (i *policyInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.ResourceEventHandler = h
	if i.first != nil {
		h.OnAdd(i.first, true)
	}
	return synced{}, nil
}

type synced struct {
	toolscache.ResourceEventHandlerRegistration
}

func (synced) HasSynced() bool { return true }

func shipped(of policy.AgentPolicy, file string) (*admissionregistrationv1.ValidatingAdmissionPolicy, *admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	is := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	text, err := os.ReadFile(filepath.Join("../../../config/components/agent-access/cluster", file))
	if err == nil {
		err = yaml.UnmarshalStrict(text, is)
	}
	if err != nil {
		panic(err) // it is in the repository
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: of.Name}}
	binding.Spec.PolicyName, binding.Spec.ValidationActions = of.Name, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	return is, binding
}

func TestAgentPolicy(t *testing.T) {
	t.Parallel()
	podPolicy, binding := shipped(policy.PodPolicy(), "admission_policy.yaml")
	startOf := func(t *testing.T, of policy.AgentPolicy, c *policyCache, leads bool) (*Policy, *testshell.Record) {
		t.Helper()
		d := &testshell.Record{}
		elected := make(chan struct{})
		if leads {
			close(elected)
		}
		p := &Policy{of: of, cache: c, events: d, elected: elected, retry: time.Second}
		if p.NeedLeaderElection() {
			t.Error("managers that do not lead know nothing, and their metrics neither")
		}
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p, d
	}
	start := func(t *testing.T, c *policyCache, leads bool) (*Policy, *testshell.Record) {
		t.Helper()
		return startOf(t, policy.PodPolicy(), c, leads)
	}
	expect := func(t *testing.T, p *Policy, want string) {
		t.Helper()
		if gap, known := p.Gap(); gap != want || !known {
			t.Errorf("gap is %q, known: %v, want %q", gap, known, want)
		}
	}
	const (
		lost = "event Warning AgentPolicyMissing Reconciling: ValidatingAdmissionPolicy%s jobset-agent is missing: any program in worker Pods of JobSets that restart in place " +
			"may patch every Pod of its namespace; fix it with: kubectl apply --server-side -k config/components/agent-access/cluster, or with Helm: agentAccess.enable=true"
		back = "event Normal AgentPolicyInForce Reconciling: agents may write the annotations epoch, worker-exit, progress and address of their own Pod and nothing else"
	)

	t.Run("P56: a binding that is deleted later is told, and that it came back", func(t *testing.T) {
		t.Parallel()
		c := &policyCache{policies: policyInformer{first: podPolicy}, bindings: policyInformer{first: binding}}
		p, d := start(t, c, true)
		expect(t, p, "")
		c.bindings.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: binding})
		expect(t, p, "ValidatingAdmissionPolicyBinding jobset-agent is missing")
		c.bindings.OnAdd(binding, false)
		expect(t, p, "")
		d.Expect(t, replaced(lost, "Binding"), back)
	})
	t.Run("P56: so is a policy, and each change of what is wrong", func(t *testing.T) {
		t.Parallel()
		c := &policyCache{policies: policyInformer{first: podPolicy}, bindings: policyInformer{first: binding}}
		p, d := start(t, c, true)
		c.policies.OnUpdate(podPolicy, podPolicy)
		c.policies.OnDelete(podPolicy)
		expect(t, p, "ValidatingAdmissionPolicy jobset-agent is missing")
		d.Expect(t, replaced(lost, ""))
	})
	t.Run("P153: the policy of Leases is watched in the same way, and its gap says what follows", func(t *testing.T) {
		t.Parallel()
		leasePolicy, leaseBinding := shipped(policy.LeasePolicy(), "lease_admission_policy.yaml")
		c := &policyCache{policies: policyInformer{first: leasePolicy}, bindings: policyInformer{first: leaseBinding}}
		p, d := startOf(t, policy.LeasePolicy(), c, true)
		expect(t, p, "")
		c.policies.OnDelete(leasePolicy)
		expect(t, p, "ValidatingAdmissionPolicy jobset-agent-leases is missing")
		c.policies.OnAdd(leasePolicy, false)
		d.Expect(t, "event Warning AgentPolicyMissing Reconciling: ValidatingAdmissionPolicy jobset-agent-leases is missing: "+
			"no report is read from a Lease, so agents report on their Pods, which costs the API server more and may take longer, and accounts that are bound to ClusterRole jobset-agent "+
			"may write every Lease of their namespaces; fix it with: kubectl apply --server-side -k config/components/agent-access/cluster, or with Helm: agentAccess.enable=true",
			"event Normal AgentPolicyInForce Reconciling: agents may report in a Lease of their own and write no other")
	})
	t.Run("P56: one that was never there is known, and no news", func(t *testing.T) {
		t.Parallel()
		p, d := start(t, &policyCache{}, true)
		expect(t, p, "ValidatingAdmissionPolicy jobset-agent is missing")
		d.Expect(t)
	})
	t.Run("P56: only the leader tells, all know", func(t *testing.T) {
		t.Parallel()
		c := &policyCache{policies: policyInformer{first: podPolicy}, bindings: policyInformer{first: binding}}
		p, d := start(t, c, false)
		c.policies.OnDelete(podPolicy)
		expect(t, p, "ValidatingAdmissionPolicy jobset-agent is missing")
		d.Expect(t)
	})
	t.Run("P56: it tries on while it may not watch, and nothing is known", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := &policyCache{errors: 3, policies: policyInformer{first: podPolicy}, bindings: policyInformer{first: binding}}
			p, _ := start(t, c, true)
			expect(t, p, "")
		})
		if gap, known := (*Policy)(nil).Gap(); gap != "" || known {
			t.Errorf("nobody looks, and yet the gap is %q, known: %v", gap, known)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		p := &Policy{cache: &policyCache{errors: 1 << 20}, retry: time.Millisecond}
		if err := p.Start(ctx); err != nil {
			t.Errorf("being stopped is no failure, got: %v", err)
		}
		if _, known := p.Gap(); known {
			t.Error("known without a watch")
		}
	})
}

func replaced(format, with string) string { return strings.Replace(format, "%s", with, 1) }
