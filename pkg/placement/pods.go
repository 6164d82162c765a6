/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Exclusive placement by affinity gives each Job a topology domain of its own
// with only one Pod per Job that the scheduler has to find a domain for:
//
//	leader     index 0: affinity to Pods of its Job, anti-affinity to those of others
//	followers  all others: a node selector for the domain the leader was put in
//
// So a follower cannot be created before its leader is scheduled; until then it
// is refused, and the Job controller tries again.

// OfJobSet reports whether a Pod, as it comes to admission, belongs to a JobSet.
func OfJobSet(pod *corev1.Pod) bool {
	_, ok := pod.Annotations[jobset.JobSetNameKey]
	return ok
}
