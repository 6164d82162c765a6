/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/retry"
)

const (
	// featureRestartAll must be declared by a node, or the scheduler places no Pod there that has a
	// RestartAllContainers rule. The declared name is that of the feature gate.
	featureRestartAll = "RestartAllContainersOnContainerExits"
	// kubeletVersion is the one whose behaviour this package mirrors.
	kubeletVersion = "v1.36.3"

	leaseNamespace = corev1.NamespaceNodeLease
	leaseSeconds   = 40
	// statusEvery is how often a healthy node reports although nothing changed.
	statusEvery = 5 * time.Minute
)

// register creates the Node or heals what a former node of that name left.
func (n *Node) register(ctx context.Context) (*corev1.Node, error) {
	for {
		node, err := n.tryRegister(ctx)
		if err == nil {
			return node, nil
		}
		if !pause(ctx, time.Second) {
			return nil, fmt.Errorf("registering simulated node %s: %w", n.opts.Name, err)
		}
	}
}

func (n *Node) tryRegister(ctx context.Context) (*corev1.Node, error) {
	api := n.opts.Client.CoreV1().Nodes()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.opts.Name, Labels: n.labels()}}
	n.setStatus(node)
	created, err := api.Create(ctx, node, metav1.CreateOptions{})
	if err == nil {
		return created, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("creating Node: %w", err)
	}
	var healed *corev1.Node
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := api.Get(ctx, n.opts.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		found.Labels = labels.Merge(found.Labels, n.labels())
		if found, err = api.Update(ctx, found, metav1.UpdateOptions{}); err != nil {
			return err
		}
		n.setStatus(found)
		healed, err = api.UpdateStatus(ctx, found, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("healing existing Node: %w", err)
	}
	return healed, nil
}

func (n *Node) labels() map[string]string {
	return labels.Merge(map[string]string{
		corev1.LabelHostname:   n.opts.Name,
		corev1.LabelOSStable:   runtime.GOOS,
		corev1.LabelArchStable: runtime.GOARCH,
	}, n.opts.Labels)
}

// setStatus writes what this node reports and leaves the rest alone.
func (n *Node) setStatus(node *corev1.Node) {
	s := &node.Status
	s.Capacity, s.Allocatable = withExtended(s.Capacity, n.opts.Extended), withExtended(s.Allocatable, n.opts.Extended)
	s.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: nodeIP},
		{Type: corev1.NodeHostName, Address: n.opts.Name},
	}
	s.DeclaredFeatures = []string{featureRestartAll}
	s.NodeInfo.KubeletVersion = kubeletVersion
	s.NodeInfo.ContainerRuntimeVersion = "simnode://1"
	s.NodeInfo.OperatingSystem, s.NodeInfo.Architecture = runtime.GOOS, runtime.GOARCH
	for _, c := range []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID"},
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "simulated node is running"},
	} {
		setNodeCondition(s, c, metav1.NewTime(time.Now().Truncate(time.Second)))
	}
}

// withExtended is the capacity of a node beside what somebody else advertises, such as GPUs: a kubelet leaves that alone.
func withExtended(reported, own corev1.ResourceList) corev1.ResourceList {
	all := corev1.ResourceList{}
	maps.Copy(all, reported)
	maps.Copy(all, capacity(own))
	return all
}

func setNodeCondition(s *corev1.NodeStatus, c corev1.NodeCondition, now metav1.Time) {
	c.LastHeartbeatTime, c.LastTransitionTime = now, now
	for i := range s.Conditions {
		if s.Conditions[i].Type != c.Type {
			continue
		}
		if s.Conditions[i].Status == c.Status {
			c.LastTransitionTime = s.Conditions[i].LastTransitionTime
		}
		s.Conditions[i] = c
		return
	}
	s.Conditions = append(s.Conditions, c)
}

// heartbeat keeps the Lease fresh and the Node ready. A Node that somebody deleted is not created again, so that a test
// can take a node away.
func (n *Node) heartbeat(ctx context.Context, node *corev1.Node) {
	for {
		_ = n.renewLease(ctx, node) // the next heartbeat tries again
		if !pause(ctx, n.opts.Timings.HeartbeatInterval) {
			return
		}
		_ = n.reportNode(ctx) // and so does this
	}
}

// reportNode writes the status when it is due or when somebody declared the node unready meanwhile.
func (n *Node) reportNode(ctx context.Context) error {
	api := n.opts.Client.CoreV1().Nodes()
	node, err := api.Get(ctx, n.opts.Name, metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return fmt.Errorf("reading Node: %w", err)
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue && time.Since(c.LastHeartbeatTime.Time) < statusEvery {
			return nil
		}
	}
	n.setStatus(node)
	if _, err := api.UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("updating Node status: %w", err)
	}
	return nil
}

func (n *Node) renewLease(ctx context.Context, node *corev1.Node) error {
	api := n.opts.Client.CoordinationV1().Leases(leaseNamespace)
	now, seconds := metav1.NewMicroTime(time.Now()), int32(leaseSeconds)
	lease, err := api.Get(ctx, n.opts.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Name: n.opts.Name, Namespace: leaseNamespace,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
			},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &n.opts.Name, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("creating Lease: %w", err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading Lease: %w", err)
	}
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &n.opts.Name, &seconds, &now
	if _, err := api.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("updating Lease: %w", err)
	}
	return nil
}
