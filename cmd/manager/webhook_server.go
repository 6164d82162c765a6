/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/util/bounded"
	"sigs.k8s.io/jobset/pkg/util/cert"
	"sigs.k8s.io/jobset/pkg/util/tlsconfig"
)

// Limits of the port of the webhooks. An API server needs a connection for each call that is under way: 5,000 Pods per
// second, each with two calls of 5 ms, need 50.
const (
	maxConnections       = 4096
	maxConnectionsOfOne  = 1024
	webhookHeaderTimeout = 5 * time.Second
	webhookReadTimeout   = 10 * time.Second // that of the API server
	webhookWriteTimeout  = 30 * time.Second
	webhookIdleTimeout   = 90 * time.Second // that of the API server's connections
	webhookStopTimeout   = time.Minute
)

// webhookServer serves webhooks as that of controller-runtime does, whose handlers it has. It bounds connections and
// times, and it can wait for its certificate: meanwhile the manager serves probes and runs the rotator, which creates it.
type webhookServer struct {
	webhook.Server

	address, certDir string
	waits            bool
	tlsOptions       []func(*tls.Config)
	serving          atomic.Bool
}

func newWebhookServer(cfg *configapi.Configuration, tlsOptions tlsconfig.Options, clients *x509.CertPool) *webhookServer {
	server := &webhookServer{
		Server:     webhook.NewServer(webhook.Options{}), // keeps the handlers, and is never started
		address:    net.JoinHostPort(cfg.Webhook.Host, strconv.Itoa(*cfg.Webhook.Port)),
		certDir:    webhookCertDir(cfg),
		waits:      *cfg.InternalCertManagement.Enable, // else the certificate must already exist
		tlsOptions: []func(*tls.Config){tlsOptions.Apply, tlsconfig.HTTP1Only},
	}
	if clients != nil {
		server.tlsOptions = append(server.tlsOptions, func(config *tls.Config) {
			config.ClientCAs, config.ClientAuth = clients, tls.RequireAndVerifyClientCert
		})
	}
	return server
}

// webhookCertDir has its own default because the defaults of two libraries differ if
// the directory for temporary files is not /tmp.
func webhookCertDir(cfg *configapi.Configuration) string {
	return cmp.Or(cfg.Webhook.CertDir, filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs"))
}

// clientCAs returns the authorities whose clients the webhooks answer; nil means all clients.
func clientCAs(cfg *configapi.Configuration) (*x509.CertPool, error) {
	if cfg.Webhook.ClientCAFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(cfg.Webhook.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("reading webhook.clientCAFile: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("webhook.clientCAFile: %s has no certificates in PEM form", cfg.Webhook.ClientCAFile)
	}
	return pool, nil
}

// Start waits for the certificate, if it is to come, and serves until the context ends. If it is stopped while it waits, it returns nil.
func (s *webhookServer) Start(ctx context.Context) error {
	if s.waits {
		ctrl.LoggerFrom(ctx).Info("Waiting for the serving certificate of the webhooks", "directory", s.certDir)
		if err := cert.WaitForFiles(ctx, s.certDir); err != nil {
			if ctx.Err() != nil {
				return nil // stopped
			}
			return fmt.Errorf("waiting for the serving certificate: %w", err)
		}
	}
	config, err := s.tlsConfig(ctx)
	if err != nil {
		return err
	}
	inner, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("listening for webhooks: %w", err)
	}
	ctrl.LoggerFrom(ctx).Info("Serving webhooks", "address", s.address)
	limited := bounded.Listen(inner, maxConnections, maxConnectionsOfOne)
	return s.serve(ctx, tls.NewListener(limited, config), limited.State)
}

func (s *webhookServer) tlsConfig(ctx context.Context) (*tls.Config, error) {
	watcher, err := certwatcher.New(filepath.Join(s.certDir, cert.CertFile), filepath.Join(s.certDir, cert.KeyFile))
	if err != nil {
		return nil, fmt.Errorf("reading the serving certificate of the webhooks: %w", err)
	}
	go func() {
		if err := watcher.Start(ctx); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Cannot watch the serving certificate of the webhooks")
		}
	}()
	config := &tls.Config{GetCertificate: watcher.GetCertificate}
	for _, set := range s.tlsOptions {
		set(config)
	}
	return config, nil
}

func (s *webhookServer) serve(ctx context.Context, listener net.Listener, state func(net.Conn, http.ConnState)) error {
	server := &http.Server{
		Handler: s.WebhookMux(), BaseContext: func(net.Listener) context.Context { return ctx }, ConnState: state, MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: webhookHeaderTimeout, ReadTimeout: webhookReadTimeout, WriteTimeout: webhookWriteTimeout, IdleTimeout: webhookIdleTimeout,
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		s.serving.Store(false)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookStopTimeout)
		defer cancel()
		stopped <- server.Shutdown(last)
	}()
	s.serving.Store(true)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving webhooks: %w", err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("stopping the server of the webhooks: %w", err)
	}
	return nil
}

// StartedChecker reports whether the server serves. It opens no connection: readiness must not depend on how many
// strangers have one.
func (s *webhookServer) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !s.serving.Load() {
			return errors.New("the webhook server does not serve")
		}
		return nil
	}
}
