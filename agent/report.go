/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"log/slog"
)

// reporter writes an epoch to the Pod, step 3 of the picture, until the API server accepts it.
type reporter struct {
	api    *api
	timing Timing
	rand   func() float64
	log    *slog.Logger
}

// run returns true once the epoch is reported and false when the context ends first.
//
// No answer ends the retrying. A Pod that is not found is one that the kubelet is about
// to stop, a conflict or a full queue passes, and rights that are missing can be granted.
// Sending the same patch twice does no harm.
func (r *reporter) run(ctx context.Context, epoch int32) bool {
	const doing = "reporting the epoch"
	retries := backoff{timing: r.timing, rand: r.rand}
	errs := retryLog{log: r.log.With("epoch", epoch)}
	for {
		err := r.once(ctx, epoch)
		if err == nil {
			errs.succeeded(doing)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		delay := retries.next(err)
		errs.failed(doing, err, delay)
		if !sleep(ctx, delay) {
			return false
		}
	}
}

func (r *reporter) once(ctx context.Context, epoch int32) error {
	ctx, cancel := context.WithTimeout(ctx, r.timing.Request)
	defer cancel()
	return r.api.patchEpoch(ctx, epoch)
}
