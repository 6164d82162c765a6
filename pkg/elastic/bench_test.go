/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// largeCluster has 5,000 nodes with 8 accelerators each, and 1,000 jobs of several shapes.
func largeCluster(size int32, fresh func(i int) bool) Input {
	in := Input{Accelerators: []corev1.ResourceName{gpu}, Now: time.Unix(1_000_000, 0), CooldownUp: 5 * time.Minute}
	for i := range 5000 {
		in.Nodes = append(in.Nodes, Node{Name: fmt.Sprintf("node-%04d", i), Usable: i%100 != 0, Labels: map[string]string{"pool": fmt.Sprint(i % 4)},
			Allocatable: Resources{gpu: 8, corev1.ResourceCPU: 96_000, corev1.ResourceMemory: 1 << 40, corev1.ResourcePods: 110}})
	}
	next := 0
	for i := range 1000 {
		j := Job{Key: Key{"ns", fmt.Sprintf("job-%04d", i), "trainer"}, Min: 4, Max: 64, Size: size, Started: !fresh(i),
			Request: Resources{gpu: int64(1 + i%3), corev1.ResourceCPU: int64(1+i%5) * 1000, corev1.ResourceMemory: 1 << 30}}
		if i%2 == 0 {
			j.Where.NodeSelector = map[string]string{"pool": fmt.Sprint(i % 4)}
		}
		for index := range size {
			if j.Started {
				j.Bound = append(j.Bound, Instance{index, in.Nodes[next/4%5000].Name})
				next++
			}
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// BenchmarkMake measures a plan for 1,000 jobs on 5,000 nodes.
func BenchmarkMake(b *testing.B) {
	for name, in := range map[string]Input{
		"nothing changes":                largeCluster(64, func(int) bool { return false }),
		"all grow from 16 until full":    largeCluster(16, func(int) bool { return false }),
		"all are new":                    largeCluster(4, func(int) bool { return true }),
		"full, and one in 10 is new":     largeCluster(22, func(i int) bool { return i%10 == 0 }),
		"overfull, and one in 10 is new": largeCluster(30, func(i int) bool { return i%10 == 0 }),
		"P112: quotas":                   quotaCluster(),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Make(in)
			}
		})
	}
}

// quotaCluster is one in which each namespace has a quota.
func quotaCluster() Input {
	in := largeCluster(16, func(i int) bool { return i%10 == 0 })
	in.Quotas = map[string]Headroom{"ns": {Request: Resources{gpu: 1 << 20, corev1.ResourcePods: 1 << 20}, Limit: Resources{corev1.ResourceMemory: 1 << 50}}}
	return in
}
