/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
)

const (
	gap      = "ValidatingAdmissionPolicy jobset-agent is missing"
	withheld = gap + ": the controller grants agents no right to patch Pods, so they cannot report, and workers that start wait for them; " +
		"fix it with: kubectl apply --server-side -k config/components/agent-access/cluster, or with Helm: agentAccess.enable=true"
)

// grantOf decides about a JobSet and returns what is granted, and how its condition becomes.
func grantOf(t *testing.T, in Input) (GrantWrites, *metav1.Condition) {
	t.Helper()
	plan := decideOnce(t, in)
	for i := range plan.Status.Conditions {
		if c := &plan.Status.Conditions[i]; c.Type == string(jobset.JobSetAgentAccessDenied) {
			return grantIn(plan), c
		}
	}
	return grantIn(plan), nil
}

func grantIn(plan Plan) (grant GrantWrites) {
	for _, op := range plan.Of(GrantAccess) {
		grant = *op.Grant
	}
	return grant
}

func TestAgentGrant(t *testing.T) {
	t.Parallel()
	base := inPlace(0, 1, "1 1").JobSet
	role, unable := children.AgentRole(base, children.AgentsPatchPods), children.AgentRole(base, children.AgentsRead)
	leasing := children.AgentRole(base, children.AgentsWriteLeases)
	binding := children.AgentRoleBinding(base, []string{"default"})
	leases := func(rights LeaseRights, role *rbacv1.Role) func(*Input) {
		return func(in *Input) {
			in.Grant = &AgentGrant{Role: role, Binding: binding, PolicyKnown: true, Leases: rights}
		}
	}
	seen := func(role *rbacv1.Role, binding *rbacv1.RoleBinding) func(*Input) {
		return func(in *Input) { in.Grant = &AgentGrant{Role: role, Binding: binding, PolicyKnown: true} }
	}
	without := func(in *Input) { in.PolicyGap = gap }
	changed := func(change func(*rbacv1.Role)) *rbacv1.Role {
		r := role.DeepCopy()
		change(r)
		return r
	}
	toOthers := binding.DeepCopy()
	toOthers.Subjects[0].Name = "somebody"
	labelled := changed(func(r *rbacv1.Role) { r.Labels["team"] = "a" })
	withheldNow := condition(metav1.ConditionTrue, "AgentAccessWithheld", withheld, now)
	tests := map[string]struct {
		changes   []func(*Input)
		want      GrantWrites
		condition *metav1.Condition
	}{
		"P56: what is missing is created":              {[]func(*Input){seen(nil, nil)}, GrantWrites{Role: role, Binding: binding}, nil},
		"P56: what is there is left alone":             {[]func(*Input){seen(role, binding)}, GrantWrites{}, nil},
		"P56: a binding that is gone is created again": {[]func(*Input){seen(role, nil)}, GrantWrites{Binding: binding}, nil},
		"P56: a Role that was widened is repaired": {[]func(*Input){seen(changed(func(r *rbacv1.Role) { r.Rules[2].Verbs = []string{"*"} }), binding)},
			GrantWrites{Role: role, RoleFrom: changed(func(r *rbacv1.Role) { r.Rules[2].Verbs = []string{"*"} })}, nil},
		"P56: so is one without the marker": {[]func(*Input){seen(changed(func(r *rbacv1.Role) { r.Rules = r.Rules[:1] }), binding)},
			GrantWrites{Role: role, RoleFrom: changed(func(r *rbacv1.Role) { r.Rules = r.Rules[:1] })}, nil},
		"P56: so is one without our label, and other labels are kept": {[]func(*Input){seen(changed(func(r *rbacv1.Role) { r.Labels = map[string]string{"team": "a"} }), binding)},
			GrantWrites{Role: labelled, RoleFrom: changed(func(r *rbacv1.Role) { r.Labels = map[string]string{"team": "a"} })}, nil},
		"P56: a binding to others is repaired": {[]func(*Input){seen(role, toOthers)}, GrantWrites{Binding: binding, BindingFrom: toOthers}, nil},

		"P56: no policy, no grant, and condition and event say so": {[]func(*Input){seen(nil, nil), without}, GrantWrites{}, &withheldNow},
		"P56: the policy is gone: patch is taken out of the Role":  {[]func(*Input){seen(role, binding), without}, GrantWrites{Role: unable, RoleFrom: role}, &withheldNow},
		"P56: it is taken out once":                                {[]func(*Input){seen(unable, binding), without}, GrantWrites{}, &withheldNow},
		"P56: without the policy a binding is not created again":   {[]func(*Input){seen(unable, nil), without}, GrantWrites{}, &withheldNow},
		"P56: the policy is back, patch is granted again, and the condition says so": {[]func(*Input){seen(unable, binding), onJobSet(func(js *jobset.JobSet) {
			js.Status.Conditions = []metav1.Condition{condition(metav1.ConditionTrue, "AgentAccessWithheld", withheld, past)}
		})}, GrantWrites{Role: role, RoleFrom: unable}, ptr.To(condition(metav1.ConditionFalse, "AgentAccessGranted", granted, now))},

		"P56: while the policy is not known nothing is granted or taken back": {[]func(*Input){func(in *Input) { in.Grant = &AgentGrant{} }}, GrantWrites{}, nil},
		"P56: nor where others grant access":                                  {[]func(*Input){without}, GrantWrites{}, nil},
		"P50: an agent that the template brings is granted nothing":           {[]func(*Input){seen(nil, nil), withAgents("trainer")}, GrantWrites{}, nil},
		"P56: nothing is granted with the gate off": {[]func(*Input){seen(nil, nil), func(in *Input) {
			in.Gates.InPlaceRestart = false
		}}, GrantWrites{}, nil},
		"P56: nor to JobSets that restart otherwise": {[]func(*Input){seen(nil, nil), onJobSet(func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
		})}, GrantWrites{}, nil},
		"P153: the right to write Leases is granted while the policy restricts it": {[]func(*Input){leases(LeasesGranted, nil)}, GrantWrites{Role: leasing}, nil},
		"P153: a Role from before gains it":                                        {[]func(*Input){leases(LeasesGranted, role)}, GrantWrites{Role: leasing, RoleFrom: role}, nil},
		"P153: it is taken back when that policy is gone":                          {[]func(*Input){leases(LeasesWithheld, leasing)}, GrantWrites{Role: role, RoleFrom: leasing}, nil},
		"P153: while that is not known a Role keeps it":                            {[]func(*Input){leases(LeasesUnknown, leasing)}, GrantWrites{}, nil},
		"P153: and gains nothing":                                                  {[]func(*Input){leases(LeasesUnknown, role)}, GrantWrites{}, nil},
		"P153: it goes with the right to patch Pods":                               {[]func(*Input){leases(LeasesGranted, leasing), without}, GrantWrites{Role: unable, RoleFrom: leasing}, &withheldNow},
		"P56: a suspended JobSet gets its rights before it runs":                   {[]func(*Input){seen(nil, nil), suspend}, GrantWrites{Role: role, Binding: binding}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, told := grantOf(t, inPlace(0, 1, "1 1", tc.changes...))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.condition, told); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLeasesOfKubernetes(t *testing.T) {
	t.Parallel()
	for _, namespace := range []string{"kube-system", "kube-node-lease"} {
		plan := decideOnce(t, inPlace(0, 1, "1 1", func(in *Input) {
			in.JobSet.Namespace, in.Grant = namespace, &AgentGrant{PolicyKnown: true, Leases: LeasesGranted}
		}))
		if diff := cmp.Diff(children.AgentRole(&jobset.JobSet{}, children.AgentsPatchPods).Rules[1:], grantIn(plan).Role.Rules[1:]); diff != "" {
			t.Errorf("P153: in %s, where the policy looks at no Lease, agents may write (-want +got):\n%s", namespace, diff)
		}
	}
}

func TestWithheldAccessStays(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 0, "1 1", func(in *Input) {
		in.Grant, in.PolicyGap = &AgentGrant{PolicyKnown: true}, gap
		in.Access = map[string]AgentAccess{}
	})
	if _, told := grantOf(t, in); told == nil || told.Status != metav1.ConditionTrue {
		t.Errorf("P56: a lift of agents that have rights by other means clears the condition: %v", told)
	}
}
