/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// history is what a lagging reader has before it: the last versions of something, oldest
// first, of which it has seen those up to its place. The last version is what the API
// server has. A history is a value; no version is ever changed.
type history[T any] struct {
	versions []T
	place    int
}

func newHistory[T any](v T) history[T] { return history[T]{versions: []T{v}} }

// live is what the API server has.
func (h history[T]) live() T { return h.versions[len(h.versions)-1] }

// cached is what the reader has.
func (h history[T]) cached() T { return h.versions[h.place] }

func (h history[T]) lag() int { return len(h.versions) - 1 - h.place }

// write adds a version. A reader that would be more than bound versions behind is told of one at once.
func (h history[T]) write(v T, bound int) history[T] {
	versions := make([]T, 0, len(h.versions)+1)
	versions = append(append(versions, h.versions...), v)
	if drop := len(versions) - 1 - bound; drop > 0 {
		return history[T]{versions: versions[drop:], place: max(0, h.place-drop)}
	}
	return history[T]{versions: versions, place: h.place}
}

func (h history[T]) advance() history[T] {
	h.place++
	return h
}

// rewind is a new reader, whose first read is as old as it may be.
func (h history[T]) rewind() history[T] {
	h.place = 0
	return h
}

// forget drops what the reader has passed, which nobody can see any more.
func (h history[T]) forget() history[T] {
	return history[T]{versions: h.versions[h.place:]}
}
