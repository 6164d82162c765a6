/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package bounded

import (
	"crypto/sha256"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Separate returns a copy of a client configuration with connections and a limit of its own, so that its requests
// neither wait for others nor keep them waiting. A limit below 0 is none.
func Separate(config *rest.Config, qps float32, burst int) *rest.Config {
	own := rest.CopyConfig(config)
	own.QPS, own.Burst, own.RateLimiter = qps, burst, nil
	if qps > 0 {
		own.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(qps, burst)
	}
	own.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext // client-go shares connections that are dialed alike
	return own
}

// Limits of the metrics server: a scraper needs two reviews a minute.
const (
	reviewsPerSecond = 10
	reviewsBurst     = 20
	strangersAtOnce  = 4
	scrapers         = 64
	trustedFor       = time.Hour
)

// MetricsFilter lets clients read metrics that the API server authenticates and authorizes, as the filter of
// controller-runtime does, with a client of its own. Who was let in within the last hour has precedence.
func MetricsFilter(config *rest.Config, _ *http.Client) (metricsserver.Filter, error) {
	own := Separate(config, reviewsPerSecond, reviewsBurst)
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, err
	}
	filter, err := filters.WithAuthenticationAndAuthorization(own, client)
	if err != nil {
		return nil, err
	}
	return limitStrangers(filter), nil
}

// limitStrangers asks the API server about few clients at once. The others get status 429.
func limitStrangers(filter metricsserver.Filter) metricsserver.Filter {
	known := cache.NewLRUExpireCache(scrapers)
	slots := make(chan struct{}, strangersAtOnce)
	return func(log logr.Logger, handler http.Handler) (http.Handler, error) {
		asks, err := filter(log, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			known.Add(credentials(r), struct{}{}, trustedFor)
			handler.ServeHTTP(w, r)
		}))
		if err != nil {
			return nil, err
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, found := known.Get(credentials(r)); !found {
				select {
				case slots <- struct{}{}:
					defer func() { <-slots }()
				default:
					busy(w)
					return
				}
			}
			asks.ServeHTTP(w, r)
		}), nil
	}
}

// credentials returns what the client shows, without keeping it in memory.
func credentials(r *http.Request) [sha256.Size]byte {
	return sha256.Sum256([]byte(r.Header.Get("Authorization")))
}
