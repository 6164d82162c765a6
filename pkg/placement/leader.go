/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Lookup returns the cached Pods of a namespace that have a key.
type Lookup func(namespace, key string) ([]*facts.Member, error)

// Pods finds Pods by PodNameKey, and by PodJobKey, once Complete says that the cache has all.
type Pods struct {
	ByName, ByJob Lookup
	Complete      func() bool
}

// PodNameKey returns the part of a Pod's name that all Pods of its Job and index
// share: the name without its random end. Only Pods that are placed
// exclusively and have a name of the form of a Job's Pod have one.
func PodNameKey(pod *facts.Member) (string, bool) {
	if !pod.Exclusive {
		return "", false
	}
	if strings.Count(pod.Name, "-") < 4 { // <jobset>-<replicatedjob>-<job>-<pod>-<random>
		return "", false
	}
	return pod.Name[:strings.LastIndex(pod.Name, "-")], true
}

// PodJobKey returns the UID of the Job of a live Pod that is placed exclusively. A Job may have left thousands that have ended.
func PodJobKey(pod *facts.Member) (string, bool) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if !pod.Exclusive || owner == nil || !pod.Live() {
		return "", false
	}
	return string(owner.UID), true
}

// LeaderNameKey returns the PodNameKey of a follower's leader.
func LeaderNameKey(follower *corev1.Pod) (string, error) {
	var names [3]string
	for i, key := range []string{jobset.JobSetNameKey, jobset.ReplicatedJobNameKey, jobset.JobIndexKey} {
		value, ok := follower.Labels[key]
		if !ok {
			return "", fmt.Errorf("pod missing label: %s", key)
		}
		names[i] = value
	}
	return strings.Join(append(names[:], "0"), "-"), nil
}

// FindLeader picks the leader of a follower from Pods of its namespace. Where a
// leader is being replaced there are two for a while, or none.
func FindLeader(follower *corev1.Pod, candidates []*facts.Member) (*facts.Member, error) {
	key, err := LeaderNameKey(follower)
	if err != nil {
		return nil, err
	}
	var leader *facts.Member
	found := 0
	for _, candidate := range candidates {
		if other, ok := PodNameKey(candidate); ok && other == key && candidate.Live() {
			leader = candidate
			found++
		}
	}
	if found != 1 {
		return nil, fmt.Errorf("expected 1 leader pod (%s), but got %d. %s", key, found, Transient)
	}
	if err := sameOwner(follower, leader); err != nil {
		return nil, err
	}
	return leader, nil
}

// sameOwner refuses a leader of another Job with the same name, such as one that was just deleted.
func sameOwner(follower *corev1.Pod, leader *facts.Member) error {
	mine := metav1.GetControllerOfNoCopy(follower)
	if mine == nil {
		return errors.New("follower pod has no owner reference")
	}
	its := metav1.GetControllerOfNoCopy(leader)
	if its == nil {
		return fmt.Errorf("leader pod %q has no owner reference", leader.Name)
	}
	if mine.UID != its.UID {
		return fmt.Errorf("follower pod owner UID (%s) != leader pod owner UID", mine.UID) // W117a: not for strangers
	}
	return nil
}
