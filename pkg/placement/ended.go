/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"errors"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
)

// A leader that has ended for good gets no successor, but followers may still be created: one that failed is tried again, and
// with more completions than parallelism others come after it. They are placed without it (W115a).

// EndedLeader reports whether the leader of a follower has ended for good, and returns its Pod, nil if that is gone. Its
// candidates are those of FindLeader; the Job, nil if it is not known, says which indexes have ended.
func EndedLeader(follower *corev1.Pod, candidates []*facts.Member, job *batchv1.Job) (leader *facts.Member, ended bool) {
	key, err := LeaderNameKey(follower)
	if err != nil {
		return nil, false
	}
	if job != nil {
		ended = hasIndexZero(job.Status.CompletedIndexes) || hasIndexZero(ptr.Deref(job.Status.FailedIndexes, ""))
	}
	for _, pod := range candidates {
		other, ok := PodNameKey(pod)
		switch {
		case !ok || other != key:
		case pod.Live():
			return nil, false
		case sameOwner(follower, pod) != nil:
		case pod.Phase == corev1.PodSucceeded:
			leader, ended = pod, true
		case leader == nil:
			leader = pod
		}
	}
	if !ended {
		return nil, false
	}
	return leader, true
}

// hasIndexZero reports whether the indexes of a Job's status, such as "0,3-5", hold 0. They are in ascending order.
func hasIndexZero(indexes string) bool {
	first, _, _ := strings.Cut(indexes, ",")
	first, _, _ = strings.Cut(first, "-")
	return first == "0"
}

// Peers returns those of the Pods of a follower's Job that hold their place, or will.
func Peers(follower *corev1.Pod, pods []*facts.Member) []*facts.Member {
	var peers []*facts.Member
	for _, pod := range pods {
		if pod.Live() && pod.Name != follower.Name {
			peers = append(peers, pod)
		}
	}
	return peers
}

// After returns where a follower goes whose leader has ended: where its peers are; else where the leader ran, its Pod nil if gone; else
// to any domain that is free. A domain that no peer holds may be taken by another Job, so the follower has the terms of
// a leader there. It takes the domain of a node by its name, nil if that is not known.
func After(leader *facts.Member, peers []*facts.Member, topology string, domainOf func(node string) *Domain) Spot {
	for _, peer := range peers {
		if peer.Topology == topology && peer.Domain != nil {
			return Spot{Domain: &Domain{Key: topology, Value: *peer.Domain}}
		}
	}
	for _, peer := range peers {
		if domain := domainOf(peer.Node); domain != nil {
			return Spot{Domain: domain}
		}
	}
	spot := Spot{Leads: true}
	if leader != nil {
		spot.Domain = domainOf(leader.Node)
	}
	return spot
}

// ValidateAfter returns why a follower whose leader has ended must not be created yet: when it was mutated, that was not known.
func ValidateAfter(follower *corev1.Pod) error {
	topology, _ := facts.Topology(follower)
	if _, ok := follower.Spec.NodeSelector[topology]; ok || isAttracted(follower, topology) {
		return nil
	}
	return errors.New("leader pod ended just now. " + Transient)
}

// isAttracted reports whether a Pod is bound to the domain of others, as leaders are.
func isAttracted(pod *corev1.Pod, topology string) bool {
	affinity := ptr.Deref(ptr.Deref(pod.Spec.Affinity, corev1.Affinity{}).PodAffinity, corev1.PodAffinity{})
	return slices.ContainsFunc(affinity.RequiredDuringSchedulingIgnoredDuringExecution, func(term corev1.PodAffinityTerm) bool {
		return term.TopologyKey == topology
	})
}
