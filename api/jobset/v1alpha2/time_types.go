/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TimeStatus records what a group of workers spent its time on. Its durations are text with units, such as "1h2m3.5s",
// exact to the microsecond; running, assembling and paused add up to the time from the first Job to at.
type TimeStatus struct {
	// at is when this record was last written. It does not include the time since then.
	At metav1.MicroTime `json:"at"`

	// running is how long the workers were released: from each release of the whole group to the break after it.
	Running metav1.Duration `json:"running"`

	// assembling is how long the group was not released and did not pause: from each break to the next release, and from
	// the first Job to the first release.
	Assembling metav1.Duration `json:"assembling"`

	// starting is the part of running in which workers had not given their first sign of progress: of each epoch,
	// the time of the slowest. It is known one release later, and 0 if no worker gives signs.
	Starting metav1.Duration `json:"starting"`

	// paused is how long the JobSet was suspended, waited after failures in quick succession, or between the Jobs
	// of two attempts in a reset.
	Paused metav1.Duration `json:"paused"`

	// steps counts the steps that workers reported. They are known one release later, and absent if no worker reported any.
	// +optional
	Steps *StepsStatus `json:"steps,omitempty"`
}

// ProgressStatus is how far the workers of a group have come in the epochs that have ended.
type ProgressStatus struct {
	// highestStep is the highest step of all epochs; that of an epoch is the median of those that its workers reported.
	// +kubebuilder:validation:Minimum=0
	HighestStep int64 `json:"highestStep"`

	// restartsWithoutProgress counts the group restarts since highestStep last grew that count towards maxRestarts and
	// ended an epoch in which workers reported steps.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RestartsWithoutProgress int32 `json:"restartsWithoutProgress,omitempty"`

	// inPlaceRestarts is the value of status.inPlaceRestarts at that time, plus the restart since then if a Pod was taken
	// away and nothing failed. From it follows whether a later restart counts.
	// +optional
	// +kubebuilder:validation:Minimum=0
	InPlaceRestarts int32 `json:"inPlaceRestarts,omitempty"`
}

// StepsStatus counts the steps of a group of workers.
type StepsStatus struct {
	// highest is the highest step of all epochs; that of an epoch is the median of those that its workers reported.
	// +kubebuilder:validation:Minimum=0
	Highest int64 `json:"highest"`

	// repeated is how many steps were computed again after restarts: in each epoch those up to the highest step before it.
	// +kubebuilder:validation:Minimum=0
	Repeated int64 `json:"repeated"`
}
