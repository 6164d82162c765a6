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
	"time"
)

// smallest is the series of the same kind with the fewest workers.
func smallest(all []series, s series) series {
	for _, other := range all {
		kind := other.scenario
		kind.workers = s.workers
		if kind == s.scenario && other.workers < s.workers {
			s = other
		}
	}
	return s
}

// printGrowth compares what a Pod costs with what it costs in the smallest group of the same kind.
func printGrowth(out io.Writer, all []series) {
	head := false
	for _, s := range all {
		small := smallest(all, s)
		if small.workers == s.workers {
			continue
		}
		if !head {
			fmt.Fprintf(out, "\nPer Pod, times the smaller group of the same kind:\n\n")
			row(out, "workers", "compared with", "strategy", "delays", "flow control", "time", "kube-apiserver CPU", "manager CPU", "nodes and agents CPU", "KiB to agents", "requests")
			rule(out, 11)
			head = true
		}
		times := func(of func(result) float64) string { return two(s.median(perPod(of)) / small.median(perPod(of))) }
		row(out, s.workers, small.workers, s.what(), s.delays, onOff(s.flowControl), times(total), times(cpuOf(apiServer)),
			times(func(r result) float64 { return r.used.manager.cpu }), times(cpuOf(nodesAndAgents)),
			times(func(r result) float64 { return r.used.jobSetBytes }), times(allRequests))
	}
}

// cores are the numbers of cores of an API server for which a time is calculated.
var cores = []float64{8, 16, 64}

// printCores calculates the least time that a restart takes if the API server has so many cores to itself.
func printCores(out io.Writer, all []series) {
	fmt.Fprintf(out, "\n## Arithmetic, not measured: an API server with cores of its own\n\n")
	fmt.Fprintf(out, "Seconds of a restart, at least: kube-apiserver's CPU divided by its cores, and what was measured before the first report\n")
	fmt.Fprintf(out, "and after the lift.\n\n")
	head := []any{"workers", "strategy", "delays", "flow control", "measured here"}
	for _, n := range cores {
		head = append(head, whole(n)+" cores")
	}
	row(out, head...)
	rule(out, len(head))
	for _, s := range all {
		if !s.inPlace() {
			continue
		}
		cells := []any{s.workers, s.what(), s.delays, onOff(s.flowControl), seconds(s.median(total))}
		for _, n := range cores {
			cells = append(cells, seconds(s.median(func(r result) float64 { return atLeast(r, n) })))
		}
		row(out, cells...)
	}
}

// atLeast is the time of a restart that waits for nothing but the API server's CPU, on so many cores.
func atLeast(r result, cores float64) float64 {
	return (r.firstReport + r.lastWorker - r.lift).Seconds() + r.used.cpu[apiServer]/cores
}

// printSteps writes what happened to many JobSets, and how one of many Jobs began.
func (b *bench) printSteps(out io.Writer) {
	if len(b.steps) == 0 {
		return
	}
	const milli = 1000
	processes := []string{apiServer, "etcd", "manager", "kube-controller", "kube-scheduler", nodesAndAgents}
	fmt.Fprintf(out, "\n## Starts, many JobSets, many Jobs\n\nCPU and requests are of all processes until %s after the end, idle time included.\n\n", settling)
	row(out, "what", "seconds", "kube-apiserver CPU s", "manager CPU s", "requests", "refused with 429", "kube-apiserver MiB", "manager MiB", "nodes and agents MiB")
	rule(out, 9)
	for _, s := range b.steps {
		refused := 0
		for n := range maps.Values(s.requests.refused) {
			refused += n
		}
		row(out, s.what, seconds(s.took.Seconds()), one(s.used.cpu[apiServer]), one(s.used.cpu["manager"]), s.requests.total(), refused,
			whole(s.resided[apiServer]/mebi), whole(s.resided["manager"]/mebi), whole(s.resided[nodesAndAgents]/mebi))
	}
	fmt.Fprintf(out, "\nPer Pod, CPU in milliseconds:\n\n")
	head := []any{"what", "Pods"}
	for _, name := range processes {
		head = append(head, name)
	}
	row(out, append(head, "requests", "KiB of JobSets to agents")...)
	rule(out, len(head)+2)
	for _, s := range b.steps {
		pods := float64(s.pods)
		cells := []any{s.what, s.pods}
		for _, name := range processes {
			cells = append(cells, two(milli*s.used.cpu[name]/pods))
		}
		row(out, append(cells, two(float64(s.requests.total())/pods), two(s.used.jobSetBytes/1024/pods))...)
	}
	for _, s := range b.steps {
		printMost(out, s)
	}
}

// mostRequests is how many kinds of requests of a step are listed.
const mostRequests = 10

// printMost writes the most frequent requests of a step.
func printMost(out io.Writer, s step) {
	kinds := slices.Collect(maps.Keys(s.requests.by))
	slices.SortFunc(kinds, func(a, b ask) int { return len(s.requests.by[b]) - len(s.requests.by[a]) })
	fmt.Fprintf(out, "\nMost requests of %s (%s):\n\n", s.what, s.took.Round(time.Second))
	row(out, "client", "request", "number")
	rule(out, 3)
	for _, a := range kinds[:min(mostRequests, len(kinds))] {
		row(out, a.client, a.kind, len(s.requests.by[a]))
	}
}
