/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// assemblyClock measures how long the clock of an assembly has stood still (P48), as far as
// the status does not say so yet.
type assemblyClock struct {
	// since is the assemblingSince that stoppedAt and stood belong to.
	since *metav1.Time
	// stoppedAt is when the clock last stopped, zero if it goes. stood is how long it stood before.
	stoppedAt time.Time
	stood     time.Duration
}

// stoodFor returns how long the clock that started at a time has stood still.
func (c *assemblyClock) stoodFor(since *metav1.Time, now time.Time) time.Duration {
	if !since.Equal(c.since) {
		*c = assemblyClock{since: since}
	}
	if c.stoppedAt.IsZero() {
		return c.stood
	}
	return c.stood + now.Sub(c.stoppedAt)
}

// set stops the clock, or lets it go.
func (c *assemblyClock) set(stands bool, now time.Time) {
	if !c.stoppedAt.IsZero() {
		c.stood += now.Sub(c.stoppedAt)
		c.stoppedAt = time.Time{}
	}
	if stands {
		c.stoppedAt = now
	}
}

// moved takes in that the status now says how long the clock stood: it moved assemblingSince, to a time, by as much.
func (c *assemblyClock) moved(to *metav1.Time, by time.Duration) {
	c.since = ptr.To(metav1.NewTime(to.Truncate(time.Second)))
	c.stood -= by
}
