/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package agentaccess watches the admission policies that restrict what agents may write.
package agentaccess

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Policy watches an admission policy that restricts agents, and its binding. Both have fixed names.
// If one of them is deleted nothing fails, since agents lose no right, so without this no one would
// notice that agents may patch every Pod of their namespaces, for example.
type Policy struct {
	of     policy.AgentPolicy
	cache  cache.Cache
	events events.EventRecorder
	// elected is closed once this manager leads: only the leader records events.
	elected <-chan struct{}
	retry   time.Duration

	mu      sync.Mutex
	policy  *admissionregistrationv1.ValidatingAdmissionPolicy
	binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding
	// changed is called when the gap has changed.
	changed func()
	// gap is nil until the caches of both kinds have synced.
	gap atomic.Pointer[string]
}

// Both kinds are listed by one name at a time, so each policy has a cache of its own.
//
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,resourceNames=jobset-agent;jobset-agent-leases,verbs=list;watch

// Watch adds the watch of an admission policy of agents to a manager.
func Watch(mgr ctrl.Manager, of policy.AgentPolicy) (*Policy, error) {
	named, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultFieldSelector: fields.OneTermEqualSelector("metadata.name", of.Name),
		DefaultTransform:     cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the cache of admission policy %s: %w", of.Name, err)
	}
	p := &Policy{of: of, cache: named, events: mgr.GetEventRecorder("jobset"), elected: mgr.Elected(), retry: 5 * time.Second}
	for _, part := range []manager.Runnable{named, p} {
		if err := mgr.Add(part); err != nil {
			return nil, fmt.Errorf("setting up the watch of admission policy %s: %w", of.Name, err)
		}
	}
	return p, nil
}

// Gap returns why the policy does not restrict agents, "" if it does. It returns false if
// that is not known yet.
func (p *Policy) Gap() (string, bool) {
	if p == nil {
		return "", false
	}
	gap := p.gap.Load()
	if gap == nil {
		return "", false
	}
	return *gap, true
}

// OnChange sets the function to call when the gap has changed. It must not block on anything that waits for the gap.
func (p *Policy) OnChange(changed func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = changed
}

// NeedLeaderElection returns false: every replica watches, since every replica has metrics.
func (p *Policy) NeedLeaderElection() bool { return false }

// Start watches until ctx ends. It never blocks the manager: without the right to watch,
// or on a server without such policies, it keeps retrying and Gap stays unknown.
func (p *Policy) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, p.retry, true, func(ctx context.Context) (bool, error) {
		if err := p.watch(ctx); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Cannot watch an admission policy of agents", "policy", p.of.Name)
			return false, nil
		}
		return true, nil
	})
	if ctx.Err() != nil {
		return nil // stopped
	}
	return err
}

func (p *Policy) watch(ctx context.Context) error {
	policies, err := p.cache.GetInformer(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("getting the informer of ValidatingAdmissionPolicies: %w", err)
	}
	bindings, err := p.cache.GetInformer(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("getting the informer of ValidatingAdmissionPolicyBindings: %w", err)
	}
	seen := toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { p.saw(ctx, obj, false) },
		UpdateFunc: func(_, obj any) { p.saw(ctx, obj, false) },
		DeleteFunc: func(obj any) { p.saw(ctx, obj, true) },
	}
	ofPolicies, err := policies.AddEventHandler(seen)
	if err != nil {
		return fmt.Errorf("listening to ValidatingAdmissionPolicies: %w", err)
	}
	ofBindings, err := bindings.AddEventHandler(seen)
	if err != nil {
		return fmt.Errorf("listening to ValidatingAdmissionPolicyBindings: %w", err)
	}
	if toolscache.WaitForCacheSync(ctx.Done(), ofPolicies.HasSynced, ofBindings.HasSynced) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.conclude(ctx, true)
	}
	return nil
}

// saw stores the current state of one of the two objects.
func (p *Policy) saw(ctx context.Context, obj any, gone bool) {
	if tombstone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch object := obj.(type) {
	case *admissionregistrationv1.ValidatingAdmissionPolicy:
		if p.policy = object; gone {
			p.policy = nil
		}
	case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
		if p.binding = object; gone {
			p.binding = nil
		}
	}
	p.conclude(ctx, false)
}

// conclude stores what both objects amount to and reports changes. It concludes nothing before both are
// known. It records no event if they are missing from the start: in-place restart may not be used here.
func (p *Policy) conclude(ctx context.Context, first bool) {
	before := p.gap.Load()
	if before == nil && !first {
		return
	}
	gap := p.of.Gap(p.policy, p.binding)
	if before != nil && *before == gap {
		return
	}
	p.gap.Store(&gap)
	if p.changed != nil {
		p.changed()
	}
	log := ctrl.LoggerFrom(ctx).WithValues("policy", p.of.Name)
	switch {
	case gap != "":
		log.Info("An admission policy of agents is not in force", "reason", gap, "effect", p.of.Without)
	case !first:
		log.Info("The admission policy of agents is in force again")
	}
	if !first {
		p.tell(gap)
	}
}

// tell records an event about the policy, whether it exists or not.
func (p *Policy) tell(gap string) {
	select {
	case <-p.elected:
	default:
		return
	}
	about := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: p.of.Name}}
	if gap == "" {
		p.events.Eventf(about, nil, corev1.EventTypeNormal, constants.AgentPolicyInForceReason, constants.EventAction,
			"%s", p.of.Within)
		return
	}
	p.events.Eventf(about, nil, corev1.EventTypeWarning, constants.AgentPolicyMissingReason, constants.EventAction, "%s", p.of.Missing(gap))
}
