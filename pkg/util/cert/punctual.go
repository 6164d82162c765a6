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

// punctual is a manager that ends although a rotator was added to it. The library reads the
// Secret with a context that never ends: if the manager is told to stop before the cache of the
// Secret has synced, that read waits for ever, and the manager for its whole grace period.
type punctual struct{ manager.Manager }

// Add adds the rotator so that it ends with its context; all else as it is.
func (p punctual) Add(runnable manager.Runnable) error {
	if r, ok := runnable.(*rotator.CertRotator); ok {
		runnable = endsInTime{r}
	}
	return p.Manager.Add(runnable)
}

// endsInTime ends with its context, whatever becomes of what it runs.
type endsInTime struct{ rotating }

// rotating is what of a rotator a manager asks for.
type rotating interface {
	manager.Runnable
	manager.LeaderElectionRunnable
}

// Start implements manager.Runnable.
func (e endsInTime) Start(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- e.rotating.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}
