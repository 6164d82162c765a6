/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"sigs.k8s.io/jobset/test/process"
)

// Scraper reads the metrics of a manager.
type Scraper struct {
	Address, Token string
	// TLS is how the manager is verified. nil: it is not, because it signs its certificate itself.
	TLS *tls.Config
}

// Ask returns the answer, whatever it is: its status and what it says.
func (s Scraper) Ask(ctx context.Context) (status int, text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.Address+"/metrics", nil)
	if err != nil {
		return 0, "", fmt.Errorf("asking for metrics: %w", err)
	}
	if s.Token != "" {
		request.Header.Set("Authorization", "Bearer "+s.Token)
	}
	settings := s.TLS
	if settings == nil {
		settings = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see TLS
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", fmt.Errorf("reading metrics: %w", err)
	}
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), errors.Join(err, response.Body.Close())
}

// Scrape returns the metrics.
func (s Scraper) Scrape(ctx context.Context) (string, error) {
	status, text, err := s.Ask(ctx)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("reading metrics: status %d: %s", status, text)
	}
	return text, err
}

// StartMeteredManager starts a manager that serves metrics, and waits until they can be read, with its own
// token: it is ready before it has made the certificate for them.
func (c *Cluster) StartMeteredManager(ctx context.Context, o ManagerOptions) (*process.Process, Scraper, error) {
	var s Scraper
	var err error
	if s.Address, err = process.FreeAddress(); err != nil {
		return nil, s, err
	}
	if s.Token, err = Token(ctx, c.Client, ManagerAccount); err != nil {
		return nil, s, err
	}
	o.Args = append(o.Args, "--metrics-bind-address="+s.Address)
	p, err := c.StartManager(ctx, o)
	if err != nil {
		return nil, s, err
	}
	err = wait.PollUntilContextTimeout(ctx, time.Second/10, startTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := s.Scrape(ctx)
		return err == nil, nil //nolint:nilerr // it is asked again
	})
	if err != nil {
		return nil, s, fmt.Errorf("waiting for the metrics of the manager: %w", err)
	}
	return p, s, nil
}
