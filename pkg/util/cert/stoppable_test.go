/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cert

import (
	"context"
	"errors"
	"net/http"
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
			if err := (rotatingManager{Manager: mgr}).Add(r); err != nil {
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

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestTheRotatorReadsOneSecret(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ method, url, want string }{
		"O63: a list of Secrets":       {http.MethodGet, "/api/v1/namespaces/ns/secrets?limit=500", "fieldSelector=metadata.name%3Dcert&limit=500"},
		"O63: a watch of them":         {http.MethodGet, "/api/v1/namespaces/ns/secrets?watch=true", "fieldSelector=metadata.name%3Dcert&watch=true"},
		"O63: one by its name":         {http.MethodGet, "/api/v1/namespaces/ns/secrets/cert", ""},
		"O63: something else":          {http.MethodGet, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?watch=true", "watch=true"},
		"O63: an update is no listing": {http.MethodPut, "/api/v1/namespaces/ns/secrets/cert", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent string
			next := roundTrip(func(request *http.Request) (*http.Response, error) {
				sent = request.URL.RawQuery
				return &http.Response{}, nil
			})
			request, err := http.NewRequestWithContext(t.Context(), tc.method, "http://server"+tc.url, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (&oneSecret{next, "cert"}).RoundTrip(request); err != nil || sent != tc.want { //nolint:bodyclose // there is none
				t.Errorf("query %q, want %q, %v", sent, tc.want, err)
			}
		})
	}
}
