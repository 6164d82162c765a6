/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// scrape returns the lines that a scraper reads of the gauges about JobSets.
func scrape(t *testing.T, from prometheus.Gatherer) string {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(from, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", answer.Code, answer.Body)
	}
	var lines []string
	for line := range strings.Lines(answer.Body.String()) {
		if strings.Contains(line, "jobset_in_place_assembling") || strings.Contains(line, "jobset_restart_budget") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

const helpOfGauges = `# HELP jobset_in_place_assembling The number of groups that are assembling: they start, or restart in place, and wait for workers. Take the max() of all managers
# TYPE jobset_in_place_assembling gauge
jobset_in_place_assembling 2
# HELP jobset_in_place_assembling_seconds How long the group that has been assembling for the longest time has done so, 0 if none is. JobSets that are suspended, finished or being deleted, and those for which in-place restart is disabled, do not count. Take the max() of all managers
# TYPE jobset_in_place_assembling_seconds gauge
jobset_in_place_assembling_seconds 301
# HELP jobset_restart_budget_nearly_spent The number of JobSets, neither finished nor being deleted, with maxRestarts of at least 1 that have used at least 80 % of it: restarts that count towards it and in-place restarts. Take the max() of all managers
# TYPE jobset_restart_budget_nearly_spent gauge
jobset_restart_budget_nearly_spent 1
`

func TestScrape(t *testing.T) {
	t.Parallel()
	returns := func(known bool, jobSets ...*jobset.JobSet) JobSets {
		return func() ([]*jobset.JobSet, bool) { return jobSets, known }
	}
	tests := map[string]struct {
		source JobSets
		want   string
	}{
		"C227: the gauges stand there with their help, and without labels": {
			source: returns(true, assembles(301*time.Second), assembles(time.Second), used(jobset.Recreate, 5, 4, 0)),
			want:   helpOfGauges,
		},
		"C227: without JobSets they are 0": {
			source: returns(true),
			want:   strings.NewReplacer("assembling 2", "assembling 0", "seconds 301", "seconds 0", "spent 1", "spent 0").Replace(helpOfGauges),
		},
		"C227: before the cache is complete nothing is said, rather than 0": {source: returns(false, assembles(time.Hour))},
		"C227: a process without a manager says nothing":                    {source: nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &collector{now: func() time.Time { return now }}
			if tc.source != nil {
				c.source.Store(&source{jobSets: tc.source})
			}
			registry := prometheus.NewPedanticRegistry()
			registry.MustRegister(c)
			if diff := cmp.Diff(tc.want, scrape(t, registry)); diff != "" {
				t.Errorf("what a scraper reads (-want +got):\n%s", diff)
			}
		})
	}
}

// informer is one of which only the store is asked.
type informer struct {
	cache.Informer
	store           toolscache.Indexer
	synced, stopped bool
}

func (i *informer) HasSynced() bool                { return i.synced }
func (i *informer) IsStopped() bool                { return i.stopped }
func (i *informer) GetIndexer() toolscache.Indexer { return i.store }

// informers hands out one informer, after so many errors.
type informers struct {
	cache.Cache
	informer cache.Informer
	errors   int
	blocking bool
}

func (i *informers) GetInformer(_ context.Context, _ client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	var options cache.InformerGetOptions
	for _, opt := range opts {
		opt(&options)
	}
	i.blocking = options.BlockUntilSynced == nil || *options.BlockUntilSynced
	if i.errors > 0 {
		i.errors--
		return nil, errors.New("no matches for kind JobSet")
	}
	return i.informer, nil
}

func watching(js ...*jobset.JobSet) *informer {
	watched := &informer{store: toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, nil)}
	for _, one := range js {
		_ = watched.store.Add(one) // fails for objects without a name only
	}
	return watched
}

// It changes what the process reports, so it runs alone.
func TestWatchJobSets(t *testing.T) {
	t.Cleanup(func() { jobSetCollector.source.Store(nil) })
	start := func(c *informers) {
		t.Helper()
		if err := (&jobSetWatch{cache: c, retry: time.Millisecond}).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := watching(used(jobset.Recreate, 5, 4, 0))
	c := &informers{informer: first, errors: 2}
	start(c)
	if c.errors > 0 {
		t.Error("the watch has not begun, and nobody tries again")
	}
	if c.blocking {
		t.Error("the watch waits for the cache, and so holds up whoever starts it")
	}
	if got := scrape(t, metrics.Registry); got != "" {
		t.Errorf("before the cache is complete a scraper reads:\n%s", got)
	}
	const want = "jobset_restart_budget_nearly_spent 1\n"
	first.synced = true
	if got := scrape(t, metrics.Registry); !strings.Contains(got, want) {
		t.Errorf("the registry of the manager lacks %q:\n%s", want, got)
	}
	first.stopped = true
	if got := scrape(t, metrics.Registry); got != "" {
		t.Errorf("after the manager has stopped a scraper reads:\n%s", got)
	}
	// A second manager in the process is no panic; the last counts.
	second := watching()
	second.synced, first.stopped = true, false
	start(&informers{informer: second})
	if got := scrape(t, metrics.Registry); got == "" || strings.Contains(got, want) {
		t.Errorf("a scraper does not read what the second manager knows:\n%s", got)
	}
}

func TestWatchJobSetsEndsWithItsManager(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (&jobSetWatch{cache: &informers{errors: 1 << 20}, retry: time.Millisecond}).Start(ctx); err != nil {
		t.Errorf("being stopped is no failure, got: %v", err)
	}
	if (&jobSetWatch{}).NeedLeaderElection() {
		t.Error("managers that do not lead report nothing")
	}
}

func TestObserveSaysWhatFailed(t *testing.T) {
	t.Parallel()
	err := (&jobSetWatch{cache: &informers{errors: 1}}).observe(t.Context())
	if err == nil || !strings.Contains(err.Error(), "getting the informer of JobSets: no matches") {
		t.Errorf("error is %v, want one that says what was being done, and why it failed", err)
	}
	err = (&jobSetWatch{cache: &informers{informer: struct{ cache.Informer }{}}}).observe(t.Context())
	if err == nil || !strings.Contains(err.Error(), "which has no indexer") {
		t.Errorf("error is %v, want one about the indexer", err)
	}
}
