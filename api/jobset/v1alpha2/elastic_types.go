/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ElasticBounds are the minimum and the maximum number of Pods of a ReplicatedJob. If they are equal its size
// never changes.
type ElasticBounds struct {
	// minInstances is the minimum number of Pods.
	// +kubebuilder:validation:Minimum=1
	MinInstances int32 `json:"minInstances"`

	// maxInstances is the maximum number of Pods, at least minInstances. A JobSet has at most 1,000,000 workers.
	// +kubebuilder:validation:Minimum=1
	MaxInstances int32 `json:"maxInstances"`
}

// ElasticSize is the current and the desired size of an elastic ReplicatedJob.
type ElasticSize struct {
	// current is the number of workers that it runs with: those of syncedEpoch if the group restarts in
	// place, otherwise those of its Job. 0 until it has run.
	// +kubebuilder:validation:Minimum=0
	Current int32 `json:"current"`

	// desired is the number that the spec asks for, whoever set it. While the manager plans the sizes,
	// it is the result of the last plan.
	// +kubebuilder:validation:Minimum=0
	Desired int32 `json:"desired"`

	// lastResizeTime is when desired last changed, empty if it never has. The cooldown of the planner counts from here.
	// +optional
	LastResizeTime *metav1.Time `json:"lastResizeTime,omitempty"`

	// ceiling is set when Pods beyond a size were refused: by the scheduler, or because they could not be created.
	// The planner tries more Pods after its retryTime, or when a node is added.
	// +optional
	Ceiling *ElasticCeiling `json:"ceiling,omitempty"`

	// limit is what prevents one more Pod, absent if it has maxInstances, or if its size is not planned. It is
	// written while the group runs, when its reason changes.
	// +optional
	Limit *ElasticLimit `json:"limit,omitempty"`
}

// ElasticLimit is what prevents one more Pod of an elastic ReplicatedJob.
type ElasticLimit struct {
	// reason is Held, Finished, Waits, Ceiling, Cooldown, NoNode, NoRoom, Quota or Share.
	Reason string `json:"reason"`

	// resource is the one that is lacking, for NoRoom and Quota.
	// +optional
	Resource string `json:"resource,omitempty"`

	// until is when it may be over, for Ceiling and Cooldown.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`

	// message has details, such as which resource is lacking on which node, or until when. They are those of the moment
	// at which reason, resource or until last changed.
	// +optional
	Message string `json:"message,omitempty"`
}

// ElasticCeiling records that more Pods than this size were tried and refused.
type ElasticCeiling struct {
	// size is the largest size that the planner gives it.
	// +kubebuilder:validation:Minimum=0
	Size int32 `json:"size"`

	// refusals counts consecutive attempts with more Pods that were refused.
	// +kubebuilder:validation:Minimum=1
	Refusals int32 `json:"refusals"`

	// refusedTime is when they were last refused.
	RefusedTime metav1.Time `json:"refusedTime"`

	// retryTime is when more Pods are tried again. The time until then doubles with each refusal, up to an hour.
	RetryTime metav1.Time `json:"retryTime"`

	// nodes is how many nodes could have taken such a Pod at that time if nothing else had run there. If there are more
	// now, more Pods are tried before retryTime.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Nodes int32 `json:"nodes,omitempty"`

	// message is the reason given for the refusal, for example by the scheduler.
	// +optional
	Message string `json:"message,omitempty"`
}
