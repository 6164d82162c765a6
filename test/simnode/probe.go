/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// probeCounter turns single answers into a verdict: only a run of equal answers as long as the threshold changes it.
type probeCounter struct {
	successes, failures int32
	last                bool
	run                 int32
}

func newProbeCounter(p *corev1.Probe) *probeCounter {
	return &probeCounter{successes: max(p.SuccessThreshold, 1), failures: cmp.Or(p.FailureThreshold, 3)}
}

// observe returns the verdict, or false while the answers do not suffice for one.
func (c *probeCounter) observe(ok bool) (probeResult, bool) {
	if ok != c.last {
		c.last, c.run = ok, 0
	}
	c.run++
	switch {
	case ok && c.run >= c.successes:
		return probeOK, true
	case !ok && c.run >= c.failures:
		return probeFailed, true
	}
	return probePending, false
}

// probeTick returns when the next probe is due. Ticks keep their phase from the start of the Pod, whatever the
// containers do. Ticks missed while a probe was pending collapse into one that is due at once, so that a long poll which
// times out is followed by the next within milliseconds.
func probeTick(epoch, last, now time.Time, period time.Duration) time.Time {
	following := nextTick(epoch, last, period)
	if following.After(now) {
		return following
	}
	return now
}

// nextTick returns the first tick after t.
func nextTick(epoch, t time.Time, period time.Duration) time.Time {
	if period <= 0 || t.Before(epoch) {
		return t
	}
	return epoch.Add((t.Sub(epoch)/period + 1) * period)
}

// probeTarget builds the URL of a probe.
func probeTarget(c *corev1.Container, get *corev1.HTTPGetAction, podIP string) (*url.URL, error) {
	port, err := probePort(c, get)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(get.Path)
	if err != nil {
		u = &url.URL{Path: get.Path}
	}
	u.Scheme = strings.ToLower(string(cmp.Or(get.Scheme, corev1.URISchemeHTTP)))
	u.Host = net.JoinHostPort(cmp.Or(get.Host, podIP), strconv.Itoa(port))
	if !strings.HasPrefix(u.Path, "/") {
		u.Path = "/" + u.Path
	}
	return u, nil
}

func probePort(c *corev1.Container, get *corev1.HTTPGetAction) (int, error) {
	if get.Port.Type == intstr.Int {
		return get.Port.IntValue(), nil
	}
	for _, p := range c.Ports {
		if p.Name == get.Port.StrVal {
			return int(p.ContainerPort), nil
		}
	}
	if n, err := strconv.Atoi(get.Port.StrVal); err == nil {
		return n, nil
	}
	return 0, fmt.Errorf("httpGet port %q is neither a number nor a named port of the container", get.Port.StrVal)
}

// prober runs the startup probe against one run of a container until it is decided, or ctx ends.
type prober struct {
	probe  *corev1.Probe
	target *url.URL
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	second time.Duration // how long a second in the Pod's spec lasts
	epoch  time.Time     // start of the Pod, where the ticks count from
	begun  time.Time     // start of the container, where the initial delay counts from
}

func (p *prober) run(ctx context.Context) probeResult {
	client := &http.Client{
		Timeout: time.Duration(cmp.Or(p.probe.TimeoutSeconds, 1)) * p.second,
		Transport: &http.Transport{ // no proxy and no kept connections: every probe finds the process of the day
			DisableKeepAlives: true,
			DialContext:       p.dial,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // probes never verify
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	period := time.Duration(cmp.Or(p.probe.PeriodSeconds, 10)) * p.second
	counter := newProbeCounter(p.probe)
	due := nextTick(p.epoch, p.begun.Add(time.Duration(p.probe.InitialDelaySeconds)*p.second), period)
	for pause(ctx, time.Until(due)) {
		last := time.Now()
		ok := p.ask(ctx, client)
		if ctx.Err() != nil {
			break
		}
		if verdict, decided := counter.observe(ok); decided {
			return verdict
		}
		due = probeTick(p.epoch, last, time.Now(), period)
	}
	return probePending
}

func (p *prober) ask(ctx context.Context, client *http.Client) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.target.String(), nil)
	if err != nil {
		return false
	}
	req.Header.Set("User-Agent", "kube-probe/simnode")
	for _, h := range p.probe.HTTPGet.HTTPHeaders {
		if strings.EqualFold(h.Name, "Host") {
			req.Host = h.Value
			continue
		}
		req.Header.Add(h.Name, h.Value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 10<<10)
	return resp.StatusCode >= 200 && resp.StatusCode < 400
}

// pause waits and reports whether it may go on.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
