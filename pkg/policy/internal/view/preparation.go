/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
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

// Preparation is which Pods of a group that assembles are being prepared.
type Preparation struct {
	// Holds: the clock stands for one of them, Left is for how long at most.
	Holds bool
	Left  time.Duration
	// Pods are those that are, or were.
	Pods map[types.UID]pass.Prepared
}

// LookAtPreparation finds the Pods of the group that are being prepared (P48a).
func (v *View) LookAtPreparation() (p Preparation) {
	if v.Running() || len(v.Group.preparing)+len(v.Clock.Prepared) == 0 {
		return p
	}
	p.Pods = make(map[types.UID]pass.Prepared, len(v.Group.preparing))
	for _, pod := range v.Group.preparing {
		at, known := v.Clock.Prepared[pod.UID]
		if !known {
			at.Since = v.Now
		}
		if left := v.preparationLimit(pod) - v.Now.Sub(at.Since); left > 0 {
			p.Holds, p.Left = true, pass.Sooner(p.Left, left)
			at.Until = time.Time{}
		} else if at.Until.IsZero() {
			at.Until = v.Now
		}
		p.Pods[pod.UID] = at
	}
	if len(v.Clock.Prepared) == 0 {
		return p
	}
	for _, pod := range v.Late() {
		at, known := v.Clock.Prepared[pod.UID]
		if _, still := p.Pods[pod.UID]; !known || still {
			continue
		}
		if at.Until.IsZero() {
			at.Until = v.Now
		}
		p.Pods[pod.UID] = at
	}
	return p
}

// preparationLimit returns for how long the clock stands for a Pod that is being prepared.
func (v *View) preparationLimit(pod *facts.Member) time.Duration {
	switch {
	case v.NotReady[pod.Node]:
		return 0
	case pod.Preparation == facts.AwaitsSandbox:
		return min(v.Deadlines.Assembly, v.Deadlines.Preparation)
	}
	return v.Deadlines.Preparation
}

// LeftSincePrepared returns how much of its period a Pod has left that was being prepared, 0 if it was not.
func (v *View) LeftSincePrepared(pod *facts.Member) time.Duration {
	at := v.Preparation.Pods[pod.UID]
	if at.Until.IsZero() {
		return 0
	}
	return v.Deadlines.Assembly - v.Now.Sub(at.Until)
}
