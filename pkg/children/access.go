/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// AgentRoleName is the name of the Role of the agents of a JobSet, and of its RoleBinding. It carries
// the UID, so that a recreated JobSet never meets the objects of its predecessor.
func AgentRoleName(js *jobset.JobSet) string {
	return constants.AgentAccess + "-" + string(js.UID)
}

// AgentRights are how much the agents of a JobSet may do. Each level has those before it.
type AgentRights int

const (
	// AgentsRead is to read the JobSet.
	AgentsRead AgentRights = iota
	// AgentsPatchPods is to report on Pods too.
	AgentsPatchPods
	// AgentsWriteLeases is to report in Leases too (P153).
	AgentsWriteLeases
)

// AgentRole is what the agents of a JobSet may do: read this one JobSet, patch Pods, create and patch Leases. Admission
// policies narrow the writes, and know agents by the verb `report`. Without its policy a right is not granted.
func AgentRole(js *jobset.JobSet, rights AgentRights) *rbacv1.Role {
	role := &rbacv1.Role{ObjectMeta: accessMeta(js)}
	allow := func(group, resource string, verbs ...string) {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs})
	}
	allow(jobset.GroupVersion.Group, "jobsets", "get", "list", "watch")
	role.Rules[0].ResourceNames = []string{js.Name}
	allow(jobset.GroupVersion.Group, "jobsets/agent", "report")
	if rights >= AgentsPatchPods {
		allow(corev1.GroupName, "pods", "patch")
	}
	if rights >= AgentsWriteLeases {
		allow(coordinationv1.GroupName, "leases", "create", "patch")
	}
	return role
}

// AgentRoleBinding gives the role to service accounts of the namespace.
func AgentRoleBinding(js *jobset.JobSet, accounts []string) *rbacv1.RoleBinding {
	binding := &rbacv1.RoleBinding{
		ObjectMeta: accessMeta(js),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: AgentRoleName(js)},
	}
	for _, account := range accounts {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: js.Namespace, Name: account})
	}
	return binding
}

// accessMeta has the label by which the manager watches its Roles and no other.
func accessMeta(js *jobset.JobSet) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:            AgentRoleName(js),
		Namespace:       js.Namespace,
		Labels:          map[string]string{jobset.JobSetNameKey: js.Name},
		OwnerReferences: []metav1.OwnerReference{OwnerReference(js)},
	}
}
