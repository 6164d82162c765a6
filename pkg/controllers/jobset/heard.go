/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// heardNodes is what was heard from nodes that workers are waited for on, for all JobSets (P172). It is memory: a new leader hears for
// as long before it takes a node for silent.
type heardNodes struct {
	mu    sync.Mutex
	known map[string]facts.Heard
}

// heardFor is how long what was heard from a node is kept without another read.
const heardFor = 10 * time.Minute

// newsInterval is how soon what was heard is decided on, and the next nodes are read if there are more than a pass reads.
const newsInterval = time.Second

// all returns what is known, nil while nobody waits for a node.
func (h *heardNodes) all() map[string]facts.Heard {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.known)
}

// due reports whether a node is to be read now: another JobSet may have asked just before.
func (h *heardNodes) due(node string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known[node].Due(now)
}

// set changes what is known of a node, and forgets those that nobody has read for long.
func (h *heardNodes) set(node string, next func(facts.Heard) facts.Heard, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		h.known = map[string]facts.Heard{}
	}
	h.known[node] = next(h.known[node])
	maps.DeleteFunc(h.known, func(_ string, heard facts.Heard) bool { return heard.Older(now, heardFor) })
}

// hear reads the Leases of nodes past the cache, and reports whether there is news to decide on. What fails is told, and nothing is
// known of that node then.
func (r *JobSetReconciler) hear(ctx context.Context, js *jobset.JobSet, nodes []string) (news bool) {
	for _, node := range nodes {
		if !r.memory.heard.due(node, r.clock.Now()) {
			continue
		}
		next, err := r.readHeard(ctx, node)
		switch {
		case apierrors.IsForbidden(err):
			if r.memory.forJobSet(js).reported.changed(js.UID+"/leases", "forbidden") {
				r.warn(js, constants.NodeLeasesForbiddenReason, "the manager may not list leases in namespace "+corev1.NamespaceNodeLease+
					", so workers on lost nodes are replaced when Kubernetes deletes them: "+err.Error())
			}
			return news
		case err != nil:
			ctrl.LoggerFrom(ctx).Error(err, "Reading the Lease of a node on which a worker is waited for", "node", node)
			return news
		}
		r.memory.heard.set(node, next, r.clock.Now())
		news = true
	}
	return news
}

// readHeard reads the Lease of a node, and the Node if it seems to be gone.
func (r *JobSetReconciler) readHeard(ctx context.Context, node string) (func(facts.Heard) facts.Heard, error) {
	sent := r.clock.Now()
	leases, err := r.leaseNamed(ctx, corev1.NamespaceNodeLease, node)
	switch {
	case err != nil:
		return nil, err
	case len(leases) == 0:
		err := r.live.Get(ctx, types.NamespacedName{Name: node}, &corev1.Node{})
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		return func(facts.Heard) facts.Heard { return facts.Unheard(err != nil, sent) }, nil
	}
	lease, answered := &leases[0], r.clock.Now()
	lasts := time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	return func(h facts.Heard) facts.Heard {
		return h.Read(string(lease.UID)+"/"+lease.ResourceVersion, lasts, sent, answered)
	}, nil
}
