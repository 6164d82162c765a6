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
