/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/facts"
)

// A Pod that is being prepared is not late (P48a): another one in its place would begin again.
//
//	an init container runs, an image is pulled   the clock stands, at most Deadlines.Preparation for each Pod
//	sandbox, volume or device missing            the same, at most one period
//	its node is not ready                        the clock goes
//	then                                         it has a period to report
//
// The network or the storage of a node may be broken, and another node is the only way out. These times are in memory: a new
// leader gives a Pod all of them again.

// preparation is which Pods of a group that assembles are being prepared.
type preparation struct {
	// holds: the clock stands for one of them, left is for how long at most.
	holds bool
	left  time.Duration
	// pods are those that are, or were.
	pods map[types.UID]Prepared
}

func (v *view) lookAtPreparation() (p preparation) {
	if v.running() || len(v.group.preparing)+len(v.Clock.Prepared) == 0 {
		return p
	}
	p.pods = make(map[types.UID]Prepared, len(v.group.preparing))
	for _, pod := range v.group.preparing {
		at, known := v.Clock.Prepared[pod.UID]
		if !known {
			at.Since = v.Now
		}
		if left := v.preparationLimit(pod) - v.Now.Sub(at.Since); left > 0 {
			p.holds, p.left = true, Sooner(p.left, left)
			at.Until = time.Time{}
		} else if at.Until.IsZero() {
			at.Until = v.Now
		}
		p.pods[pod.UID] = at
	}
	if len(v.Clock.Prepared) == 0 {
		return p
	}
	for _, pod := range v.late() {
		at, known := v.Clock.Prepared[pod.UID]
		if _, still := p.pods[pod.UID]; !known || still {
			continue
		}
		if at.Until.IsZero() {
			at.Until = v.Now
		}
		p.pods[pod.UID] = at
	}
	return p
}

// preparationLimit returns for how long the clock stands for a Pod that is being prepared.
func (v *view) preparationLimit(pod *facts.Member) time.Duration {
	switch {
	case v.NotReady[pod.Node]:
		return 0
	case pod.Preparation == facts.AwaitsSandbox:
		return min(v.Deadlines.Assembly, v.Deadlines.Preparation)
	}
	return v.Deadlines.Preparation
}

// leftSincePrepared returns how much of its period a Pod has left that was being prepared, 0 if it was not.
func (v *view) leftSincePrepared(pod *facts.Member) time.Duration {
	at := v.preparation.pods[pod.UID]
	if at.Until.IsZero() {
		return 0
	}
	return v.Deadlines.Assembly - v.Now.Sub(at.Until)
}
