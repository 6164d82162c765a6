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
	"regexp"
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
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
)

// scrape returns the lines of the gauges about JobSets.
func scrape(t *testing.T, from prometheus.Gatherer) string {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(from, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", answer.Code, answer.Body)
	}
	var lines []string
	for line := range strings.Lines(answer.Body.String()) {
		if strings.Contains(line, "jobset_in_place_assembling") || strings.Contains(line, "jobset_in_place_workers") || strings.Contains(line, "jobset_in_place_pod") || strings.Contains(line, "jobset_restart_budget") ||
			strings.Contains(line, "jobset_in_place_unguarded") || strings.Contains(line, "jobset_unhealthy_seconds") ||
			strings.Contains(line, "jobset_not_released") || strings.Contains(line, "jobset_on_sick_nodes") || strings.Contains(line, "jobset_avoided_nodes") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

const helpOfGauges = `# HELP jobset_avoided_nodes The number of nodes that JobSets with faultTolerance.avoidNodes avoid, because restarts kept beginning there; one that several avoid counts once. Take the max() of all managers
# TYPE jobset_avoided_nodes gauge
jobset_avoided_nodes 1
# HELP jobset_in_place_assembling The number of groups that are assembling: they start, or restart in place, and wait for workers. Take the max() of all managers
# TYPE jobset_in_place_assembling gauge
jobset_in_place_assembling 2
# HELP jobset_in_place_assembling_seconds The longest time that a group has been assembling, 0 if none is. JobSets that are suspended, finished or being deleted, and those for which in-place restart is disabled, do not count. Take the max() of all managers
# TYPE jobset_in_place_assembling_seconds gauge
jobset_in_place_assembling_seconds 301
# HELP jobset_in_place_pod_stuck_seconds The longest time since the end of its termination grace period that a worker Pod still exists, 0 if there is none. Its group waits for it, or for its replacement. Take the max() of all managers
# TYPE jobset_in_place_pod_stuck_seconds gauge
jobset_in_place_pod_stuck_seconds 60
# HELP jobset_in_place_unguarded The number of JobSets with restartStrategy InPlaceRestart, neither finished nor being deleted, if the ValidatingAdmissionPolicy jobset-agent or its binding is missing or does not deny: programs in their Pods may patch every Pod of the namespace. 0 if the policy is in force. Take the max() of all managers
# TYPE jobset_in_place_unguarded gauge
jobset_in_place_unguarded 0
# HELP jobset_in_place_workers_not_ready The number of workers of running groups that do not run: a container waits and shows why, as for an image; or the node has stopped reporting; or the worker has been starting, or has not been ready, for five minutes. Take the max() of all managers
# TYPE jobset_in_place_workers_not_ready gauge
jobset_in_place_workers_not_ready 3
# HELP jobset_in_place_workers_not_ready_seconds The longest time that a worker counted in jobset_in_place_workers_not_ready has not been ready, counted at the earliest from the lift of its group, 0 if there is none. Take the max() of all managers
# TYPE jobset_in_place_workers_not_ready_seconds gauge
jobset_in_place_workers_not_ready_seconds 420
# HELP jobset_not_released_seconds The longest time since Jobs or Pods of a JobSet with spec.faultTolerance should have been gone that still exist, 0 if there are none: a reset waits for them, or the JobSet has ended or is suspended and keeps its quota. Take the max() of all managers
# TYPE jobset_not_released_seconds gauge
jobset_not_released_seconds 120
# HELP jobset_on_sick_nodes The number of JobSets with Pods on nodes with a label of effect NoExecute that are not moved because maxRestarts is used up. Take the max() of all managers
# TYPE jobset_on_sick_nodes gauge
jobset_on_sick_nodes 1
# HELP jobset_restart_budget_nearly_spent The number of JobSets, neither finished nor being deleted, with maxRestarts, or retryLimit of faultTolerance, of at least 1 that have used at least 80 % of it: restarts that count towards it and in-place restarts. Take the max() of all managers
# TYPE jobset_restart_budget_nearly_spent gauge
jobset_restart_budget_nearly_spent 1
# HELP jobset_unhealthy_seconds The longest time that a JobSet with spec.faultTolerance has been unhealthy, or in resets that did not make it run, 0 if none is. Take the max() of all managers
# TYPE jobset_unhealthy_seconds gauge
jobset_unhealthy_seconds 30
`

func TestScrape(t *testing.T) {
	t.Parallel()
	returns := func(known bool, pods []*facts.Member, jobSets ...*jobset.JobSet) Objects {
		return func() ([]*jobset.JobSet, []*facts.Member, bool) { return jobSets, pods, known }
	}
	pods := []*facts.Member{
		worker(1, unready(7*time.Minute)), worker(1, unready(4*time.Minute, "ErrImagePull")), worker(1, unready(time.Second, "ErrImagePull")),
		worker(1, unready(4*time.Minute)), worker(1, terminating(time.Minute)),
	}
	sick := tolerates(since(jobset.JobSetUnhealthy, 30*time.Second, "r"), since(jobset.JobSetOnSickNodes, time.Hour, "r"), resets(2*time.Minute, nil), avoids("n1", time.Hour))
	tests := map[string]struct {
		source Objects
		policy PolicyGap
		want   string
	}{
		"C227: the gauges stand there with their help, and without labels": {
			source: returns(true, pods, runs(), assembles(301*time.Second), assembles(time.Second), used(jobset.Recreate, 5, 4, 0), sick),
			want:   helpOfGauges,
		},
		"C227: without JobSets they are 0": {
			source: returns(true, nil),
			want: strings.NewReplacer("assembling 2", "assembling 0", "seconds 301", "seconds 0", "spent 1", "spent 0",
				"stuck_seconds 60", "stuck_seconds 0", "ready 3", "ready 0", "ready_seconds 420", "ready_seconds 0",
				"released_seconds 120", "released_seconds 0", "nodes 1", "nodes 0", "unhealthy_seconds 30", "unhealthy_seconds 0").Replace(helpOfGauges),
		},
		"P56: JobSets in place count as unguarded while the policy of agents is not in force": {
			source: returns(true, pods, runs(), assembles(301*time.Second), assembles(time.Second), used(jobset.Recreate, 5, 4, 0), sick),
			policy: func() (string, bool) { return "it is missing", true },
			want:   strings.Replace(helpOfGauges, "unguarded 0", "unguarded 3", 1),
		},
		"P56: nobody is called guarded while that is not known": {
			source: returns(true, pods, runs(), assembles(301*time.Second), assembles(time.Second), used(jobset.Recreate, 5, 4, 0), sick),
			policy: func() (string, bool) { return "", false },
			want:   regexp.MustCompile(`(?m)^.*jobset_in_place_unguarded.*\n`).ReplaceAllString(helpOfGauges, ""),
		},
		"C227: before the cache is complete nothing is said, rather than 0": {source: returns(false, nil, assembles(time.Hour))},
		"C227: a process without a manager says nothing":                    {source: nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &collector{now: func() time.Time { return now }}
			if tc.policy != nil {
				c.policy.Store(&tc.policy)
			}
			if tc.source != nil {
				c.source.Store(&source{objects: tc.source, gates: gates.Set{InPlaceRestart: true, FaultTolerance: true}})
			}
			registry := prometheus.NewPedanticRegistry()
			registry.MustRegister(c)
			if diff := cmp.Diff(tc.want, scrape(t, registry)); diff != "" {
				t.Errorf("what a scraper reads (-want +got):\n%s", diff)
			}
		})
	}
}

// informer is an informer of which only the store is used.
type informer struct {
	cache.Informer
	store           toolscache.Indexer
	synced, stopped bool
}

func (i *informer) HasSynced() bool                { return i.synced }
func (i *informer) IsStopped() bool                { return i.stopped }
func (i *informer) GetIndexer() toolscache.Indexer { return i.store }

// informers returns one informer, after a number of errors.
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
		t.Error("the watch has not started and is not retried")
	}
	if c.blocking {
		t.Error("the watch waits for the cache, and blocks the manager")
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
	// A second manager in the process does not panic, and the last one wins.
	second := watching()
	second.synced, first.stopped = true, false
	start(&informers{informer: second})
	if got := scrape(t, metrics.Registry); got == "" || strings.Contains(got, want) {
		t.Errorf("the gauges are not those of the second manager:\n%s", got)
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
