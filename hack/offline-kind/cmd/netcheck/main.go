/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command netcheck is both sides of hack/offline-kind/check.sh: a pod that answers, and
// a client that reports what it reaches.
//
//	netcheck serve                     answers on :8080
//	netcheck fail-once FILE CODE       makes FILE and exits with CODE; serves if FILE is there
//	netcheck probe TARGET...           prints PASS or FAIL for each, fails if one failed
//	netcheck wait                      waits for SIGTERM
//	netcheck ok                        does nothing, successfully
//
// A target is a URL, dns:NAME that must resolve, or nodns:NAME that must be
// denied at once. The first two get some seconds to come true.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	address  = ":8080"
	patience = 20 * time.Second
	quick    = 2 * time.Second
	apiCA    = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "netcheck: serve, fail-once, probe, wait or ok")
		os.Exit(2)
	}
	switch command, args := os.Args[1], os.Args[2:]; {
	case command == "ok":
	case command == "wait":
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		<-told
	case command == "serve":
		serve()
	case command == "fail-once" && len(args) == 2:
		failOnce(args[0], args[1])
	case command == "probe":
		os.Exit(probeAll(args))
	default:
		fmt.Fprintln(os.Stderr, "netcheck: wrong arguments:", os.Args[1:])
		os.Exit(2)
	}
}

func serve() {
	server := &http.Server{
		Addr:              address,
		ReadHeaderTimeout: patience,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			name, _ := os.Hostname()
			fmt.Fprintln(w, "ok", name)
		}),
	}
	fmt.Fprintln(os.Stderr, "netcheck:", server.ListenAndServe())
	os.Exit(1)
}

func failOnce(marker, code string) {
	if _, err := os.Stat(marker); err == nil {
		serve()
	}
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "netcheck:", err)
		os.Exit(1)
	}
	n, err := strconv.Atoi(code)
	if err != nil {
		fmt.Fprintln(os.Stderr, "netcheck:", err)
		os.Exit(1)
	}
	os.Exit(n)
}

func probeAll(targets []string) int {
	failed := 0
	for _, target := range targets {
		start := time.Now()
		first, err := probe(target)
		took := time.Since(start).Round(time.Millisecond)
		switch {
		case err != nil:
			failed = 1
			fmt.Fprintf(os.Stdout, "FAIL %s after %s: %v\n", target, took, err)
		case first != nil:
			fmt.Fprintf(os.Stdout, "PASS %s in %s, at first: %v\n", target, took, first)
		default:
			fmt.Fprintf(os.Stdout, "PASS %s in %s\n", target, took)
		}
	}
	return failed
}

// probe tries for a while: on a busy machine it takes seconds until every node
// knows a new service. It gives the error of the first try and of the last.
func probe(target string) (first, last error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if name, ok := strings.CutPrefix(target, "nodns:"); ok {
		return nil, denied(ctx, name)
	}
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		if name, ok := strings.CutPrefix(target, "dns:"); ok {
			_, last = net.DefaultResolver.LookupHost(ctx, name)
		} else {
			last = get(ctx, target)
		}
		if first == nil {
			first = last
		}
		if last == nil {
			return first, nil
		}
		select {
		case <-ctx.Done():
			return first, last
		case <-again.C:
		}
	}
}

// denied wants the answer that there is no such name, and soon: a resolver
// that asks somebody outside would take its time.
func denied(ctx context.Context, name string) error {
	start := time.Now()
	addresses, err := net.DefaultResolver.LookupHost(ctx, name)
	if err == nil {
		return fmt.Errorf("it resolves to %v", addresses)
	}
	var problem *net.DNSError
	if !errors.As(err, &problem) || !problem.IsNotFound {
		return err
	}
	if took := time.Since(start); took > quick {
		return fmt.Errorf("the answer took %s", took)
	}
	return nil
}

func get(ctx context.Context, url string) error {
	pool := x509.NewCertPool()
	if ca, err := os.ReadFile(apiCA); err == nil {
		pool.AppendCertsFromPEM(ca)
	}
	// Without keep-alive every request is a new connection, so that a service
	// with several endpoints shows all of them.
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", response.Status)
	}
	return nil
}
