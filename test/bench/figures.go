/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// series is one scenario with all its restarts.
type series struct {
	scenario
	results []result
}

// seriesOf groups restarts by scenario, in the order of their first appearance.
func seriesOf(results []result) []series {
	var all []series
	for _, r := range results {
		i := slices.IndexFunc(all, func(s series) bool { return s.scenario == r.scenario })
		if i < 0 {
			i = len(all)
			all = append(all, series{scenario: r.scenario})
		}
		all[i].results = append(all[i].results, r)
	}
	return all
}

// spread is the median of some figures, the least and the greatest.
type spread struct{ median, least, most float64 }

// spreadOf takes the mean of the two in the middle, where there are two.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{median: (sorted[(n-1)/2] + sorted[n/2]) / 2, least: sorted[0], most: sorted[n-1]}
}

func (s series) spread(of func(result) float64) spread { return spreadOf(figuresOf(s.results, of)) }

func (s series) median(of func(result) float64) float64 { return s.spread(of).median }

// quantile is the least of the figures that so many percent are not above, "-" if there are too few for any to be above it.
func (s series) quantile(of func(result) float64, percent int) string {
	if len(s.results)*(100-percent) < 100 {
		return "-"
	}
	values := figuresOf(s.results, of)
	slices.Sort(values)
	return seconds(values[(len(values)*percent+99)/100-1])
}

// percentiles is the spread as a text; percentiles that no figure could be above are left out.
func (s series) percentiles(of func(result) float64) string {
	all := s.spread(of)
	text := seconds(all.least) + " to " + seconds(all.most)
	for _, percent := range []int{90, 99} {
		if at := s.quantile(of, percent); at != "-" {
			text += fmt.Sprintf(", p%d %s", percent, at)
		}
	}
	return fmt.Sprintf("%s, n=%d", text, len(s.results))
}

func (s series) most(of func(result) float64) float64 { return s.spread(of).most }

// Figures of one restart.
func total(r result) float64          { return r.lastWorker.Seconds() }
func wakesPerSecond(r result) float64 { return r.used.manager.wakes / r.window.Seconds() }
func allRequests(r result) float64    { return float64(r.requests.total()) }

// breaking and lifting are what the workers wait for the manager and the API server, as they see it.
func breaking(r result) float64 { return (r.decided - r.firstReport).Seconds() }
func lifting(r result) float64  { return (r.lift - r.lastReport).Seconds() }

// ownShare is what of that is the manager's own.
func ownShare(r result) float64 {
	breaks, lifts, _ := r.requests.managersShare()
	return (breaks + lifts).Seconds()
}

func cpuOf(process string) func(result) float64 {
	return func(r result) float64 { return r.used.cpu[process] }
}

func requestsOf(client, kind string) func(result) float64 {
	return func(r result) float64 { return float64(r.requests.of(client, kind)) }
}

func refusedOf(client string) func(result) float64 {
	return func(r result) float64 { return float64(r.requests.refused[client]) }
}

func refusedToOthers(r result) float64 {
	others := 0
	for client, n := range r.requests.refused {
		if client != agentClient {
			others += n
		}
	}
	return float64(others)
}

// statusWrites counts the writes of the JobSet's status.
func statusWrites(r result) float64 { return requestsOf(managerClient, statusWrite)(r) }

// tooManyWrites counts status writes beyond the budget: while the group assembles, one that is
// not an epoch may be written a second. Requests are received before they are seen, so the lift
// is between the sighting of the break and its own, and the break is not.
func tooManyWrites(r result) float64 {
	others := r.requests.between(managerClient, statusWrite, r.failed.Add(r.decided), r.failed.Add(r.lift)) - 1
	return max(0, float64(others)-1-math.Floor((r.lift-r.decided).Seconds()))
}

const (
	// The manager's client is named after the field manager; its leader election is "manager".
	managerClient = "jobset"
	statusWrite   = "update jobsets/status"
	agentClient   = "jobset-agent"
	report        = "patch pods"
)

// base is what a series is compared with: InPlaceRestart in a mode, of as many workers, on nodes with the same
// delays, on the same control plane, without flow control of ours.
func base(all []series, s series, mode jobset.InPlaceRestartMode) (series, bool) {
	for _, other := range all {
		if other.mode == mode && other.workers == s.workers && other.delays == s.delays && !other.flowControl {
			return other, true
		}
	}
	return series{}, false
}

// budget is a limit, and what was measured.
type budget struct {
	what            string
	limit, measured float64
}

func (b budget) kept() bool { return b.measured <= b.limit }

const (
	ownShareLimit = 1.0 // seconds
	perAgentLimit = 1.0
)

// budgetsOf judges each series of restarts in place; a limit holds in all restarts of it.
func budgetsOf(all []series) []budget {
	var budgets []budget
	for _, s := range all {
		if !s.inPlace() {
			continue
		}
		name := func(what string) string {
			return fmt.Sprintf("%s, %s, %d workers, delays %s, flow control %s", what, s.what(), s.workers, s.delays, onOff(s.flowControl))
		}
		perAgent := func(kind string) float64 { return s.most(requestsOf(agentClient, kind)) / float64(s.workers) }
		if s.delays == noDelays {
			budgets = append(budgets, budget{name("seconds of the manager's own"), ownShareLimit, s.most(ownShare)})
		}
		budgets = append(budgets, budget{name("status writes beyond two epochs and one a second"), 0, s.most(tooManyWrites)})
		if s.flowControl {
			budgets = append(budgets, budget{name("requests of agents refused with 429"), 0, s.most(refusedOf(agentClient))})
		}
		switch {
		case s.mode == jobset.ProcessMode:
			budgets = append(budgets, budget{name("patches per agent"), perAgentLimit, s.most(perPod(reportsNotDue))},
				budget{name("new watches per agent"), 0, s.most(newWatches)},
				budget{name("writes of Pod status"), 0, s.most(podStatusWrites)})
		case s.flowControl:
			budgets = append(budgets, budget{name("watches per agent"), perAgentLimit, perAgent("watch jobsets")},
				budget{name("patches per agent"), perAgentLimit, perAgent(report)})
		}
	}
	return budgets
}

// asks are all kinds of requests of some series, by client and kind.
func asks(all []series) []ask {
	found := map[ask]bool{}
	for _, s := range all {
		for _, r := range s.results {
			for a := range r.requests.by {
				found[a] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b ask) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.kind, b.kind))
	})
}

func figuresOf[T any](values []T, of func(T) float64) []float64 {
	figures := make([]float64, 0, len(values))
	for _, v := range values {
		figures = append(figures, of(v))
	}
	return figures
}

func medianOf[T any](values []T, of func(T) float64) float64 {
	return spreadOf(figuresOf(values, of)).median
}
