/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/test/process"
)

// loopbackIPs allocates addresses from one prefix inside 127.0.0.0/8, which Linux serves without any setup. It never
// reuses an address before it has gone around the prefix, so that a late request to a dead Pod rarely meets another.
type loopbackIPs struct {
	mu     sync.Mutex
	prefix netip.Prefix
	next   netip.Addr
	used   map[netip.Addr]bool
}

// newLoopbackIPs returns an allocator for a prefix such as 127.20.0.0/16.
func newLoopbackIPs(prefix string) (*loopbackIPs, error) {
	p, err := netip.ParsePrefix(prefix)
	if err != nil {
		return nil, fmt.Errorf("parsing loopback prefix: %w", err)
	}
	if !p.Addr().Is4() || !p.Addr().IsLoopback() || p.Bits() < 8 || p.Bits() > 30 {
		return nil, fmt.Errorf("loopback prefix %s: must be an IPv4 prefix of 8 to 30 bits inside 127.0.0.0/8", prefix)
	}
	p = p.Masked()
	return &loopbackIPs{prefix: p, next: p.Addr().Next(), used: map[netip.Addr]bool{}}, nil
}

// Allocate returns the address for a Pod: the one in its status if that is free, else a new one.
func (l *loopbackIPs) Allocate(pod *corev1.Pod) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, err := netip.ParseAddr(pod.Status.PodIP); err == nil && l.prefix.Contains(old) && !l.used[old] {
		l.used[old] = true
		return old.String(), nil
	}
	first := l.next
	for {
		ip := l.next
		l.next = ip.Next()
		if !l.prefix.Contains(l.next.Next()) { // leave the last one, 127.x.255.255, out
			l.next = l.prefix.Addr().Next()
		}
		if !l.used[ip] {
			l.used[ip] = true
			return ip.String(), nil
		}
		if l.next == first {
			return "", fmt.Errorf("allocating a Pod address: all of %s are taken", l.prefix)
		}
	}
}

// Release gives an address back.
func (l *loopbackIPs) Release(ip string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if addr, err := netip.ParseAddr(ip); err == nil {
		delete(l.used, addr)
	}
}

var nodesMade atomic.Uint32

// prefixesPerSlot prefixes of 4,096 addresses belong to each program that runs on this machine.
const prefixesPerSlot = 192 * 16 / process.Slots

// nextPrefix spreads the nodes of all test programs over 127.64.0.0 to 127.255.255.255.
func nextPrefix() (string, error) {
	slot, err := process.Slot()
	if err != nil {
		return "", err
	}
	n := slot*prefixesPerSlot + int(nodesMade.Add(1)-1)%prefixesPerSlot
	return fmt.Sprintf("127.%d.%d.0/20", 64+n/16, n%16*16), nil
}
