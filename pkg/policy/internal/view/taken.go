/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// Taken are the indexes of existing Jobs of any attempt, by ReplicatedJob. Its cost grows with
// the Jobs that exist, not with those that the spec asks for.
type Taken map[string][]int32

// add records the index in the name of a Job, and reports whether it is a name that Jobs of the JobSet have. Names count,
// not labels: two Jobs cannot have the same name.
func (t Taken) add(jobSet string, job *batchv1.Job) bool {
	rest, ok := strings.CutPrefix(job.Name, jobSet)
	cut := strings.LastIndexByte(rest, '-')
	if !ok || cut < 1 || rest[0] != '-' {
		return false
	}
	digits := rest[cut+1:]
	index, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || digits[0] < '0' || digits[0] > '9' || digits[0] == '0' && len(digits) > 1 {
		return false // not a name that placement.JobName returns
	}
	t[rest[1:cut]] = append(t[rest[1:cut]], int32(index))
	return true
}

// Free returns the lowest indexes below replicas that no Job has, at most so many,
// and how many there are in total.
func (t Taken) Free(rjob string, replicas int32, most int) (lowest []int32, all int64) {
	held := t[rjob]
	all = int64(replicas)
	for _, index := range held {
		if index < replicas {
			all--
		}
	}
	if all <= 0 || most <= 0 {
		return nil, max(0, all)
	}
	// So many indexes contain enough free ones.
	bound := min(int64(replicas), int64(len(held))+int64(most))
	isHeld := make([]bool, bound)
	for _, index := range held {
		if int64(index) < bound {
			isHeld[index] = true
		}
	}
	for index, is := range isHeld {
		if !is && len(lowest) < most {
			lowest = append(lowest, int32(index))
		}
	}
	return lowest, all
}
