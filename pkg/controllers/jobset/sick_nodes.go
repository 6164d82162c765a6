/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/policy"
)

// NodeHealth is what the configuration says about nodes on which a resource is sick.
type NodeHealth struct {
	// KeepAway: Pods of JobSets that ask for it keep away from such nodes.
	KeepAway nodehealth.Rules
	// MoveOff: they are moved off those with a label that says so.
	MoveOff nodehealth.Rules
}

// WithNodeHealth makes JobSets with spec.faultTolerance keep away from sick nodes, and move off them.
func WithNodeHealth(health NodeHealth) Option {
	return func(r *JobSetReconciler) { r.nodeHealth = health }
}

// watchNodes wakes JobSets when nodes on which they run are marked.
func (r *JobSetReconciler) watchNodes(ctx context.Context, mgr ctrl.Manager, b *builder.Builder) error {
	if !r.gates.FaultTolerance || len(r.nodeHealth.MoveOff) == 0 {
		return nil
	}
	podsByNode, err := indexPodsByNode(ctx, mgr.GetCache())
	if err != nil {
		return err
	}
	if r.marked, err = indexMarkedNodes(ctx, mgr.GetCache(), r.nodeHealth.MoveOff); err != nil {
		return err
	}
	b.Watches(&corev1.Node{}, &nodeEvents{reader: mgr.GetClient(), rules: r.nodeHealth.MoveOff, pods: podsByNode})
	b.Watches(&corev1.Pod{}, r.bindingEvents())
	return nil
}

// sickNodes returns what a decision about a JobSet may know of sick nodes: nothing unless the JobSet asks for it.
func (r *JobSetReconciler) sickNodes(js *jobset.JobSet) (policy.SickNodes, error) {
	if !policy.Tolerates(js, r.gates) {
		return policy.SickNodes{}, nil
	}
	known := policy.SickNodes{KeepAway: r.nodeHealth.KeepAway, Since: r.memory.forJobSet(js).movingSince}
	nodes, err := r.marked.Under(markedNodes)
	if err != nil || len(nodes) == 0 {
		return known, err
	}
	known.Marked = make(map[string][]nodehealth.Mark, len(nodes))
	for _, node := range nodes {
		known.Marked[node.Name] = r.nodeHealth.MoveOff.Marks(node.Labels)
	}
	return known, nil
}

// nodeEvents enqueues the JobSets that have Pods on a node when the node gets or loses a mark (P92). A
// kubelet reports the status of its node every few minutes, and more often when it changes: that enqueues nothing.
type nodeEvents struct {
	reader client.Reader
	rules  nodehealth.Rules
	pods   shared.Indexed[*facts.Member]
}

var _ handler.EventHandler = &nodeEvents{}

// Create enqueues for a node that was marked before it was seen, such as one that was registered again.
func (e *nodeEvents) Create(ctx context.Context, evt event.CreateEvent, q queue) {
	if len(e.rules.Marks(evt.Object.GetLabels())) > 0 {
		e.wake(ctx, evt.Object.GetName(), q)
	}
}

func (e *nodeEvents) Update(ctx context.Context, evt event.UpdateEvent, q queue) {
	if !slices.Equal(e.rules.Marks(evt.ObjectOld.GetLabels()), e.rules.Marks(evt.ObjectNew.GetLabels())) {
		e.wake(ctx, evt.ObjectNew.GetName(), q)
	}
}

// Delete enqueues nothing: Kubernetes deletes the Pods of a node that is gone.
func (e *nodeEvents) Delete(context.Context, event.DeleteEvent, queue) {}

func (e *nodeEvents) Generic(context.Context, event.GenericEvent, queue) {}

func (e *nodeEvents) wake(ctx context.Context, node string, q queue) {
	pods, err := e.pods.Under(node)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Looking for the JobSets of a node that was marked", "node", node)
		return
	}
	woken := map[types.NamespacedName]bool{}
	for _, pod := range pods {
		key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[jobset.JobSetNameKey]}
		if woken[key] {
			continue
		}
		woken[key] = true
		wakeTolerant(ctx, e.reader, pod, q)
	}
}

// wakeTolerant enqueues the JobSet of a Pod if it asks for fault tolerance.
func wakeTolerant(ctx context.Context, reader client.Reader, pod *facts.Member, q queue) {
	if js := shared.JobSetOf(ctx, reader, pod); js != nil && js.Spec.FaultTolerance != nil && shared.ManagedHere(js) {
		wakeJobSet(js, q)
	}
}

// bindingEvents enqueue a JobSet when one of its Pods is bound to a node that is marked by then: the
// scheduler had not seen the mark, and when the node got it no Pod stood there yet.
func (r *JobSetReconciler) bindingEvents() handler.Funcs {
	changed := func(ctx context.Context, old, pod *facts.Member, q queue) {
		if pod.Node == "" || old != nil && old.Node == pod.Node {
			return
		}
		node, exists, err := r.marked.Store.GetByKey(pod.Node)
		if err == nil && exists && len(r.nodeHealth.MoveOff.Marks(node.(*corev1.Node).Labels)) > 0 {
			wakeTolerant(ctx, r.client, pod, q)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, evt event.CreateEvent, q queue) {
			changed(ctx, nil, evt.Object.(*facts.Member), q)
		},
		UpdateFunc: func(ctx context.Context, evt event.UpdateEvent, q queue) {
			changed(ctx, evt.ObjectOld.(*facts.Member), evt.ObjectNew.(*facts.Member), q)
		},
	}
}
