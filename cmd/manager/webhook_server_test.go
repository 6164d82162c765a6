/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/util/tlsconfig"
)

// freePort is a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

// serves starts a webhook server that answers "yes", and returns what stops it and waits.
func serves(t *testing.T, change func(*configapi.Configuration)) (server *webhookServer, stop func() error) {
	t.Helper()
	cfg := defaultsBut(func(cfg *configapi.Configuration) {
		cfg.Webhook = configapi.Webhook{Host: "127.0.0.1", Port: ptr.To(freePort(t)), CertDir: t.TempDir()}
		change(cfg)
	})
	clients, err := clientCAs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	options, _ := tlsconfig.Parse(cfg.TLS, nil)
	server = newWebhookServer(cfg, options, clients)
	server.Register("/", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "yes") }))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Start(ctx) }()
	return server, func() error {
		cancel()
		return <-done
	}
}

func untilServing(t *testing.T, server *webhookServer) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return server.StartedChecker()(nil) == nil, nil
	})
	if err != nil {
		t.Fatalf("O64: it does not serve: %v", err)
	}
}

// ask returns what the server answers to a client, which may have a certificate.
func ask(server *webhookServer, certificates ...tls.Certificate) (string, error) {
	return askFor(server, "/", certificates...)
}

func askFor(server *webhookServer, path string, certificates ...tls.Certificate) (string, error) {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificates},
	}}
	answer, err := client.Get("https://" + server.address + path)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

// clientCertificate makes a client that is its own authority, whose certificate it writes to a file.
func clientCertificate(t *testing.T, file string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: file}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestWebhookServer(t *testing.T) {
	t.Run("O64, O66, O69: it waits for its certificate, serves, and stops", func(t *testing.T) {
		server, stop := serves(t, func(*configapi.Configuration) {})
		if server.StartedChecker()(nil) == nil {
			t.Error("it is ready without a certificate")
		}
		writeCertificate(t, server.certDir)
		untilServing(t, server)
		if got, err := ask(server); got != "yes" || err != nil {
			t.Errorf("answer %q, %v", got, err)
		}
		if err := stop(); err != nil || server.StartedChecker()(nil) == nil {
			t.Errorf("stopped with %v, ready %v", err, server.StartedChecker()(nil) == nil)
		}
	})
	t.Run("O64: being stopped while it waits is no failure", func(t *testing.T) {
		if _, stop := serves(t, func(*configapi.Configuration) {}); stop() != nil {
			t.Error("it fails")
		}
	})
	t.Run("O67: without internal certificates it fails if there is none", func(t *testing.T) {
		_, stop := serves(t, func(cfg *configapi.Configuration) { cfg.InternalCertManagement.Enable = ptr.To(false) })
		if err := stop(); err == nil || !strings.Contains(err.Error(), "reading the serving certificate") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("O23a: with clientCAFile it answers only clients with a certificate", func(t *testing.T) {
		ca := filepath.Join(t.TempDir(), "ca.crt")
		client := clientCertificate(t, ca)
		server, stop := serves(t, func(cfg *configapi.Configuration) { cfg.Webhook.ClientCAFile = ca })
		writeCertificate(t, server.certDir)
		untilServing(t, server)
		if got, err := ask(server); err == nil {
			t.Errorf("a stranger gets %q", got)
		}
		if got, err := ask(server, clientCertificate(t, filepath.Join(t.TempDir(), "another"))); err == nil {
			t.Errorf("a client of another authority gets %q", got)
		}
		if got, err := ask(server, client); got != "yes" || err != nil {
			t.Errorf("answer %q, %v", got, err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestARequestOutlivesConnectionsThatAskNothing(t *testing.T) {
	server, stop := serves(t, func(*configapi.Configuration) {})
	asked, answer := make(chan struct{}), make(chan struct{})
	server.Register("/slow", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-answer
	}))
	writeCertificate(t, server.certDir)
	untilServing(t, server)
	result := make(chan error, 1)
	go func() {
		_, err := askFor(server, "/slow")
		result <- err
	}()
	<-asked
	silent := make([]net.Conn, maxConnectionsOfOne)
	for i := range silent {
		var err error
		if silent[i], err = net.Dial("tcp", server.address); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ask(server); got != "yes" || err != nil {
		t.Errorf("O70a: one more gets %q, %v", got, err)
	}
	close(answer)
	if err := <-result; err != nil {
		t.Errorf("O70a: the request before them gets %v", err)
	}
	for _, conn := range silent {
		_ = conn.Close() // or the server waits for it
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestAClientCAFileThatIsNoneStopsTheStart(t *testing.T) {
	text := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(text, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, filepath.Join(t.TempDir(), "missing")} {
		_, err := clientCAs(defaultsBut(func(cfg *configapi.Configuration) { cfg.Webhook.ClientCAFile = path }))
		if err == nil || !strings.Contains(err.Error(), "webhook.clientCAFile: ") {
			t.Errorf("O23a: error %v, want the field in it", err)
		}
	}
}
