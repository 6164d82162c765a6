/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Signs are what a worker has said of itself since the last look (P130).
type Signs struct {
	// Alive: WATCHDOG=1, or another content of the progress file.
	Alive bool
	// Ago is how long ago the last datagram came, which is no earlier than the last sign.
	Ago time.Duration
	// Stuck: WATCHDOG=trigger, it says that it hangs.
	Stuck bool
	// Step is the last one told, if Stepped.
	Step    int64
	Stepped bool
	// Extend is the longest extension asked for.
	Extend time.Duration
}

// maxExtend keeps a sum of times from overflowing. What the policy allows is less.
const maxExtend = 24 * time.Hour

// add reads a datagram: lines NAME=value, of which all others are left out.
func (s *Signs) add(datagram []byte) {
	for line := range bytes.Lines(datagram) {
		name, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("="))
		switch string(name) {
		case "WATCHDOG":
			s.Alive = s.Alive || string(value) == "1"
			s.Stuck = s.Stuck || string(value) == "trigger"
		case "X_JOBSET_STEP":
			s.step(value)
		case "EXTEND_TIMEOUT_USEC":
			if usec, ok := number(value); ok {
				s.Extend = max(s.Extend, time.Duration(min(usec, int64(maxExtend/time.Microsecond)))*time.Microsecond)
			}
		}
	}
}

// step notes the step that the worker is at. What is no number from 0 on is left out.
func (s *Signs) step(text []byte) {
	if step, ok := number(text); ok {
		s.Step, s.Stepped = step, true
	}
}

// number reads a decimal number from 0 to MaxInt64.
func number(text []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, err == nil && n >= 0
}

// watch judges whether a worker hangs (P131). Its clock is the time in which the supervisor itself ran, so that a node that
// stood still, or had no time for anybody, is no hang of its workers:
//
//	start          first sign       sign             no sign
//	  |--startSeconds-->|--stallSeconds-->|--stallSeconds-->x hung
//	                         EXTEND: not before its end, nor later than maxExtensionSeconds after the last sign
type watch struct {
	limits protocol.Progress
	// now is the clock, sign when the last sign came: 0 is the start of the worker.
	now, sign time.Duration
	signed    bool
	// step is the last that was told, highest the highest.
	step, highest int64
	stepped       bool
	// first is the first step, began when the first sign came, gap the longest time between two signs (P132).
	first      int64
	began, gap time.Duration
	// extended is until when the worker asked for patience.
	extended time.Duration
}

// look returns what is known after some time in which signs came, and how the worker hangs if it does.
func (w watch) look(elapsed time.Duration, s Signs) (watch, protocol.Hang) {
	w.now += elapsed
	if s.Alive || s.Stepped && (!w.stepped || s.Step != w.step) {
		came := w.now - min(s.Ago, elapsed)
		if w.signed {
			w.gap = max(w.gap, came-w.sign)
		} else {
			w.began = came
		}
		w.sign, w.signed = came, true
	}
	if s.Stepped {
		if !w.stepped {
			w.first = s.Step
		}
		if !w.stepped || s.Step > w.highest {
			w.highest, w.extended = s.Step, 0 // what was to take long is over
		}
		w.step, w.stepped = s.Step, true
	}
	if s.Extend > 0 {
		most := time.Duration(w.limits.MaxExtensionSeconds) * time.Second
		w.extended = min(max(w.extended, w.now+s.Extend), w.sign+most)
	}
	if !s.Stuck && !w.late() {
		return w, protocol.Hang{}
	}
	silent := max(1, int64((w.now-w.sign)/time.Second))
	return w, protocol.Hang{SilentSeconds: int32(min(silent, math.MaxInt32)), Signed: w.signed, Step: w.step, Triggered: s.Stuck}
}

// report returns what the agent tells of the worker of an epoch (P137), of one that has ended with how long it had been silent.
func (w watch) report(epoch int32, ended bool) *protocol.ProgressReport {
	r := &protocol.ProgressReport{Epoch: epoch, LongestGapMillis: protocol.Millis(w.gap)}
	if w.signed {
		r.StartMillis = max(1, protocol.Millis(w.began))
	}
	if w.stepped {
		r.Steps = &protocol.Steps{First: w.first, Last: w.step, Highest: w.highest}
	}
	if ended {
		r.SilentMillis = protocol.Millis(w.now - w.sign)
	}
	return r
}

// silent reports whether half of the limit is over without a sign.
func (w watch) silent() bool {
	limit := w.limit()
	return limit > 0 && w.now-w.sign >= limit/2
}

// limit is how long the next sign may take; 0 is forever.
func (w watch) limit() time.Duration {
	if w.signed {
		return time.Duration(w.limits.StallSeconds) * time.Second
	}
	return time.Duration(w.limits.StartSeconds) * time.Second
}

// late reports whether the deadline is over. Without a limit there is none.
func (w watch) late() bool { return w.limit() > 0 && w.left() <= 0 }

// left is the time to the deadline, if there is one.
func (w watch) left() time.Duration { return max(w.sign+w.limit(), w.extended) - w.now }

// next is when to look again: at the deadline if it is before the next beat, so that a hang ends when its limit does.
func (w watch) next() time.Duration {
	if left := w.left(); w.limit() > 0 && left > 0 {
		return min(left, beat)
	}
	return beat
}
