/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"cmp"
	"math"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/policy"
)

// mostWorkers bounds the workers of a group that a report looks at. A Job may ask for 2147483647, which fit into no memory, and
// anybody who may create Jobs can make one that says so. More than 100,000 Pods are warned of at admission.
const mostWorkers = 100_000

// firstSlots lists the slots of the group, Jobs in the order of their names, and says how many indexes it left out.
func firstSlots(input policy.Input, observed policy.Observed) (slots []policy.WorkerSlot, more int64, err error) {
	room, short := int64(mostWorkers), map[*batchv1.Job]*batchv1.Job{}
	for _, job := range observed.Active { // in the same order
		size := sizeOf(&job.Spec)
		if size <= room {
			room -= size
			continue
		}
		cut := *job
		cut.Spec.Completions = ptr.To(int32(room))
		short[job] = &cut
		more, room = plus(more, size-room), 0
	}
	input.Jobs = slices.Clone(input.Jobs)
	for i, job := range input.Jobs {
		input.Jobs[i] = cmp.Or(short[job], job)
	}
	slots, err = policy.WorkerSlots(input)
	return slots, more, err
}

// sizeOf is how many workers a Job has.
func sizeOf(spec *batchv1.JobSpec) int64 {
	return int64(max(0, ptr.Deref(spec.Completions, ptr.Deref(spec.Parallelism, 1))))
}

// plus adds sizes. Several of 62 bits may be more than a number holds.
func plus(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }
