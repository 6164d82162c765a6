/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

const (
	// growsAtMost is how much more a Job may cost in the largest JobSet than in the base.
	growsAtMost = 1.20
	// smallestBase: in smaller JobSets fixed costs, as the first requests of each
	// kind, are too much of the cost of a Job to be a base for comparisons.
	smallestBase = 500
)

// processUse is what a process used: since it started, or within a window.
type processUse struct {
	At             time.Time
	CPU            time.Duration
	Bytes, Objects float64
	Passes         int
	// Requests to the API server, by HTTP method.
	Requests map[string]int
}

// since returns what was used after an earlier sample.
func (u processUse) since(earlier processUse) processUse {
	u.CPU -= earlier.CPU
	u.Bytes -= earlier.Bytes
	u.Objects -= earlier.Objects
	u.Passes -= earlier.Passes
	u.Requests = maps.Clone(u.Requests)
	for method, count := range earlier.Requests {
		u.Requests[method] -= count
	}
	return u
}

// startUp is one JobSet brought up, without what the process uses anyway.
type startUp struct {
	jobs   int
	cpu    time.Duration
	bytes  float64
	allocs float64
	passes float64
	// requests by HTTP method.
	requests map[string]float64
	// took is wall time: it depends on the rate of the hand and on what else the machine does.
	took time.Duration
}

// resultOf subtracts from a window what an idle process would have used in that time.
func resultOf(jobs int, took time.Duration, used processUse, idled time.Duration, idle processUse) startUp {
	share := took.Seconds() / idled.Seconds()
	r := startUp{
		jobs:     jobs,
		took:     took,
		cpu:      used.CPU - time.Duration(float64(idle.CPU)*share),
		bytes:    used.Bytes - idle.Bytes*share,
		allocs:   used.Objects - idle.Objects*share,
		passes:   float64(used.Passes),
		requests: map[string]float64{},
	}
	for method, count := range used.Requests {
		r.requests[method] = float64(count)
	}
	return r
}

// mediansOf takes the median of each figure over the repeats, by number of Jobs.
func mediansOf(results []startUp) []startUp {
	byJobs := map[int][]startUp{}
	for _, r := range results {
		byJobs[r.jobs] = append(byJobs[r.jobs], r)
	}
	var medians []startUp
	for _, jobs := range slices.Sorted(maps.Keys(byJobs)) {
		of := func(figure func(startUp) float64) float64 { return medianOf(byJobs[jobs], figure) }
		m := startUp{
			jobs:     jobs,
			cpu:      time.Duration(of(func(r startUp) float64 { return float64(r.cpu) })),
			bytes:    of(func(r startUp) float64 { return r.bytes }),
			allocs:   of(func(r startUp) float64 { return r.allocs }),
			passes:   of(func(r startUp) float64 { return r.passes }),
			took:     time.Duration(of(func(r startUp) float64 { return float64(r.took) })),
			requests: map[string]float64{},
		}
		for _, r := range byJobs[jobs] {
			for method := range r.requests {
				m.requests[method] = of(func(r startUp) float64 { return r.requests[method] })
			}
		}
		medians = append(medians, m)
	}
	return medians
}

// cost is a figure that has to be linear in the number of Jobs.
type cost struct {
	name, unit string
	perJob     func(startUp) float64
}

var costs = []cost{
	{"CPU", "ms", func(r startUp) float64 { return r.cpu.Seconds() * 1000 / float64(r.jobs) }},
	{"bytes allocated", "KiB", func(r startUp) float64 { return r.bytes / 1024 / float64(r.jobs) }},
	{"objects allocated", "", func(r startUp) float64 { return r.allocs / float64(r.jobs) }},
}

// printTable prints what each number of Jobs cost, and how the cost of a Job
// compares with the smallest number and with the base of the verdict.
func printTable(out io.Writer, results []startUp) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nJobs\tCPU s\tpasses\tPOST\tPUT\tPATCH\tGET\tDELETE\twall s\n")
	for _, r := range results {
		fmt.Fprintf(w, "%d\t%.2f\t%.0f\t", r.jobs, r.cpu.Seconds(), r.passes)
		for _, method := range []string{"POST", "PUT", "PATCH", "GET", "DELETE"} {
			fmt.Fprintf(w, "%.0f\t", r.requests[method])
		}
		fmt.Fprintf(w, "%.0f\n", r.took.Seconds())
	}
	base, _ := baseOf(results)
	for _, c := range costs {
		fmt.Fprintf(w, "\nJobs\t%s per Job\tto %d", strings.TrimSpace(c.name+" "+c.unit), results[0].jobs)
		compare := base != nil && base.jobs != results[0].jobs
		if compare {
			fmt.Fprintf(w, "\tto %d", base.jobs)
		}
		fmt.Fprintln(w)
		for _, r := range results {
			fmt.Fprintf(w, "%d\t%.4g\t%.2f", r.jobs, c.perJob(r), c.perJob(r)/c.perJob(results[0]))
			if compare {
				fmt.Fprintf(w, "\t%.2f", c.perJob(r)/c.perJob(*base))
			}
			fmt.Fprintln(w)
		}
	}
	_ = w.Flush() // standard output
}

// baseOf returns the largest JobSet and the one it is compared with, nil if there is none.
func baseOf(results []startUp) (base, largest *startUp) {
	for i := range results {
		if results[i].jobs >= smallestBase && base == nil {
			base = &results[i]
		}
		largest = &results[i]
	}
	if base == largest {
		return nil, largest
	}
	return base, largest
}

// judge fails if a Job costs more in the largest JobSet than it may.
func judge(out io.Writer, results []startUp) error {
	base, largest := baseOf(results)
	if base == nil {
		fmt.Fprintf(out, "\nNo verdict: that takes two numbers of Jobs of at least %d.\n", smallestBase)
		return nil
	}
	var broken []string
	var worst float64
	for _, c := range costs {
		ratio := c.perJob(*largest) / c.perJob(*base)
		worst = max(worst, ratio)
		if ratio > growsAtMost {
			broken = append(broken, fmt.Sprintf("%s per Job at %d Jobs is %.2f times that at %d", c.name, largest.jobs, ratio, base.jobs))
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("the work is not linear in the number of Jobs (limit %.2f): %s", growsAtMost, strings.Join(broken, "; "))
	}
	fmt.Fprintf(out, "\nLinear: a Job of %d costs %.2f times what it costs at %d, or less (limit %.2f).\n", largest.jobs, worst, base.jobs, growsAtMost)
	return nil
}
