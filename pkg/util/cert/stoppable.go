/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cert

import (
	"context"
	"net/http"
	"path"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// rotatingManager is a manager that a rotator cannot keep from stopping, and in which it reads one Secret only. The library reads the
// Secret with a context that never ends: if the manager is stopped before the cache of the
// Secret has synced, that read blocks indefinitely, and the manager waits for its whole grace period.
type rotatingManager struct {
	manager.Manager
	secretName string
}

// GetConfig returns that of the library's cache, which would list all Secrets of the namespace: the manager may read only its own.
func (p rotatingManager) GetConfig() *rest.Config {
	config := rest.CopyConfig(p.Manager.GetConfig())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &oneSecret{next, p.secretName} })
	return config
}

// oneSecret makes lists and watches of Secrets select one by its name.
type oneSecret struct {
	next http.RoundTripper
	name string
}

// RoundTrip implements http.RoundTripper.
func (o *oneSecret) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet && path.Base(request.URL.Path) == "secrets" {
		request = request.Clone(request.Context())
		query := request.URL.Query()
		query.Set("fieldSelector", fields.OneTermEqualSelector(metav1.ObjectNameField, o.name).String())
		request.URL.RawQuery = query.Encode()
	}
	return o.next.RoundTrip(request) //nolint:wrapcheck // a transport returns what the next one does
}

// Add adds a runnable, and wraps the rotator so that it ends with its context.
func (p rotatingManager) Add(runnable manager.Runnable) error {
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
