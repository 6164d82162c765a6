/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// issued is a certificate with what stands behind it.
type issued struct{ ca, caKey, cert, key []byte }

// issue makes an authority and a certificate for a name that lives from now for a while.
func issue(name string, lifetime time.Duration) issued {
	GinkgoHelper()
	r := &rotator.CertRotator{
		CAName: "jobset-ca", CAOrganization: "jobset", DNSName: name,
		ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	begin := time.Now().Add(-time.Hour)
	authority, err := r.CreateCACert(begin, begin.AddDate(10, 0, 0))
	Expect(err).NotTo(HaveOccurred())
	cert, key, err := r.CreateCertPEM(authority, begin, time.Now().Add(lifetime))
	Expect(err).NotTo(HaveOccurred())
	return issued{ca: authority.CertPEM, caKey: authority.KeyPEM, cert: cert, key: key}
}

func (i issued) data() map[string][]byte {
	return map[string][]byte{"ca.crt": i.ca, "ca.key": i.caKey, "tls.crt": i.cert, "tls.key": i.key}
}

// put writes files as the kubelet does: all at once, by turning the link ..data around.
func put(dir string, files map[string][]byte) {
	GinkgoHelper()
	content, err := os.MkdirTemp(dir, "..content-")
	Expect(err).NotTo(HaveOccurred())
	for name, data := range files {
		Expect(os.WriteFile(filepath.Join(content, name), data, 0o600)).To(Succeed())
	}
	next := filepath.Join(dir, "..data_tmp")
	Expect(os.Symlink(filepath.Base(content), next)).To(Succeed())
	Expect(os.Rename(next, filepath.Join(dir, "..data"))).To(Succeed())
	for name := range files {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			Expect(os.IsExist(err)).To(BeTrue(), "linking %s: %v", name, err)
		}
	}
}

// mount brings the Secret of the webhooks into a directory until the spec ends, as a kubelet does.
func mount(dir string) {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		var seen map[string][]byte
		for ctx.Err() == nil {
			var secret corev1.Secret
			err := plane.client.Get(ctx, client.ObjectKey{Namespace: system, Name: secretName}, &secret)
			if err == nil && !maps.EqualFunc(seen, secret.Data, bytes.Equal) {
				put(dir, secret.Data)
				seen = secret.Data
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	DeferCleanup(func() {
		cancel()
		<-done
	})
}

// secretNow returns the data of the Secret of the webhooks.
func secretNow(ctx context.Context) func() map[string][]byte {
	return func() map[string][]byte {
		var secret corev1.Secret
		if err := plane.client.Get(ctx, client.ObjectKey{Namespace: system, Name: secretName}, &secret); err != nil {
			return nil
		}
		return secret.Data
	}
}

// fillSecret stores a certificate as an earlier manager would have.
func fillSecret(ctx context.Context, i issued) {
	GinkgoHelper()
	var secret corev1.Secret
	Expect(plane.client.Get(ctx, client.ObjectKey{Namespace: system, Name: secretName}, &secret)).To(Succeed())
	secret.Data = i.data()
	Expect(plane.client.Update(ctx, &secret)).To(Succeed())
}

// authorities are the CA bundles of all webhooks, by name.
func authorities(ctx context.Context) func() map[string]string {
	return func() map[string]string {
		var validating admissionregistrationv1.ValidatingWebhookConfiguration
		var mutating admissionregistrationv1.MutatingWebhookConfiguration
		if plane.client.Get(ctx, client.ObjectKey{Name: validatingName}, &validating) != nil ||
			plane.client.Get(ctx, client.ObjectKey{Name: mutatingName}, &mutating) != nil {
			return nil
		}
		bundles := map[string]string{}
		for _, webhook := range validating.Webhooks {
			bundles[webhook.Name] = string(webhook.ClientConfig.CABundle)
		}
		for _, webhook := range mutating.Webhooks {
			bundles[webhook.Name] = string(webhook.ClientConfig.CABundle)
		}
		return bundles
	}
}

// everyWebhook is the map that says the same of each webhook that ships.
func everyWebhook(bundle []byte) map[string]string {
	bundles := map[string]string{}
	for _, webhook := range plane.validating.Webhooks {
		bundles[webhook.Name] = string(bundle)
	}
	for _, webhook := range plane.mutating.Webhooks {
		bundles[webhook.Name] = string(bundle)
	}
	return bundles
}

func parse(certificate []byte) *x509.Certificate {
	GinkgoHelper()
	block, _ := pem.Decode(certificate)
	Expect(block).NotTo(BeNil(), "not PEM: %q", certificate)
	parsed, err := x509.ParseCertificate(block.Bytes)
	Expect(err).NotTo(HaveOccurred())
	return parsed
}

// trusting verifies a server as clients of the Service do.
func trusting(ca []byte, name string) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS12}
}

// dial shakes hands with a server and tells what was agreed on.
func dial(address string, config *tls.Config) (tls.ConnectionState, error) {
	conn, err := (&tls.Dialer{Config: config}).Dial("tcp", address)
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer conn.Close() //nolint:errcheck // nothing is written
	// A server that refuses a client says so after the client thinks it is done.
	if err := conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		return tls.ConnectionState{}, err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil && !os.IsTimeout(err) {
		return tls.ConnectionState{}, fmt.Errorf("after the handshake: %w", err)
	}
	return conn.(*tls.Conn).ConnectionState(), nil
}
