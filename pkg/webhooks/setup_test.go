/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"net/http"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/validation"
)

func TestSetup(t *testing.T) {
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://nowhere.invalid"}, ctrl.Options{
		Scheme:  scheme(t),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Setup(mgr, gates.Set{}, validation.Cluster{}, placement.Pods{}); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"W126: the mutating webhook is served where the configuration points":   "/mutate-jobset-x-k8s-io-v1alpha2-jobset",
		"W126: the validating webhook is served where the configuration points": "/validate-jobset-x-k8s-io-v1alpha2-jobset",
		"W126: the mutating webhook of Pods is served there, too":               "/mutate--v1-pod",
		"W126: the validating webhook of Pods is served there, too":             "/validate--v1-pod",
	} {
		t.Run(name, func(t *testing.T) {
			_, pattern := mgr.GetWebhookServer().WebhookMux().Handler(&http.Request{URL: &url.URL{Path: path}})
			if pattern != path {
				t.Errorf("nothing at %s, pattern %q", path, pattern)
			}
		})
	}
}
