/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package leases watches the Leases by which agents of large groups report (P152).
package leases

import (
	"context"
	"fmt"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Leases are those that a manager knows. A nil one knows none, and neither does one that has yet to read them: what is missing
// delays a group restart and does nothing else.
type Leases struct {
	// Cache is one of their own: controllers wait for that of the manager, also if this manager may not list Leases.
	Cache  cache.Cache
	store  toolscache.Indexer
	synced toolscache.InformerSynced
	guard  Guard
	// changed is nil as long as this manager does not lead.
	changed atomic.Pointer[func(before, after *facts.Lease)]
}

// Guard says why the policy that restricts who may report in a Lease is not in force, "" if it is, and whether that is known.
type Guard func() (gap string, known bool)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=list;watch

// Watch adds the watch of Leases to a manager, whether it leads or not. While the guard is not known to be in force, anybody who may
// create Leases could report for a Pod, so none is read (P153b).
func Watch(ctx context.Context, mgr ctrl.Manager, guard Guard) (*Leases, error) {
	l, err := watch(ctx, mgr, guard)
	if err != nil {
		return nil, fmt.Errorf("setting up the watch of Leases of agents: %w", err)
	}
	return l, nil
}

func watch(ctx context.Context, mgr ctrl.Manager, guard Guard) (*Leases, error) {
	own, err := cache.New(mgr.GetConfig(), cacheOptions(mgr))
	if err != nil {
		return nil, err
	}
	informer, err := own.GetInformer(ctx, &coordinationv1.Lease{}, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("getting their informer: %w", err)
	}
	indexed, ok := informer.(interface{ GetIndexer() toolscache.Indexer })
	if !ok {
		return nil, fmt.Errorf("their informer is a %T, which has no indexer", informer)
	}
	l := &Leases{Cache: own, store: indexed.GetIndexer(), synced: informer.HasSynced, guard: guard}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { l.tell(nil, obj) },
		UpdateFunc: l.tell,
		DeleteFunc: func(obj any) { l.tell(obj, nil) },
	})
	if err != nil {
		return nil, err
	}
	return l, mgr.Add(own)
}

// cacheOptions keep of Leases what is read. A cluster has one for each of its nodes, too, so only those with our label are cached.
func cacheOptions(mgr ctrl.Manager) cache.Options {
	return cache.Options{
		Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), HTTPClient: mgr.GetHTTPClient(),
		ByObject: map[client.Object]cache.ByObject{&coordinationv1.Lease{}: {Label: shared.Having(jobset.JobSetUIDKey), Transform: keep}},
	}
}

var keep = shared.Keeping(facts.OfLease)

// guarded reports whether only agents may report in Leases.
func (l *Leases) guarded() bool {
	gap, known := l.guard()
	return known && gap == ""
}

// Reader returns what reads the cache, as long as the guard is in force.
func (l *Leases) Reader() facts.Leases {
	if l == nil {
		return nil
	}
	return func(key string) *facts.Lease {
		if !l.guarded() {
			return nil
		}
		object, exists, err := l.store.GetByKey(key)
		if err != nil || !exists {
			return nil
		}
		return object.(*facts.Lease)
	}
}

// Seen reports whether Leases can be read. The reports of agents that write them to a manager that cannot are late: they count
// when they are repeated, then on Pods (P154).
func (l *Leases) Seen() bool { return l.synced() }

// OnChange sets the function to call with a Lease before and after a change, nil if there was or is none. It is not called while no
// Lease is read: the guard tells when it is in force again.
func (l *Leases) OnChange(changed func(before, after *facts.Lease)) {
	l.changed.Store(&changed)
}

func (l *Leases) tell(before, after any) {
	changed := l.changed.Load()
	if changed == nil || !l.guarded() {
		return
	}
	if tombstone, ok := before.(toolscache.DeletedFinalStateUnknown); ok {
		before = tombstone.Obj
	}
	was, _ := before.(*facts.Lease)
	is, _ := after.(*facts.Lease)
	(*changed)(was, is)
}
