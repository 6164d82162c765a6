/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Of a group that hangs, all workers are silent: one is stuck and the others wait for it, so the one whose deadline
// passes first need not be it. At the lift all have told how they ended, and they are compared (P135):
//
//	the least step             it did not come to where the others are
//	a process in state T or D  stopped, or in a system call that nothing interrupts
//	the oldest sign            by more than a step and a stop take
//
// A person acts on a name, so a wrong one is worse than none. Workers are compared only with those of their
// ReplicatedJob, which run the same program; what not all of these told is not compared, except for states; and if the
// first two criteria disagree, or one finds several, the event reports what was found and no likely culprit.

// ending is what a worker told of an epoch that ended.
type ending struct {
	pod, node, replicatedJob string
	// replacement: its Pod is newer than the break, so the worker of the epoch told nothing.
	replacement bool
	// seen is the state of its processes that tells most (P134).
	seen string
	// step is the last that it told, nil if it told none. silent is from its last sign to its end, 0 if it gave none.
	step               *int64
	silent, longestGap time.Duration
}

// suspect names the likely culprit, and why, "" if the epoch that ended did not end by a hang. If the cause that was
// announced is the end of a peer, which was reported before, it says who hung.
func suspect(v *view.View) string {
	first := firstReported(v)
	if first == nil || !first.Hang.Hung() {
		return "" // its end is the cause, and was announced
	}
	var endings []ending
	for i := range v.Group.Jobs {
		job := v.Group.Jobs[i].Job
		for k := range v.Group.Jobs[i].Slots {
			slot := &v.Group.Jobs[i].Slots[k]
			if slot.State != view.SlotMember {
				continue
			}
			m := slot.Pod
			e := ending{pod: m.Name, node: m.Node, replicatedJob: view.ReplicatedJobOf(job)}
			e.replacement = m.Created().After(v.BrokenAt())
			if exit, ok := exitIn(m, v.Synced); ok {
				e.seen = exit.Seen
			}
			if r, told := endedReport(v, m); told {
				e.addProgress(r)
			}
			endings = append(endings, e)
		}
	}
	said := standsOut(endings, stopTakes(v))
	if !v.HangAnnounced() {
		said += "; first " + first.String()
	}
	return said
}

func (e *ending) addProgress(r protocol.ProgressReport) {
	if !r.Signed() {
		return
	}
	e.silent, e.longestGap = r.Silent(), r.LongestGap()
	if r.Steps != nil {
		e.step = &r.Steps.Last
	}
}

// noCulprit is reported if no worker differs from the others, or several do.
const noCulprit = "no likely culprit"

// finding is what one criterion says of a worker.
type finding struct {
	*ending
	why string
}

// standsOut compares how all workers of a group ended. Others may end so much later for no reason of their own.
func standsOut(all []ending, late time.Duration) string {
	slices.SortFunc(all, func(a, b ending) int {
		return cmp.Or(strings.Compare(a.replicatedJob, b.replicatedJob), strings.Compare(a.pod, b.pod))
	})
	var behind, halted, oldest []finding
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].replicatedJob == all[from].replicatedJob {
			to++
		}
		peers := all[from:to]
		behind, halted = append(behind, leastStep(peers)...), append(halted, stopped(peers)...)
		oldest = append(oldest, oldestSign(peers, late)...)
		from = to
	}
	if len(behind) > 0 && len(halted) > 0 {
		return stepAndState(behind, halted)
	}
	for _, criterion := range [][]finding{behind, halted, oldest} {
		if len(criterion) == 1 {
			return criterion[0].String()
		}
		if len(criterion) > 1 {
			return fmt.Sprintf("%s: %s", noCulprit, several(criterion))
		}
	}
	return noCulprit + missingFrom(all)
}

// missingFrom says which Pods replace workers of the epoch that ended, which may have hung and told nothing of it.
func missingFrom(all []ending) string {
	var pods []string
	for i := range all {
		if all[i].replacement {
			pods = append(pods, all[i].pod)
		}
	}
	if len(pods) == 0 {
		return ""
	}
	return " among those that reported; lost without a report: the workers that were replaced by " + view.FirstOf(pods)
}

// stepAndState names the worker that both say, if there is one.
func stepAndState(behind, halted []finding) string {
	var both []string
	for _, f := range behind {
		if i := slices.IndexFunc(halted, func(h finding) bool { return h.ending == f.ending }); i >= 0 {
			both = append(both, f.String()+", and "+halted[i].why)
		}
	}
	if len(both) == 1 {
		return both[0]
	}
	return fmt.Sprintf("%s: %s", noCulprit, several(append(behind, halted...)))
}

// several says what was found of workers that cannot be told apart.
func several(all []finding) string {
	const most = 3
	var texts []string
	for _, f := range all[:min(len(all), most)] {
		texts = append(texts, f.pod+": "+f.why)
	}
	if len(all) > most {
		texts = append(texts, fmt.Sprintf("and %d more", len(all)-most))
	}
	return strings.Join(texts, "; ")
}

func (f finding) String() string {
	if f.node == "" {
		return fmt.Sprintf("likely culprit: worker pod %s: %s", f.pod, f.why)
	}
	return fmt.Sprintf("likely culprit: worker pod %s on node %s: %s", f.pod, f.node, f.why)
}

// leastStep finds the worker whose last step is less than those of all others.
func leastStep(peers []ending) []finding {
	var least *ending
	ties := 0
	for i := range peers {
		e := &peers[i]
		switch {
		case e.step == nil:
			return nil
		case least == nil || *e.step < *least.step:
			least, ties = e, 1
		case *e.step == *least.step:
			ties++
		}
	}
	if len(peers) < 2 || ties != 1 {
		return nil
	}
	low, high := int64(math.MaxInt64), int64(0)
	for i := range peers {
		if e := &peers[i]; e != least {
			low, high = min(low, *e.step), max(high, *e.step)
		}
	}
	return []finding{{least, fmt.Sprintf("it reported step %d last, the other %d reported %s", *least.step, len(peers)-1, fromTo(low, high))}}
}

func fromTo(low, high int64) string {
	if low == high {
		return fmt.Sprintf("step %d", low)
	}
	return fmt.Sprintf("steps %d to %d", low, high)
}

// stopped finds the workers with a process in state T or, if there are none, D. If most are, nothing is told by it.
func stopped(peers []ending) []finding {
	for _, state := range []string{"T", "D"} {
		var in []finding
		for i := range peers {
			if peers[i].seen == state {
				in = append(in, finding{&peers[i], "it has a process in state " + state})
			}
		}
		if len(in) > 0 && 2*len(in) <= len(peers) {
			return in
		}
	}
	return nil
}

// oldestSign finds the worker that was silent for longer than all others, by more than the longest time between two
// signs, and than a worker may end later than another: the others have given a sign that it has not.
func oldestSign(peers []ending, late time.Duration) []finding {
	var oldest *ending
	var second, gap time.Duration
	for i := range peers {
		e := &peers[i]
		gap = max(gap, e.longestGap)
		switch {
		case e.silent <= 0:
			return nil
		case oldest == nil:
			oldest = e
		case e.silent > oldest.silent:
			oldest, second = e, oldest.silent
		default:
			second = max(second, e.silent)
		}
	}
	if len(peers) < 2 || gap == 0 || oldest.silent-second <= gap+late {
		return nil
	}
	return []finding{{oldest, fmt.Sprintf("it had given no sign for %.1f s, the other %d for %.1f s at most", oldest.silent.Seconds(), len(peers)-1, second.Seconds())}}
}
