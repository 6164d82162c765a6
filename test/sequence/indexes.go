/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "slices"

// indexes are some of a Job.
type indexes uint8

func (s indexes) has(index int8) bool { return s&(1<<index) != 0 }

func (s indexes) list() (all []int64) {
	for index := range int8(8) {
		if s.has(index) {
			all = append(all, int64(index))
		}
	}
	return all
}

// refresh replaces the cached Pods of these indexes, and no others, by those that were read.
func (s indexes) refresh(cached, read []podObject) []podObject {
	pods := slices.DeleteFunc(slices.Clone(cached), func(p podObject) bool { return s.has(p.index) })
	return append(pods, slices.DeleteFunc(read, func(p podObject) bool { return !s.has(p.index) })...)
}
