/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestUntilSeen(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Obj()
	jobs := []*batchv1.Job{builders.MakeJob(js, "a", 0).Obj(), builders.MakeJob(js, "b", 0).Obj()}
	plan := &policy.Plan{CreateJobs: [][]*batchv1.Job{jobs[:1], jobs[1:]}}
	// waits returns a channel that closes when the wait is over.
	waits := func(ctx context.Context, s *shell, plan *policy.Plan) <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.untilSeen(ctx, plan)
		}()
		return done
	}
	t.Run("C61: a pass waits until the cache shows every Job that it created", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		s.cacheLag = time.Hour
		cached(t, s, jobs[:1])
		done := waits(t.Context(), s, plan)
		select {
		case <-done:
			t.Fatal("it does not wait for the second Job")
		case <-time.After(50 * time.Millisecond):
		}
		cached(t, s, jobs[1:])
		<-done
	})
	t.Run("C61: not longer than the cache may lag", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		s.cacheLag = time.Millisecond
		<-waits(t.Context(), s, plan)
	})
	t.Run("C61: not when the manager stops", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		s.cacheLag = time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		<-waits(ctx, s, plan)
	})
	t.Run("C61: not if nothing was created", func(t *testing.T) {
		t.Parallel()
		s := newShell(t)
		s.cacheLag = time.Hour
		<-waits(t.Context(), s, &policy.Plan{})
	})
}
