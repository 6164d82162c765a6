/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package collections has helpers that programs which use JobSet v0.12 import. In this repository, use the packages maps and slices.
package collections

import (
	"maps"
	"slices"
)

// MergeMaps returns the entries of both maps. Where both have a key, the value of the second counts.
func MergeMaps[K comparable, V any](first, second map[K]V) map[K]V {
	merged := make(map[K]V, len(first)+len(second))
	maps.Copy(merged, first)
	maps.Copy(merged, second)
	return merged
}

// MergeSlices returns the elements of the first list, and then those of the second that are not in it.
func MergeSlices[T comparable](first, second []T) []T {
	merged := slices.Clone(first)
	for _, element := range second {
		if !slices.Contains(merged, element) {
			merged = append(merged, element)
		}
	}
	return merged
}
