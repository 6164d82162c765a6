/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cert

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

const pollPeriod = time.Second

// WaitForFiles returns once dir holds a certificate and its key, or when ctx ends.
func WaitForFiles(ctx context.Context, dir string) error {
	return wait.PollUntilContextCancel(ctx, pollPeriod, true, func(context.Context) (bool, error) {
		_, err := load(dir)
		return err == nil, nil // on an error the files are missing or incomplete
	})
}

// Readiness fails until the API server would trust the certificate that we serve: the files
// hold a certificate for the name of the Service, and each webhook configuration has a CA that
// signed it. From then on it succeeds without checking again: rotation keeps both consistent.
//
// Pass a reader that does not cache: webhook configurations are read only a few times.
func Readiness(reader client.Reader, o Options) healthz.Checker {
	var done atomic.Bool
	return func(req *http.Request) error {
		if done.Load() {
			return nil
		}
		if err := trusted(req.Context(), reader, o); err != nil {
			return err
		}
		done.Store(true)
		return nil
	}
}

func trusted(ctx context.Context, reader client.Reader, o Options) error {
	serving, err := load(o.Dir)
	if err != nil {
		return fmt.Errorf("waiting for the serving certificate: %w", err)
	}
	bundles, err := caBundles(ctx, reader)
	if err != nil {
		return err
	}
	for name, bundle := range bundles {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(bundle) // a bundle without certificates trusts nothing
		if _, err := serving.Leaf.Verify(x509.VerifyOptions{DNSName: o.DNSName(), Roots: roots}); err != nil {
			return fmt.Errorf("waiting for %s to trust the serving certificate: %w", name, err)
		}
	}
	return nil
}

// caBundles returns the CA of each webhook, by a name for messages. A missing configuration
// has no webhooks; it gets its CA when it is created.
func caBundles(ctx context.Context, reader client.Reader) (map[string][]byte, error) {
	bundles := map[string][]byte{}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := get(ctx, reader, validatingWebhookConfiguration, validating); err != nil {
		return nil, err
	}
	for _, webhook := range validating.Webhooks {
		bundles[validatingWebhookConfiguration+"/"+webhook.Name] = webhook.ClientConfig.CABundle
	}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := get(ctx, reader, mutatingWebhookConfiguration, mutating); err != nil {
		return nil, err
	}
	for _, webhook := range mutating.Webhooks {
		bundles[mutatingWebhookConfiguration+"/"+webhook.Name] = webhook.ClientConfig.CABundle
	}
	return bundles, nil
}

func get(ctx context.Context, reader client.Reader, name string, into client.Object) error {
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, into); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("getting %s: %w", name, err)
	}
	return nil
}

// CheckFiles returns an error if the certificate and the key in dir cannot be loaded.
func CheckFiles(dir string) error {
	_, err := load(dir)
	return err
}

func load(dir string) (tls.Certificate, error) {
	return tls.LoadX509KeyPair(filepath.Join(dir, CertFile), filepath.Join(dir, KeyFile))
}
