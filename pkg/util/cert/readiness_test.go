/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cert

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

type issued struct{ ca, cert, key []byte }

// issue creates a CA and a certificate for a name, as the rotator does.
func issue(t *testing.T, dnsName string) issued {
	t.Helper()
	r := newRotator(options)
	r.DNSName = dnsName
	r.ExtKeyUsages = &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	begin, end := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	authority, err := r.CreateCACert(begin, end)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := r.CreateCertPEM(authority, begin, end)
	if err != nil {
		t.Fatal(err)
	}
	return issued{ca: authority.CertPEM, cert: cert, key: key}
}

func (i issued) write(t *testing.T, dir string) {
	t.Helper()
	for name, data := range map[string][]byte{CertFile: i.cert, KeyFile: i.key} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func validating(bundle []byte) client.Object {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "jobset-validating-webhook-configuration"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{
			{Name: "vjobset.kb.io", ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: bundle}},
		},
	}
}

func mutating(bundle []byte) client.Object {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "jobset-mutating-webhook-configuration"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{
			{Name: "mjobset.kb.io", ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: bundle}},
		},
	}
}

func TestReadiness(t *testing.T) {
	ours, theirs, misnamed := issue(t, options.DNSName()), issue(t, options.DNSName()), issue(t, "elsewhere.svc")
	tests := map[string]struct {
		files   *issued
		objects []client.Object
		wantErr string // empty means ready
	}{
		"ready once every webhook trusts the files (O69)": {
			files:   &ours,
			objects: []client.Object{validating(ours.ca), mutating(ours.ca)},
		},
		"not ready before the files are there (O69)": {
			objects: []client.Object{validating(ours.ca), mutating(ours.ca)},
			wantErr: "waiting for the serving certificate",
		},
		"not ready before the CA is in each configuration (O69)": {
			files:   &ours,
			objects: []client.Object{validating(ours.ca), mutating(nil)},
			wantErr: "waiting for jobset-mutating-webhook-configuration/mjobset.kb.io",
		},
		"not ready while the files are older than the CA": {
			files:   &ours,
			objects: []client.Object{validating(theirs.ca), mutating(ours.ca)},
			wantErr: "waiting for jobset-validating-webhook-configuration/vjobset.kb.io",
		},
		"not ready with a certificate for another name (O60)": {
			files:   &misnamed,
			objects: []client.Object{validating(misnamed.ca), mutating(misnamed.ca)},
			wantErr: options.DNSName(),
		},
		"a configuration that does not exist is not waited for (O62)": {
			files:   &ours,
			objects: []client.Object{validating(ours.ca)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := options
			o.Dir = t.TempDir()
			if tc.files != nil {
				tc.files.write(t, o.Dir)
			}
			reader := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(tc.objects...).Build()
			err := Readiness(reader, o)(httptest.NewRequest("GET", "/readyz", nil))
			if (err != nil) != (tc.wantErr != "") {
				t.Fatalf("Readiness() error = %v, want %q", err, tc.wantErr)
			}
			if err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("Readiness() error = %v, want %q in it", err, tc.wantErr)
			}
		})
	}
}

func TestReadinessAsksUntilItIsReady(t *testing.T) {
	ours := issue(t, options.DNSName())
	o := options
	o.Dir = t.TempDir()
	ours.write(t, o.Dir)

	reads, down := 0, true
	reader := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(validating(ours.ca), mutating(ours.ca)).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
				reads++
				if down {
					return errors.New("the API server is down")
				}
				return c.Get(ctx, key, into, opts...)
			},
		}).Build()
	check := Readiness(reader, o)
	probe := func() error { return check(httptest.NewRequest("GET", "/readyz", nil)) }

	if err := probe(); err == nil || !strings.Contains(err.Error(), "the API server is down") {
		t.Errorf("while reads fail: error = %v, want theirs", err)
	}
	down = false
	if err := probe(); err != nil {
		t.Errorf("when reads work again: %v", err)
	}
	down, reads = true, 0
	if err := probe(); err != nil || reads != 0 {
		t.Errorf("once ready: error = %v after %d reads, want none of either", err, reads)
	}
}

func TestWaitForFiles(t *testing.T) {
	t.Run("returns when the files appear (O64)", func(t *testing.T) {
		dir := t.TempDir()
		ours := issue(t, options.DNSName())
		done := make(chan error, 1)
		go func() { done <- WaitForFiles(t.Context(), dir) }()
		select {
		case err := <-done:
			t.Fatalf("returned %v before there were files", err)
		case <-time.After(50 * time.Millisecond):
		}
		ours.write(t, dir)
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("did not see the files")
		}
	})
	t.Run("gives up when it is told to", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := WaitForFiles(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want canceled", err)
		}
	})
}

func TestCheckFiles(t *testing.T) {
	one, other := issue(t, options.DNSName()), issue(t, options.DNSName())
	tests := map[string]struct {
		files   map[string][]byte
		wantErr string // empty means that nothing is wrong
	}{
		"a certificate and its key (O25)":        {files: map[string][]byte{"tls.crt": one.cert, "tls.key": one.key}},
		"no certificate (O25)":                   {files: map[string][]byte{"tls.key": one.key}, wantErr: "tls.crt: no such file"},
		"no key (O25)":                           {files: map[string][]byte{"tls.crt": one.cert}, wantErr: "tls.key: no such file"},
		"the key of another certificate (O25)":   {files: map[string][]byte{"tls.crt": one.cert, "tls.key": other.key}, wantErr: "private key does not match"},
		"a file with something else in it (O25)": {files: map[string][]byte{"tls.crt": []byte("x"), "tls.key": one.key}, wantErr: "failed to find"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, data := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := CheckFiles(dir)
			if (err != nil) != (tc.wantErr != "") {
				t.Fatalf("CheckFiles() error = %v, want %q", err, tc.wantErr)
			}
			if err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("CheckFiles() error = %v, want %q in it", err, tc.wantErr)
			}
		})
	}
}
