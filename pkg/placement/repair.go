/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/facts"
)

// Reason and message of the condition DisruptionTarget of followers that are
// deleted to be created again in the domain of their leader. With it, a Pod
// failure policy can tell such a deletion from a failure.
const (
	// ViolationReason: followers of an exclusive Job outside of their leader's domain, or in its way for an assembly period, are deleted,
	// to be recreated. Related to the leader's Pod.
	// +reference=events-of-trouble | Warning
	ViolationReason  = "ExclusivePlacementViolation"
	ViolationMessage = "Pod violated JobSet exclusive placement policy"
)

// ScheduledLeader returns the leader among the Pods of one Job, if there is exactly
// one that lives and it is scheduled. While a leader is being replaced no follower
// is in the wrong place: the new one goes where the followers are.
func ScheduledLeader(pods []*facts.Member) *facts.Member {
	if leader := onlyLeader(pods); leader != nil && leader.Node != "" {
		return leader
	}
	return nil
}

// StrandedLeader returns a leader without a node whose followers live, and these
// followers; nil if there is none. The affinity of a leader lets it go only where
// they are, so one that was replaced stays Pending indefinitely if its domain has no room left.
func StrandedLeader(pods []*facts.Member) (*facts.Member, []*facts.Member) {
	leader, followers := onlyLeader(pods), liveFollowers(pods)
	if leader == nil || leader.Node != "" || len(followers) == 0 {
		return nil, nil
	}
	return leader, followers
}

// onlyLeader returns the leader that lives, nil if there is none or more than one.
func onlyLeader(pods []*facts.Member) *facts.Member {
	var leader *facts.Member
	for _, pod := range pods {
		if pod.Topology == "" || !pod.Leads || !pod.Live() {
			continue
		}
		if leader != nil {
			return nil
		}
		leader = pod
	}
	return leader
}

// Repair looks for followers that do not select the domain of their leader. If
// there is one, it returns all followers of the Job, which have to go. Those in
// the right place too: they run together, and could only wait for the
// others. The node is that of the leader, nil if it is not known.
func Repair(leader *facts.Member, pods []*facts.Member, node *corev1.Node) ([]*facts.Member, error) {
	followers := liveFollowers(pods)
	if len(followers) == 0 {
		return nil, nil
	}
	if node == nil {
		return nil, errors.New("leader topology is unknown (node not found)")
	}
	domain, err := DomainOf(node, leader.Topology)
	if err != nil {
		return nil, err
	}
	for _, follower := range followers {
		if follower.Topology != domain.Key || !follower.InDomain(domain.Value) {
			return followers, nil
		}
	}
	return nil, nil
}

func liveFollowers(pods []*facts.Member) []*facts.Member {
	var followers []*facts.Member
	for _, pod := range pods {
		if pod.Topology != "" && !pod.Leads && pod.Live() {
			followers = append(followers, pod)
		}
	}
	return followers
}
