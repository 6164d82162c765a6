/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// Node is a simulated node. Several may run in one process.
type Node struct {
	opts  Options
	epoch time.Time // where the ticks of the relist count from

	mu      sync.Mutex
	workers map[types.UID]*podWorker
	closed  bool
	wg      sync.WaitGroup
}

// New checks the options. It does not talk to the API server.
func New(opts Options) (*Node, error) {
	if err := opts.complete(); err != nil {
		return nil, fmt.Errorf("creating simulated node %q: %w", opts.Name, err)
	}
	return &Node{opts: opts, workers: map[types.UID]*podWorker{}}, nil
}

// Run registers the node and runs the Pods bound to it until ctx is done. When it returns, every container it started
// is dead and reaped. The Node object stays, as it does when a machine dies. A Node runs once.
func (n *Node) Run(ctx context.Context) error {
	n.epoch = time.Now()
	node, err := n.register(ctx)
	if err != nil {
		return err
	}
	n.wg.Go(func() { n.heartbeat(ctx, node) })

	factory := informers.NewSharedInformerFactoryWithOptions(n.opts.Client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", n.opts.Name).String()
		}))
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(n.handler(ctx)); err != nil {
		return fmt.Errorf("watching Pods of simulated node %s: %w", n.opts.Name, err)
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
	n.mu.Lock()
	n.closed = true // events still in the queue of the informer start nothing any more
	n.mu.Unlock()
	n.wg.Wait()
	return nil
}

func (n *Node) handler(ctx context.Context) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				n.observe(ctx, pod)
			}
		},
		UpdateFunc: func(before, after any) {
			was, _ := before.(*corev1.Pod)
			pod, ok := after.(*corev1.Pod)
			if !ok {
				return
			}
			if was != nil && was.UID != pod.UID { // the watch missed a delete and a create in between
				n.forget(was.UID)
			}
			n.observe(ctx, pod)
		},
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				n.forget(pod.UID)
			}
		},
	}
}

// observe hands a Pod to its worker. The node name is checked although the watch selects it: fake clients do not.
func (n *Node) observe(ctx context.Context, pod *corev1.Pod) {
	if pod.Spec.NodeName != n.opts.Name {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if w, ok := n.workers[pod.UID]; ok {
		w.update(pod)
		return
	}
	if n.closed || terminal(pod.Status.Phase) && pod.DeletionTimestamp == nil {
		return
	}
	w := newPodWorker(ctx, n, pod)
	n.workers[pod.UID] = w
	n.wg.Go(func() {
		w.run()
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.workers, pod.UID)
	})
}

// forget is for a Pod that is gone from the API: whatever still runs of it is killed at once.
func (n *Node) forget(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if w, ok := n.workers[uid]; ok {
		w.gone.Store(true)
		w.cancel()
	}
}
