/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cert

import (
	"context"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// stoppableManager is a manager that a rotator cannot keep from stopping. The library reads the
// Secret with a context that never ends: if the manager is stopped before the cache of the
// Secret has synced, that read blocks indefinitely, and the manager waits for its whole grace period.
type stoppableManager struct{ manager.Manager }

// Add adds a runnable, and wraps the rotator so that it ends with its context.
func (p stoppableManager) Add(runnable manager.Runnable) error {
	if r, ok := runnable.(*rotator.CertRotator); ok {
		runnable = stoppable{r}
	}
	return p.Manager.Add(runnable)
}

// stoppable ends with its context, even if what it runs does not.
type stoppable struct{ rotatorRunnable }

// rotatorRunnable is the part of a rotator that a manager uses.
type rotatorRunnable interface {
	manager.Runnable
	manager.LeaderElectionRunnable
}

// Start implements manager.Runnable.
func (e stoppable) Start(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- e.rotatorRunnable.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}
