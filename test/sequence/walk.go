/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"
	"math/rand"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// walk is one random schedule. Its seed tells all of it.
type walk struct {
	random *rand.Rand
	sc     *scenario
	d      *decider
	w      *world
	trace  *trace
	taken  int
	steps  []step
	// rate is how many of a thousand steps are trouble.
	rate int
}

// newWalk makes a JobSet of up to 64 workers and says what may happen to it.
func newWalk(seed int64) *walk {
	r := rand.New(rand.NewSource(seed))
	sc := &scenario{
		maxRestarts: 100, kinds: everyFailure, lag: r.Intn(7), oldCaches: r.Intn(2) == 0, lingering: r.Intn(2) == 0,
		graces: true, splitReport: true,
	}
	if r.Intn(5) == 0 {
		sc.maxRestarts = int8(r.Intn(4))
	}
	if r.Intn(2) == 0 {
		sc.kinds = failures(r.Intn(int(everyFailure) + 1))
	}
	shapes := [][2]int8{{1, 4}, {4, 1}, {2, 2}, {2, 3}, {3, 4}, {1, 8}, {8, 1}, {4, 4}, {2, 16}, {4, 16}}
	shape := shapes[min(r.Intn(len(shapes)), r.Intn(len(shapes)))] // small ones more often
	sc.rjobs = []replicatedJob{{"w", shape[0], shape[1], -1}}
	if r.Intn(3) == 0 {
		after := int8(r.Intn(2)) - 1
		sc.rjobs = append(sc.rjobs, replicatedJob{"v", int8(1 + r.Intn(2)), int8(1 + r.Intn(2)), after})
	}
	sc.left = budgets{failures: int8(r.Intn(60)), leaders: int8(r.Intn(8)), suspends: int8(r.Intn(4)) * int8(r.Intn(2)), resizes: int8(r.Intn(4)) * int8(r.Intn(2)), jobFailures: int8(r.Intn(3)) * int8(r.Intn(2))}
	if r.Intn(3) == 0 {
		sc.left.pokes = int8(r.Intn(8))
		sc.pokes = pokes(1) << r.Intn(6)
	}
	if r.Intn(2) == 0 {
		sc.randomContainers(r)
	}
	sc.hasResizes = true
	sc.splitEnd, sc.splitNode = r.Intn(2) == 0, r.Intn(2) == 0
	sc.randomEnd(r)
	sc.noUID = r.Intn(4) == 0
	w := &walk{random: r, sc: sc, d: newDecider(sc), w: sc.start(), rate: 5 + r.Intn(150)}
	w.d.forget = true
	return w
}

// randomContainers puts some Pods, or all, into process mode. What a status that was lost means for workers
// that run on is not modelled for them.
func (sc *scenario) randomContainers(r *rand.Rand) {
	for i := range sc.rjobs {
		sc.containers[i] = int8(r.Intn(maxContainers + 1))
	}
	sc.kinds |= failures(r.Intn(16)) << 6
	sc.pokes &^= pokeWipe
	sc.saves = r.Intn(2) == 0
}

// randomEnd chooses when the JobSet succeeds and fails.
func (sc *scenario) randomEnd(r *rand.Rand) {
	some := func() int8 { return int8(r.Intn(1 << len(sc.rjobs))) }
	if r.Intn(3) == 0 {
		sc.success = success{any: r.Intn(2) == 0, targets: some()}
	}
	if r.Intn(4) == 0 {
		sc.leaders = some()
	}
	actions := []jobset.FailurePolicyAction{jobset.FailJobSet, jobset.RestartJobSet, jobset.RestartJobSetAndIgnoreMaxRestarts}
	for range r.Intn(3) * r.Intn(2) {
		sc.rules = append(sc.rules, rule{actions[r.Intn(len(actions))], some()})
	}
}

// run takes steps while things go wrong, then lets them come to rest, and returns what is wrong with that.
func (w *walk) run() error {
	for range 100 + w.random.Intn(500) {
		if err := w.step(w.random.Intn(1000) < w.rate); err != nil {
			return err
		}
	}
	w.w.left = budgets{}
	if w.w.jobSet.live().suspend && w.random.Intn(2) == 0 {
		if err := w.take(step{kind: resumeJobSet}); err != nil {
			return err
		}
	}
	for range 5000 + 1000*len(w.w.pods) {
		if w.w.good() {
			return nil
		}
		if err := w.step(false); err != nil {
			return err
		}
	}
	return violates(5, "failures stopped, and the group does not run in one epoch")
}

// step takes a step at random: one of trouble if that is asked for and possible.
func (w *walk) step(trouble bool) error {
	w.steps = w.w.enabled(w.steps[:0])
	pick, of := step{}, 0
	for _, s := range w.steps {
		if s.trouble() == trouble {
			if of++; w.random.Intn(of) == 0 {
				pick = s
			}
		}
	}
	if of == 0 {
		return nil
	}
	return w.take(pick)
}

func (w *walk) take(s step) error {
	next, err := w.w.after(s, w.d)
	if next == nil {
		return nil
	}
	w.taken++
	if w.trace != nil {
		w.trace.add(next, describe(w.w, next, s))
	}
	w.w = next
	return err
}

// findByWalk makes the schedule of a seed, and once more with a trace if it finds something.
func findByWalk(seed int64) (found *finding, steps int) {
	w := newWalk(seed)
	err := w.run()
	if err == nil {
		return nil, w.taken
	}
	again := newWalk(seed)
	again.trace = newTrace(again.w)
	_ = again.run()
	shape := fmt.Sprintf("rjobs %v, maxRestarts %d, caches up to %d events behind\n", again.sc.rjobs, again.sc.maxRestarts, again.sc.lag)
	return &finding{err: fmt.Errorf("seed %d: %w", seed, err), steps: w.taken, trace: shape + again.trace.String()}, w.taken
}
