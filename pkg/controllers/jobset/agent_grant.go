/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// grantRetry is the delay before the next attempt if no Job waits for the rights.
const grantRetry = 10 * time.Second

// A client can only grant permissions that it has, so the manager has all permissions of agents. It
// needs neither `bind` nor `escalate`.
//
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=jobset.x-k8s.io,resources=jobsets/agent,verbs=report
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create;patch

// WithAgentGrants makes the controller grant the agents of each JobSet the rights that they need. The right to write Leases is
// among them while a policy restricts it.
func WithAgentGrants() Option {
	return func(r *JobSetReconciler) { r.grants = true }
}

// watchGrants reconciles a JobSet when its Role or RoleBinding changes, and all that restart in place
// when an admission policy of agents is created or deleted: rights depend on it, and whether Leases are read (P153b). Only Roles
// with our label are watched, see CacheOptions.
func (r *JobSetReconciler) watchGrants(b *builder.Builder) *builder.Builder {
	if r.grants {
		b = b.Owns(&rbacv1.Role{}).Owns(&rbacv1.RoleBinding{})
	}
	return b.WatchesRawSource(source.Func(func(ctx context.Context, q queue) error {
		wake := func() { r.wakeInPlace(ctx, q) }
		r.agentPolicy.OnChange(wake)
		r.leasePolicy.OnChange(wake)
		return nil
	}))
}

func (r *JobSetReconciler) wakeInPlace(ctx context.Context, q queue) {
	var all jobset.JobSetList
	if err := r.client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list the JobSets whose agents the admission policies restrict")
		return
	}
	for i := range all.Items {
		if js := &all.Items[i]; workerpod.WantsInPlace(js) {
			wakeJobSet(js, q)
		}
	}
}

// grantOf reads the Role and the RoleBinding of a JobSet's agents; nil if this manager grants nothing.
func (r *JobSetReconciler) grantOf(ctx context.Context, js *jobset.JobSet, policyKnown bool) (*policy.AgentGrant, error) {
	if !r.grants {
		return nil, nil
	}
	seen := &policy.AgentGrant{PolicyKnown: policyKnown}
	seen.Leases = r.leaseRights()
	key := types.NamespacedName{Namespace: js.Namespace, Name: children.AgentRoleName(js)}
	role, binding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
	if err := r.client.Get(ctx, key, role, client.UnsafeDisableDeepCopy); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading Role %s: %w", key, err)
	} else if err == nil && policy.OwnRole(js, role) {
		seen.Role = role
	}
	if err := r.client.Get(ctx, key, binding, client.UnsafeDisableDeepCopy); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading RoleBinding %s: %w", key, err)
	} else if err == nil && policy.OwnBinding(js, binding) {
		seen.Binding = binding
	}
	return seen, nil
}

// leaseRights returns whether agents may report in Leases. A manager that may not read Leases, with the ClusterRole of an earlier
// version perhaps, may not grant them either, and would create no Job if it tried.
func (r *JobSetReconciler) leaseRights() policy.LeaseRights {
	if r.injection.LeaseReportsFrom == 0 {
		return policy.LeasesWithheld
	}
	switch gap, known := r.leasePolicy.Gap(); {
	case !known || r.injectionNow().LeaseReportsFrom == 0:
		return policy.LeasesUnknown
	case gap != "":
		return policy.LeasesWithheld
	}
	return policy.LeasesGranted
}

// grant writes the rights of agents. If that fails, no Job is created; a running group is not affected.
func (r *JobSetReconciler) grant(ctx context.Context, js *jobset.JobSet, plan *policy.Plan, rights *policy.GrantWrites) error {
	err := r.writeGrant(ctx, js, rights)
	if err == nil {
		return nil
	}
	r.tellTrouble(ctx, js, constants.AgentAccessFailedReason, err)
	if plan.Does(policy.CreateJob) {
		return err
	}
	ctrl.LoggerFrom(ctx).Error(err, "Cannot grant agents the rights that they need")
	plan.RequeueAfter = policy.Sooner(grantRetry, plan.RequeueAfter)
	return nil
}

func (r *JobSetReconciler) writeGrant(ctx context.Context, js *jobset.JobSet, w *policy.GrantWrites) error {
	role := access[*rbacv1.Role]{"Role", policy.OwnRole, policy.RepairedRole}
	binding := access[*rbacv1.RoleBinding]{"RoleBinding", policy.OwnBinding, policy.RepairedBinding}
	if w.Role != nil {
		if err := role.write(ctx, r, js, w.RoleFrom, w.Role, &rbacv1.Role{}); err != nil {
			return err
		}
	}
	if w.Binding != nil {
		return binding.write(ctx, r, js, w.BindingFrom, w.Binding, &rbacv1.RoleBinding{})
	}
	return nil
}

// access is a kind of object that grants rights.
type access[T interface {
	client.Object
	comparable
}] struct {
	kind     string
	own      func(*jobset.JobSet, T) bool
	repaired func(is, wanted T) T
}

// write patches an object, or creates it if from is nil. If it already exists, the cache lags or the
// object is somebody else's, so it is read past the cache, into is.
func (a access[T]) write(ctx context.Context, r *JobSetReconciler, js *jobset.JobSet, from, to, is T) error {
	var none T
	if from != none {
		return r.repair(ctx, from.DeepCopyObject().(client.Object), to)
	}
	err := r.client.Create(ctx, to.DeepCopyObject().(client.Object))
	if err == nil {
		shared.Wrote(ctx, "Created a "+a.kind, "agents need rights", "object", klog.KObj(to))
	}
	if !apierrors.IsAlreadyExists(err) {
		return cannotGrant(err, "creating "+a.kind, to)
	}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(to), is); err != nil {
		return cannotGrant(err, "reading "+a.kind, to)
	}
	if !a.own(js, is) {
		return notOurs(a.kind, to)
	}
	if to = a.repaired(is, to); to == none {
		return nil // the cache had not shown it yet
	}
	return r.repair(ctx, is, to)
}

// repair patches what differs. An object that is gone is no error: its event reconciles the JobSet again.
func (r *JobSetReconciler) repair(ctx context.Context, from, to client.Object) error {
	from.SetUID("") // so that the patch contains the UID, and fails for another object of that name
	if err := r.client.Patch(ctx, to, client.MergeFrom(from)); !isGone(err) && err != nil {
		return cannotGrant(err, "changing", to)
	}
	shared.Wrote(ctx, "Patched the rights of agents", "they differ from what agents need", "object", klog.KObj(to))
	return nil
}

func cannotGrant(err error, doing string, obj client.Object) error {
	if err == nil {
		return nil
	}
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("%s %s: %w; let the manager do it, or set inPlaceRestart.createAccess: false and grant access by other means", doing, klog.KObj(obj), err)
	}
	return fmt.Errorf("%s %s: %w", doing, klog.KObj(obj), err)
}

func notOurs(kind string, obj client.Object) error {
	return fmt.Errorf("%s %s does not belong to this JobSet and is left alone, so its agents get no rights: delete it", kind, klog.KObj(obj))
}
