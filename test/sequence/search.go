/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// search visits every world that a scenario can come to, breadth first, each once.
type search struct {
	sc    *scenario
	d     *decider
	limit int
	// workers is how many goroutines look. With one, the same schedule is found each time.
	workers int

	seeds  [2]maphash.Seed
	shards [64]shard
	states atomic.Uint32
	// parents and steps lead back to the start; edges are what happens without trouble.
	parents []uint32
	steps   []step
	edges   [][2]uint32
	good    []uint32

	transitions atomic.Int64
	depth       int
	took        time.Duration
	truncated   bool
}

type shard struct {
	sync.Mutex
	ids map[[2]uint64]uint32
}

// node is a world that was reached and is still to be looked at.
type node struct {
	id, parent uint32
	by         step
	w          *world
}

// finding is a property that does not hold, and how to see it.
type finding struct {
	err   error
	steps int
	trace string
}

func newSearch(sc *scenario, limit int) *search {
	s := &search{sc: sc, d: newDecider(sc), limit: limit, workers: runtime.GOMAXPROCS(0), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	for i := range s.shards {
		s.shards[i].ids = map[[2]uint64]uint32{}
	}
	return s
}

// run searches until every world was visited or a property fails, and returns the
// shortest schedule that breaks one, nil if none does.
func (s *search) run() *finding {
	began := time.Now()
	defer func() { s.took = time.Since(began) }()
	start := s.sc.start()
	var scratch []byte
	id, _ := s.visit(start, &scratch)
	s.parents, s.steps = []uint32{id}, []step{{}}
	frontier := []node{{id: id, w: start}}
	for len(frontier) > 0 {
		if s.limit > 0 && len(s.parents) > s.limit {
			s.truncated = true
			return nil
		}
		next, broken := s.level(frontier)
		if broken != nil {
			return s.explain(broken.id, &broken.by, broken.err)
		}
		s.depth++
		s.parents = append(s.parents, make([]uint32, len(next))...)
		s.steps = append(s.steps, make([]step, len(next))...)
		for _, n := range next {
			s.parents[n.id], s.steps[n.id] = n.parent, n.by
		}
		frontier = next
	}
	return s.property5()
}

// visit gives a world its number, and reports whether it is new.
func (s *search) visit(w *world, scratch *[]byte) (id uint32, isNew bool) {
	*scratch = w.encode(*scratch)
	key := [2]uint64{maphash.Bytes(s.seeds[0], *scratch), maphash.Bytes(s.seeds[1], *scratch)}
	of := &s.shards[key[0]%uint64(len(s.shards))]
	of.Lock()
	defer of.Unlock()
	if id, ok := of.ids[key]; ok {
		return id, false
	}
	id = s.states.Add(1) - 1
	of.ids[key] = id
	return id, true
}

type brokenBy struct {
	id  uint32
	by  step
	err error
}

// level looks at all worlds of one distance from the start.
func (s *search) level(frontier []node) ([]node, *brokenBy) {
	var at atomic.Int64
	var mu sync.Mutex
	var next []node
	var broken *brokenBy
	var group sync.WaitGroup
	for range s.workers {
		group.Go(func() {
			l := looker{s: s}
			for broken := false; !broken; {
				i := int(at.Add(1) - 1)
				if i >= len(frontier) {
					break
				}
				broken = l.expand(&frontier[i])
				frontier[i].w = nil
			}
			mu.Lock()
			defer mu.Unlock()
			next = append(next, l.next...)
			s.edges = append(s.edges, l.edges...)
			s.good = append(s.good, l.good...)
			if l.broken != nil && (broken == nil || l.broken.id < broken.id) {
				broken = l.broken
			}
		})
	}
	group.Wait()
	return next, broken
}

// looker is what one goroutine found.
type looker struct {
	s       *search
	next    []node
	edges   [][2]uint32
	good    []uint32
	broken  *brokenBy
	steps   []step
	scratch []byte
}

func (l *looker) expand(n *node) (broken bool) {
	l.steps = n.w.enabled(l.steps[:0])
	if n.w.good() {
		l.good = append(l.good, n.id)
	}
	for _, by := range l.steps {
		w, err := n.w.after(by, l.s.d)
		if err != nil {
			l.broken = &brokenBy{n.id, by, err}
			return true
		}
		if w == nil {
			continue
		}
		l.s.transitions.Add(1)
		id, isNew := l.s.visit(w, &l.scratch)
		if isNew {
			l.next = append(l.next, node{id, n.id, by, w})
		}
		if !by.trouble() && id != n.id {
			l.edges = append(l.edges, [2]uint32{n.id, id})
		}
	}
	return false
}

// property5 shows that from every world the group comes to run when failures stop: it walks
// back, along what happens without trouble, from the worlds where it does.
func (s *search) property5() *finding {
	n := len(s.parents)
	first := make([]uint32, n+1) // of the edges that lead to a world
	for _, e := range s.edges {
		first[e[1]+1]++
	}
	for i := range n {
		first[i+1] += first[i]
	}
	from := make([]uint32, len(s.edges))
	fill := make([]uint32, n)
	for _, e := range s.edges {
		from[first[e[1]]+fill[e[1]]] = e[0]
		fill[e[1]]++
	}
	reaches := make([]bool, n)
	queue := s.good
	for _, id := range queue {
		reaches[id] = true
	}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, before := range from[first[id]:first[id+1]] {
			if !reaches[before] {
				reaches[before] = true
				queue = append(queue, before)
			}
		}
	}
	for id := range n {
		if !reaches[id] {
			return s.explain(uint32(id), nil, violates(5, "failures stop here, and the group never runs in one epoch again"))
		}
	}
	return nil
}

// shownSteps are how many steps are shown of those that follow when failures stop.
const shownSteps = 30

// explain replays the way to a world.
func (s *search) explain(id uint32, last *step, err error) *finding {
	var path []step
	for at := id; at != 0; at = s.parents[at] {
		path = append([]step{s.steps[at]}, path...)
	}
	if last != nil {
		path = append(path, *last)
	}
	w := s.sc.start()
	t := newTrace(w)
	for _, by := range path {
		next, _ := w.after(by, s.d)
		t.add(orElse(next, w), describe(w, next, by))
		w = orElse(next, w)
	}
	if last == nil { // what happens then, and leads nowhere
		w.settle(s.d, shownSteps, func(was, is *world, by step) { t.add(is, "... "+describe(was, is, by)) })
	}
	return &finding{err: err, steps: len(path), trace: t.String()}
}

func orElse(a, b *world) *world {
	if a != nil {
		return a
	}
	return b
}

// String is one line about a search.
func (s *search) String() string {
	end := "all"
	if s.truncated {
		end = "the first"
	}
	return fmt.Sprintf("%-48s %s %8d states %9d transitions, depth %3d, %5.1fs\n    bounds: %s",
		s.sc.name, end, len(s.parents), s.transitions.Load(), s.depth, s.took.Seconds(), s.sc.bounds())
}
