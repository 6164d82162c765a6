/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
)

// What depends on time. Two waits are modelled. A break that would fail the JobSet or recreate
// all Jobs is held back for some seconds (P45): they may be over at any moment, but a worker
// that exited 0 before is seen by then. A group assembles for so many periods of its deadline
// (P24, P48): a period is long, so it passes only when all have done what they can, but for
// those that may take longer than any deadline.

// waiting is what the controller remembers of a break that is held back.
type waiting uint8

const (
	notWaiting waiting = iota
	waits
	waited
)

// hold remembers whether a break is held back, and reports whether that is new.
func (w *world) hold(held bool) bool {
	was := w.held
	switch {
	case !held:
		w.held = notWaiting
	case w.held == notWaiting:
		w.held = waits
	}
	return w.held != was
}

// waitEnds is the end of the wait of P45.
func (w *world) waitEnds() bool {
	if v := w.look(); w.book.won && !v.succeeds(w.sc, true) {
		return false
	}
	w.held = waited
	return true
}

// claim is a PersistentVolumeClaim.
type claim uint8

const (
	noClaim claim = iota
	claimBound
	claimLeaves // it was deleted, and is there until no Pod uses it
)

func (w *world) claimInUse() bool {
	for i := range w.pods {
		if w.pods[i].phase == running {
			return true
		}
	}
	return false
}

// periodPasses lets a period of the deadline pass, and reports whether it can.
func (w *world) periodPasses(d *decider) bool {
	if w.pass != nil || w.ghost != nil || !w.idle(d) && !w.passesInFlight(d) {
		return false
	}
	js := w.jobSet.live()
	older := w.jumped != steady
	w.jumped = w.jumped.next()
	w.book.stood = w.standing && js.broke == 3
	late := js.broke == 3 // a back-off has counted for as long as it does, and the two periods are over
	counts, grows := js.since > 0 && js.since < 3 && !w.standing, js.broke > 0 && js.broke < 3
	if counts || grows {
		if counts {
			js.since++
		}
		if grows {
			js.broke++
		}
		older = true
		versions := append([]jobSet(nil), w.jobSet.versions...)
		versions[len(versions)-1] = js
		w.jobSet = history[jobSet]{versions, w.jobSet.place}
	}
	for i := range w.pods {
		p := &w.pods[i]
		if p.age < 2 {
			p.age++
			older = true
		}
		overdue := (p.hung || w.sc.inFlight && p.reports() != js.s+1) && p.live()
		if js.since > 0 && (overdue || p.backoff && late) && !js.status.byIntent() {
			w.book.pending = true // who did not come in time has failed, unless a change by intent is waited for (P101a)
		}
	}
	if v := w.now(); len(v.jobs) > 0 && w.claim == claimLeaves && v.differs(w.sc) {
		w.book.pending = true // as has a Job that cannot be created while others keep its claim
	}
	for _, c := range w.podCache { // nothing lags
		c.history = newHistory(withoutLeases(w.podsNow(c.job)))
		w.replaceCache(c)
	}
	return older && js.since > 0
}

// idle reports whether all have done what they can, but for those that may take any time: a Pod, or a worker, in its
// grace, and a Job controller that is away.
func (w *world) idle(d *decider) bool { return w.isIdle(d, false) }

// isIdle is the same, inFlight leaves out reports that are on their way, too.
func (w *world) isIdle(d *decider, inFlight bool) bool {
	for _, s := range w.enabled(nil) {
		switch {
		case s.kind == childStops && w.sc.slowStops, inFlight && (s.kind == agentReport || s.kind == cacheLeases):
			continue
		case s.trouble() || s.kind == periodPasses || s.kind == backoffEnds || (s.kind == podStops || s.kind == podGraceEnds || s.kind == podCounted) && w.sc.graces || s.kind == claimGone && w.sc.shared:
			continue
		case s.kind == begin:
			next := w.clone()
			if changed, err := next.begin(d); changed || err != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// heldSince is since when a break is held back.
var heldSince = [...]time.Time{notWaiting: {}, waits: now, waited: now.Add(-time.Hour)}

// claimsOf are the claims that there are.
func (o *objects) claimsOf(v view) map[string]*metav1.PartialObjectMetadata {
	if v.claim == noClaim {
		return nil
	}
	claims := map[string]*metav1.PartialObjectMetadata{}
	for _, c := range children.Claims(o.jobSet(v.js)) {
		found := &metav1.PartialObjectMetadata{ObjectMeta: c.ObjectMeta}
		if v.claim == claimLeaves {
			found.DeletionTimestamp = &before
		}
		claims[c.Name] = found
	}
	return claims
}

// podDeletion is the deletion of a Pod, by its Job and its index; nothing if its Job is not seen, but exists: the next pass sees it.
func (d *decider) podDeletion(v view, o *policy.Op, seen func(types.UID) job) []op {
	owner := metav1.GetControllerOf(o.Pod).UID
	if !slices.ContainsFunc(v.jobs, func(j job) bool { return uidText(j.uid) == string(owner) }) {
		return nil
	}
	return []op{{kind: opDeletePod, job: seen(owner), pod: int16(o.Pod.Index), force: o.Force, moves: o.Because.Reason == constants.WorkersMovedReason}}
}

// name puts the UIDs of the Pods that were seen in place of their indexes.
func (v *view) name(ops []op) []op {
	ops = slices.Clone(ops)
	for i := range ops {
		o := &ops[i]
		if o.kind != opDeletePod && o.kind != opReplaceLost {
			continue
		}
		at := slices.IndexFunc(v.jobs, func(j job) bool { return j.uid == o.job.uid })
		k := slices.IndexFunc(v.pods[at], func(p podObject) bool {
			if o.kind == opReplaceLost {
				return int16(p.node) == o.pod && p.phase == running
			}
			return int16(p.index) == o.pod && p.deleting == o.force && (o.force || p.phase == running)
		})
		o.pod = v.pods[at][k].uid
	}
	return ops
}

// deleteByDeadline deletes a Pod that is late (P24), or by force one that does not go (P25).
func (w *world) deleteByDeadline(o op) {
	switch at := w.podAt(o.pod); {
	case at < 0:
	case o.force:
		w.remain(&w.pods[at])
		w.removePod(at)
	default:
		w.book.hasty = w.book.hasty || !w.pods[at].hung && !w.pods[at].empty && !o.moves && !w.sc.inFlight && w.pods[at].node != nowhere
		w.pods[at].byUs = w.sc.inFlight && w.pods[at].phase == running
		w.deletePod(at)
	}
}
