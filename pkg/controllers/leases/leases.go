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
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"sigs.k8s.io/jobset/pkg/facts"
)

// Leases are those of the cache. A nil one has none, and neither has one whose cache has yet to fill: by what is missing a group
// restart comes later, and nothing else.
type Leases struct {
	cache cache.Cache
	retry time.Duration
	// store is nil until the informer exists, synced false until the server has answered it.
	store  atomic.Pointer[toolscache.Indexer]
	synced atomic.Bool
	// changed is called with a Lease before and after each change, nil if there was or is none.
	changed atomic.Pointer[func(before, after *coordinationv1.Lease)]
}

// The cache has only those with our label, see CacheOptions.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=list;watch

// Watch adds the watch of Leases to a manager.
func Watch(mgr ctrl.Manager) (*Leases, error) {
	l := &Leases{cache: mgr.GetCache(), retry: 5 * time.Second}
	if err := mgr.Add(l); err != nil {
		return nil, fmt.Errorf("setting up the watch of Leases of agents: %w", err)
	}
	return l, nil
}

// Reader returns what reads the cache.
func (l *Leases) Reader() facts.Leases {
	if l == nil {
		return nil
	}
	return l.get
}

func (l *Leases) get(key string) *coordinationv1.Lease {
	store := l.store.Load()
	if store == nil {
		return nil
	}
	object, exists, err := (*store).GetByKey(key)
	if err != nil || !exists {
		return nil
	}
	return object.(*coordinationv1.Lease)
}

// Seen reports whether the Leases can be read: agents that report in Leases that a manager may not read are waited for until they
// repeat their reports on their Pods (P154).
func (l *Leases) Seen() bool { return l != nil && l.synced.Load() }

// OnChange sets the function to call with a Lease before and after a change, nil if there was or is none.
func (l *Leases) OnChange(changed func(before, after *coordinationv1.Lease)) {
	if l != nil {
		l.changed.Store(&changed)
	}
}

// NeedLeaderElection returns false: a replica that becomes the leader knows the Leases already.
func (l *Leases) NeedLeaderElection() bool { return false }

// Start watches until ctx ends. It never blocks the manager: without the right to watch the cache stays empty.
func (l *Leases) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, l.retry, true, func(ctx context.Context) (bool, error) {
		if err := l.watch(ctx); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Cannot watch the Leases of agents")
			return false, nil
		}
		return true, nil
	})
	if ctx.Err() != nil {
		return nil // stopped
	}
	return err
}

func (l *Leases) watch(ctx context.Context) error {
	informer, err := l.cache.GetInformer(ctx, &coordinationv1.Lease{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("getting the informer of Leases: %w", err)
	}
	indexed, ok := informer.(interface{ GetIndexer() toolscache.Indexer })
	if !ok {
		return fmt.Errorf("the informer of Leases is a %T, which has no indexer", informer)
	}
	store := indexed.GetIndexer()
	l.store.Store(&store)
	handler, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { l.tell(nil, obj) },
		UpdateFunc: func(before, after any) { l.tell(before, after) },
		DeleteFunc: func(obj any) { l.tell(obj, nil) },
	})
	if err != nil {
		return fmt.Errorf("listening to Leases: %w", err)
	}
	if toolscache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
		l.synced.Store(true)
	}
	return nil
}

func (l *Leases) tell(before, after any) {
	changed := l.changed.Load()
	if changed == nil {
		return // this replica does not lead
	}
	if tombstone, ok := before.(toolscache.DeletedFinalStateUnknown); ok {
		before = tombstone.Obj
	}
	was, _ := before.(*coordinationv1.Lease)
	is, _ := after.(*coordinationv1.Lease)
	(*changed)(was, is)
}
