/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cert

import (
	"context"
	"errors"
	"testing"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// added is a manager that records the runnables that were added.
type added struct {
	manager.Manager
	runnables []manager.Runnable
}

func (a *added) Add(r manager.Runnable) error {
	a.runnables = append(a.runnables, r)
	return nil
}

type rotates struct{ start func(context.Context) error }

func (r rotates) Start(ctx context.Context) error { return r.start(ctx) }
func (r rotates) NeedLeaderElection() bool        { return true }

func TestRotatorEndsInTime(t *testing.T) {
	t.Parallel()
	t.Run("with its context, though it waits indefinitely", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		waits := make(chan struct{})
		cancel()
		if err := (stoppable{rotates{func(context.Context) error { <-waits; return nil }}}).Start(ctx); err != nil {
			t.Errorf("got %v", err)
		}
		close(waits)
	})
	t.Run("by itself, with its error", func(t *testing.T) {
		t.Parallel()
		wrong := errors.New("wrong")
		if err := (stoppable{rotates{func(context.Context) error { return wrong }}}).Start(t.Context()); !errors.Is(err, wrong) {
			t.Errorf("got %v, want %v", err, wrong)
		}
	})
	t.Run("only the rotator is wrapped, and waits to lead as it would", func(t *testing.T) {
		t.Parallel()
		mgr := &added{}
		other := manager.RunnableFunc(func(context.Context) error { return nil })
		for _, r := range []manager.Runnable{&rotator.CertRotator{RequireLeaderElection: true}, other} {
			if err := (stoppableManager{mgr}).Add(r); err != nil {
				t.Fatal(err)
			}
		}
		wrapped, ok := mgr.runnables[0].(stoppable)
		if !ok || !wrapped.NeedLeaderElection() {
			t.Errorf("the rotator was added as a %T", mgr.runnables[0])
		}
		if _, ok := mgr.runnables[1].(manager.RunnableFunc); !ok {
			t.Errorf("the other was added as a %T", mgr.runnables[1])
		}
	})
}
