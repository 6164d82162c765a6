/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// granting returns a shell that grants access to the agents of a new JobSet, with the admission policy in force.
func granting(t *testing.T, objs ...client.Object) (*shell, *jobset.JobSet) {
	t.Helper()
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 3).
		ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(1).Workers(1)).Obj()
	s := newShell(t, append(objs, js)...)
	s.grants, s.agentPolicy = true, &inForce{}
	return s, js
}

// inForce is an admission policy without a gap, until it changes.
type inForce struct {
	changed func()
	gap     string
	unknown bool
}

func (p *inForce) Gap() (string, bool)     { return p.gap, !p.unknown }
func (p *inForce) OnChange(changed func()) { p.changed = changed }

func TestGrant(t *testing.T) {
	t.Parallel()
	owner := builders.MakeJobSet("js", "ns").Obj()
	role, binding := children.AgentRole(owner, children.AgentsPatchPods), children.AgentRoleBinding(owner, []string{"default"})
	foreign := role.DeepCopy()
	foreign.OwnerReferences = nil

	t.Run("P56: Role and RoleBinding are created before the first Job, and once", func(t *testing.T) {
		t.Parallel()
		s, _ := granting(t)
		if _, err := pass(t, s); err != nil {
			t.Fatal(err)
		}
		s.Record.Expect(t, "create Role jobset-agent-js-uid", "create RoleBinding jobset-agent-js-uid", "create Job js-w-0", "update status JobSet js")
		if _, err := pass(t, s); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(s.Record.All(), func(e string) bool { return strings.Contains(e, "Role") }) {
			t.Errorf("written again: %v", s.Record.All())
		}
	})
	for name, tc := range map[string]struct {
		leases agentPolicy
		want   children.AgentRights
		blind  bool
		onPods bool
	}{
		"P153: with its policy in force, the right to write Leases is granted":   {leases: &inForce{}, want: children.AgentsWriteLeases},
		"P153: without it, it is not":                                            {leases: &inForce{gap: "missing"}, want: children.AgentsPatchPods},
		"P153: nor while that is not known":                                      {leases: &inForce{unknown: true}, want: children.AgentsPatchPods},
		"P153: nor where agents report on Pods":                                  {leases: &inForce{}, onPods: true, want: children.AgentsPatchPods},
		"P153: nor by a manager that may not read Leases, and so not grant them": {leases: &inForce{}, want: children.AgentsPatchPods, blind: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := granting(t)
			s.injection.LeaseReportsFrom, s.leases = 1, seenLeases(!tc.blind)
			s.leasePolicy = tc.leases
			if tc.onPods {
				s.injection.LeaseReportsFrom = 0
			}
			if _, err := pass(t, s); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(children.AgentRole(owner, tc.want).Rules, stored(t, s, role).Rules); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("P56: changed objects are repaired", func(t *testing.T) {
		t.Parallel()
		wide, other := role.DeepCopy(), binding.DeepCopy()
		wide.Rules[0].ResourceNames = nil
		other.Subjects[0].Name = "somebody"
		s, _ := granting(t, wide, other)
		if _, err := pass(t, s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(role.Rules, stored(t, s, wide).Rules); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(binding.Subjects, stored(t, s, other).Subjects); diff != "" {
			t.Errorf("subjects (-want +got):\n%s", diff)
		}
	})
	t.Run("P56: objects that the cache does not show are repaired", func(t *testing.T) {
		t.Parallel()
		wide, other := role.DeepCopy(), binding.DeepCopy()
		wide.Labels, other.Labels = nil, nil
		s, js := granting(t, wide, other)
		plan := planOf(policy.Op{Kind: policy.GrantAccess, Grant: &policy.GrantWrites{Role: role, Binding: binding}})
		for range 2 {
			if err := s.execute(t.Context(), js, plan); err != nil {
				t.Fatal(err)
			}
		}
		if got := stored(t, s, wide).Labels[jobset.JobSetNameKey]; got != "js" {
			t.Errorf("label is %q", got)
		}
		s.Record.Expect(t, "create Role jobset-agent-js-uid", "patch Role jobset-agent-js-uid", "create RoleBinding jobset-agent-js-uid", "patch RoleBinding jobset-agent-js-uid",
			"create Role jobset-agent-js-uid", "create RoleBinding jobset-agent-js-uid")
	})
	t.Run("P56: somebody else's Role of that name is left alone and reported, and no Job is created", func(t *testing.T) {
		t.Parallel()
		s, _ := granting(t, foreign)
		if _, err := pass(t, s); err == nil {
			t.Error("the pass succeeded")
		}
		s.Record.Expect(t, "create Role jobset-agent-js-uid",
			"event Warning AgentAccessFailed Reconciling: Role ns/jobset-agent-js-uid does not belong to this JobSet and is left alone, so its agents get no rights: delete it",
			"update status JobSet js")
	})
	t.Run("P56: a binding of another role is somebody else's", func(t *testing.T) {
		t.Parallel()
		other := binding.DeepCopy()
		other.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}
		s, _ := granting(t, role.DeepCopy(), other)
		if _, err := pass(t, s); err == nil || !strings.Contains(err.Error(), "RoleBinding ns/jobset-agent-js-uid does not belong to this JobSet") {
			t.Errorf("error: %v", err)
		}
	})
	t.Run("P56: a manager that may not write Roles reports both ways to fix that", func(t *testing.T) {
		t.Parallel()
		s, _ := granting(t)
		s.Fail = func(request string) error {
			if strings.HasPrefix(request, "create Role ") {
				return apierrors.NewForbidden(rbacv1.Resource("roles"), "jobset-agent-js-uid", errors.New("no"))
			}
			return nil
		}
		if _, err := pass(t, s); err == nil || !strings.Contains(err.Error(), "set inPlaceRestart.createAccess: false") {
			t.Errorf("error: %v", err)
		}
	})
	t.Run("P56: a failed write does not affect a running group", func(t *testing.T) {
		t.Parallel()
		s, js := granting(t)
		s.Fail = func(string) error { return errors.New("down") }
		plan := planOf(policy.Op{Kind: policy.GrantAccess, Grant: &policy.GrantWrites{Role: role}})
		if err := s.execute(t.Context(), js, plan); err != nil {
			t.Errorf("error: %v", err)
		}
		if plan.RequeueAfter != grantRetry {
			t.Errorf("tried again in %s", plan.RequeueAfter)
		}
		s.Record.Expect(t, "create Role jobset-agent-js-uid", "event Warning AgentAccessFailed Reconciling: creating Role ns/jobset-agent-js-uid: down")
	})
	t.Run("P56: nothing is read or granted with createAccess: false", func(t *testing.T) {
		t.Parallel()
		s, _ := granting(t)
		s.grants = false
		if _, err := pass(t, s); err != nil {
			t.Fatal(err)
		}
		s.Record.Expect(t, "create Job js-w-0", "update status JobSet js")
	})
}

func TestPolicyChangeWakes(t *testing.T) {
	t.Parallel()
	other := builders.MakeJobSet("other", "ns").ReplicatedJob(builders.MakeReplicatedJob("w")).Obj()
	s, _ := granting(t, other)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	policy := s.agentPolicy.(*inForce)
	policy.OnChange(func() { s.wakeInPlace(t.Context(), queue) })

	policy.changed()
	if queue.Len() != 1 {
		t.Errorf("P56: %d JobSets are woken when the gap changes, want the one that restarts in place", queue.Len())
	}
	if got, _ := queue.Get(); got.NamespacedName != client.ObjectKeyFromObject(builders.MakeJobSet("js", "ns").Obj()) {
		t.Errorf("P56: %v is woken", got)
	}
}
