/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import batchv1 "k8s.io/api/batch/v1"

const (
	// maxBuilt is how many Jobs one plan builds at most, to create or to resume.
	// A plan costs memory and time for these, not for all that spec.replicas asks for.
	// A pass looks at every Job, so with a smaller limit the looks would cost more than the Jobs.
	maxBuilt = 250
	// maxBuiltBytes is how large the specs of these Jobs are at most, encoded, unless it is only one: 250 Jobs
	// of 16 KiB. The spec of a JobSet may have a megabyte, of which 250 copies take half a gigabyte (C384).
	maxBuiltBytes = 4 << 20
	// containerCost is what a container counts besides its bytes: building one takes as long as copying a KiB.
	containerCost = 1 << 10
)

// room is what a plan may still build.
type room struct {
	jobs, bytes int
}

func newRoom() room { return room{maxBuilt, maxBuiltBytes} }

// sizeOf returns how much of the room a Job takes. With no room left it does not matter.
func (r *room) sizeOf(spec *batchv1.JobSpec) int {
	if r.jobsOf(1) == 0 {
		return 1
	}
	pod := &spec.Template.Spec
	return max(1, spec.Size()+(len(pod.InitContainers)+len(pod.Containers))*containerCost)
}

// jobsOf returns for how many Jobs of a size there is room: for one at least, as long as nothing was built.
func (r *room) jobsOf(size int) int {
	if r.jobs == maxBuilt {
		return max(1, min(r.jobs, r.bytes/size))
	}
	return max(0, min(r.jobs, r.bytes/size))
}

func (r *room) take(jobs, size int) {
	r.jobs, r.bytes = r.jobs-jobs, r.bytes-jobs*size
}
