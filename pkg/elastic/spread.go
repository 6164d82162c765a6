/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// What the scheduler refuses although a node has room, as far as the planner knows it (P112): the instances of a job in
// exclusive placement share a domain with no other Job, and those with anti-affinity by host name share no node.
// What else it refuses the planner learns from it (P108a).

// Domain is the nodes that have one value of a label.
type Domain struct {
	Key, Value string
}

// domainOf returns the domain of a node. A node without the label is in none.
func domainOf(key string, n *Node) (Domain, bool) {
	value, ok := n.Labels[key]
	return Domain{key, value}, ok
}

// findDomains chooses the domain of each job in exclusive placement: where its instances are, else the one with the most
// room of those that no other Job has, of equals the first by value. The scheduler may choose another one; the job is then planned there.
func (p *planner) findDomains() map[*job]Domain {
	chosen := map[*job]Domain{}
	var homeless []*job
	for _, j := range p.jobs {
		if j.Topology == "" {
			continue
		}
		if len(j.bound) == 0 {
			homeless = append(homeless, j)
			continue
		}
		if domain, ok := domainOf(j.Topology, p.cluster.nodes[j.bound[0].row]); ok {
			chosen[j] = domain
		}
	}
	if len(homeless) == 0 {
		return chosen
	}
	owners := p.owned(homeless)
	slices.SortFunc(homeless, func(a, b *job) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	for _, j := range homeless {
		if domain, ok := p.roomiest(j, owners); ok {
			chosen[j], owners[domain] = domain, true
		}
	}
	return chosen
}

// owned are the domains, by the labels of some jobs, in which Pods of others are, in exclusive placement or not: a leader is
// kept away from any of them.
func (p *planner) owned(by []*job) map[Domain]bool {
	keys, owned := map[string]bool{}, map[Domain]bool{}
	for _, j := range by {
		keys[j.Topology] = true
	}
	rows := newSet(len(p.cluster.nodes)) // first which nodes, since many Pods are on each
	for row, node := range p.cluster.nodes {
		if node.HasOthers {
			rows.add(row)
		}
	}
	for _, j := range p.jobs {
		for _, at := range j.bound {
			rows.add(at.row)
		}
	}
	for row := range rows.all {
		for key := range keys {
			if domain, ok := domainOf(key, p.cluster.nodes[row]); ok {
				owned[domain] = true
			}
		}
	}
	return owned
}

// roomiest returns the domain with the most room for a job, up to its maximum, of those that have no owner: where no
// instance is, all of a node is free that it offers.
func (p *planner) roomiest(j *job, owners map[Domain]bool) (best Domain, found bool) {
	room, request := map[Domain]int64{}, p.request(j)
	for row, node := range p.cluster.nodes {
		domain, labeled := domainOf(j.Topology, node)
		if !labeled || owners[domain] || !node.Usable || room[domain] >= int64(j.max) || !j.Where.Admits(node) {
			continue
		}
		fits := int64(j.max)
		if j.OnePerNode {
			fits = 1
		}
		for column, of := range request {
			if of > 0 {
				fits = min(fits, max(0, p.cluster.whole[row*p.cluster.width+column])/of)
			}
		}
		room[domain] = min(int64(j.max), room[domain]+fits)
	}
	for domain, fits := range room {
		if fits == 0 {
			continue
		}
		if room[best] == 0 || cmp.Or(cmp.Compare(room[best], fits), cmp.Compare(domain.Value, best.Value)) < 0 {
			best = domain
		}
	}
	return best, room[best] > 0
}

// admits returns what a job requires of its nodes, and a text that is the same for jobs that require the same.
func (j *job) admits(domains map[*job]Domain) (admits func(*Node) bool, signature string) {
	admits, signature = j.Where.Admits, j.Where.signature()
	if j.Topology == "" {
		return admits, signature
	}
	domain, found := domains[j]
	return func(n *Node) bool {
		on, labeled := domainOf(j.Topology, n)
		return found && labeled && on == domain && j.Where.Admits(n)
	}, fmt.Sprintf("%s domain %t %q", signature, found, domain)
}
