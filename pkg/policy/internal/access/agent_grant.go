/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package access

import (
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// grantWrites compares what exists with what is wanted. While no policy restricts agents, nothing is
// created, and the right to patch is taken out of an existing Role.
func grantWrites(js *jobset.JobSet, seen *pass.AgentGrant, accounts []string, narrowed bool) pass.GrantWrites {
	var w pass.GrantWrites
	if narrowed || seen.Role != nil {
		if w.Role = RepairedRole(seen.Role, children.AgentRole(js, rights(seen, js, narrowed))); w.Role != nil {
			w.RoleFrom = seen.Role
		}
	}
	if narrowed {
		if w.Binding = RepairedBinding(seen.Binding, children.AgentRoleBinding(js, accounts)); w.Binding != nil {
			w.BindingFrom = seen.Binding
		}
	}
	return w
}

// rights returns what agents get. The admission policy does not look at Leases of the namespaces of Kubernetes itself.
func rights(g *pass.AgentGrant, js *jobset.JobSet, narrowed bool) children.AgentRights {
	switch {
	case !narrowed:
		return children.AgentsRead
	case js.Namespace == metav1.NamespaceSystem || js.Namespace == corev1.NamespaceNodeLease:
	case g.Leases == pass.LeasesGranted, g.Leases == pass.LeasesUnknown && writesLeases(g.Role):
		return children.AgentsWriteLeases
	}
	return children.AgentsPatchPods
}

func writesLeases(role *rbacv1.Role) bool {
	return role != nil && slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.APIGroups, coordinationv1.GroupName) })
}

// RepairedRole returns the wanted Role with what others added to its metadata; nil if nothing differs.
func RepairedRole(is, wanted *rbacv1.Role) *rbacv1.Role {
	if is == nil {
		return wanted
	}
	if labelled(is, wanted) && apiequality.Semantic.DeepEqual(is.Rules, wanted.Rules) {
		return nil
	}
	repaired := is.DeepCopy()
	repaired.Labels, repaired.Rules = labels.Merge(is.Labels, wanted.Labels), wanted.Rules
	return repaired
}

// RepairedBinding does the same for a RoleBinding.
func RepairedBinding(is, wanted *rbacv1.RoleBinding) *rbacv1.RoleBinding {
	if is == nil {
		return wanted
	}
	if labelled(is, wanted) && apiequality.Semantic.DeepEqual(is.Subjects, wanted.Subjects) {
		return nil
	}
	repaired := is.DeepCopy()
	repaired.Labels, repaired.Subjects = labels.Merge(is.Labels, wanted.Labels), wanted.Subjects
	return repaired
}

// OwnRole reports whether a Role belongs to a JobSet.
func OwnRole(js *jobset.JobSet, role *rbacv1.Role) bool { return metav1.IsControlledBy(role, js) }

// OwnBinding reports whether a RoleBinding belongs to a JobSet. roleRef is immutable, so a binding of
// another role cannot be repaired and counts as somebody else's.
func OwnBinding(js *jobset.JobSet, binding *rbacv1.RoleBinding) bool {
	return metav1.IsControlledBy(binding, js) && binding.RoleRef == children.AgentRoleBinding(js, nil).RoleRef
}

func labelled(is, wanted metav1.Object) bool {
	return is.GetLabels()[jobset.JobSetNameKey] == wanted.GetLabels()[jobset.JobSetNameKey]
}

// preparedAccounts returns the service accounts of the templates that get an agent, sorted, each once.
func preparedAccounts(js *jobset.JobSet) []string {
	var accounts []string
	for i := range js.Spec.ReplicatedJobs {
		if rjob := &js.Spec.ReplicatedJobs[i]; workerpod.IsInjected(js, rjob) {
			account, _ := workerpod.AgentAccount(&rjob.Template.Spec.Template.Spec)
			accounts = append(accounts, account)
		}
	}
	slices.Sort(accounts)
	return slices.Compact(accounts)
}
