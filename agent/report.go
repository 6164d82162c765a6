/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// reporter writes an epoch to the Pod, step 3 of the picture in doc.go, until the API server accepts it.
type reporter struct {
	api *api
	// lease is nil if the agent reports on its Pod.
	lease  *leasePlace
	timing Timing
	rand   func() float64
	log    *slog.Logger
	// quiet reports whether nothing is repeated now.
	quiet func() bool
}

// run returns true once the epoch is reported, with the UID of the Pod's JobSet if the response
// had it; false if the context ends first. In process mode it tells an exit too, if there is one (P66), or
// that alone if the epoch is 0, and the address of rank 0 (P122).
//
// It retries after every error. If the Pod does not exist, the kubelet is about to stop this
// process; conflicts and full queues are temporary, and missing rights can be granted.
// Sending the same patch twice does no harm.
func (r *reporter) run(ctx context.Context, says statement, workers int) (jobSetUID string, ok bool) {
	retries := backoff{timing: r.timing, rand: r.rand}
	errs := retryLog{log: r.log.With("epoch", says.epoch)}
	for began := time.Now(); ; {
		if says.where == inLease && time.Since(began) >= r.firstRepeat(workers) {
			says.where = anywhere // the Pod hears the first repeat whether or not the Lease could be written (P154)
		}
		uid, err := r.write(ctx, says)
		if less := says.less(); len(less) > 0 && isRefusal(err) {
			if says.epoch == 0 {
				r.log.Warn("reporting how the workers of this Pod ended was refused", "error", err)
				return "", false
			}
			uid, err = r.withLess(ctx, less, err)
		}
		if err == nil {
			errs.succeeded(reporting)
			return uid, true
		}
		if ctx.Err() != nil {
			return "", false
		}
		delay := retries.next(err, true, max(1, workers))
		errs.failed(reporting, err, delay)
		if !sleep(ctx, delay) {
			return "", false
		}
	}
}

// isRefusal reports whether saying less may help.
func isRefusal(err error) bool {
	return errors.Is(err, errExit) || hasCode(err, http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity)
}

// withLess reports what is let through. The group waits for the epoch, and for nothing else.
func (r *reporter) withLess(ctx context.Context, less []statement, refused error) (jobSetUID string, err error) {
	for _, says := range less {
		if jobSetUID, err = r.write(ctx, says); err == nil {
			left := "progress"
			if says == says.bare() {
				left = "how the worker ended, and the address"
			}
			r.log.Warn("the report was refused until it left out "+left, "epoch", says.epoch, "error", refused,
				"fix", "install the admission policy of this version, and let webhooks pass annotations "+protocol.WorkerExitKey+", "+protocol.ProgressKey+" and "+protocol.AddressKey)
			return jobSetUID, nil
		}
		if !isRefusal(err) {
			break
		}
	}
	return "", err
}

// firstRepeat is the delay before an accepted report is repeated. A large group takes longer to report: its agents would repeat
// themselves while others still wait for their turn, and make them wait longer.
func (r *reporter) firstRepeat(workers int) time.Duration {
	return min(r.timing.Repeat+time.Duration(workers)*r.timing.RepeatPerWorker, r.timing.RepeatCap)
}

// repeat repeats a report until the context ends, ever more rarely (P72). It overwrites a
// patch of an agent that died while that was on its way.
func (r *reporter) repeat(ctx context.Context, says statement, workers int) {
	if r.lease != nil {
		says.where = inBoth
	}
	for delay := r.firstRepeat(workers); ; delay = min(2*delay, r.timing.RepeatCap) {
		// Agents that reported together do not come back together.
		if !sleep(ctx, delay+time.Duration(r.rand()*float64(delay)/4)) {
			return
		}
		if r.quiet() {
			continue // a JobSet that is resumed before its Pods are deleted needs it again (P32a)
		}
		if _, ok := r.run(ctx, says, workers); !ok {
			return
		}
		says.where = inLease
	}
}
