/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"time"

	"sigs.k8s.io/jobset/agent"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"sigs.k8s.io/jobset/test/supervised"
)

// socketsUpTo is up to how many Pods agents and supervisors meet on real sockets. More have not enough file descriptors
// in one process.
const socketsUpTo = 100

// tapped is the network of this many Pods, on which the fleet hears when supervisors are ready.
func (f *fleet) tapped(pods int) supervised.Network {
	network := supervised.Sockets()
	if pods > socketsUpTo {
		network = supervised.Pipes()
	}
	dial := network.Dial
	network.Dial = func(path string) (net.Conn, error) {
		conn, err := dial(path)
		if err != nil {
			return nil, err
		}
		return tap{conn, f}, nil
	}
	return network
}

// tap is the supervisor's end of a connection.
type tap struct {
	net.Conn
	fleet *fleet
}

var sayReady = []byte(`"type":"ready"`)

// Write implements net.Conn.
func (t tap) Write(line []byte) (int, error) {
	if bytes.Contains(line, sayReady) {
		t.fleet.mu.Lock()
		t.fleet.readies = append(t.fleet.readies, time.Now())
		t.fleet.mu.Unlock()
	}
	return t.Conn.Write(line)
}

// Figures of a restart in process mode.

// watchesAtLeast is how long the watch of an agent lasts at least.
const watchesAtLeast = 5 * time.Minute

// newWatches are those per agent that the restart is the reason for. Agents renew their watches anyway, each
// after 5 to 10 minutes; a few more than the average may do so in any time.
func newWatches(r result) float64 {
	due := 2*float64(r.workers)*r.window.Seconds()/watchesAtLeast.Seconds() + 5
	return max(0, requestsOf(agentClient, "watch jobsets")(r)-due) / float64(r.workers)
}

// repeatsAfter is how long an agent of a group waits for the lift before it repeats its report (P72).
func repeatsAfter(workers int) time.Duration {
	timing := agent.DefaultTiming()
	return min(timing.Repeat+time.Duration(workers)*timing.RepeatPerWorker, timing.RepeatCap)
}

// reportsNotDue are those that the restart is the reason for. In one that takes long, the agents that reported long before
// the lift do so again.
func reportsNotDue(r result) float64 {
	early := r.requests.between(agentClient, report, r.failed, r.failed.Add(r.lift-repeatsAfter(r.workers)))
	return max(0, requestsOf(agentClient, report)(r)-float64(early))
}

// podStatusWrites are those of all clients. Kubelets have nothing to tell when a process restarts.
func podStatusWrites(r result) float64 {
	n := 0
	for a, at := range r.requests.by {
		if a.kind == "patch pods/status" || a.kind == "update pods/status" {
			n += len(at)
		}
	}
	return float64(n)
}

func perPod(of func(result) float64) func(result) float64 {
	return func(r result) float64 { return of(r) / float64(r.workers) }
}

// printRounds writes the phases of process mode, each from the end of the one before.
func printRounds(out io.Writer, all []series) {
	moments := []struct {
		what string
		at   func(result) time.Duration
	}{
		{"exit to supervisor ready", func(r result) time.Duration { return r.firstReady }},
		{"to report", func(r result) time.Duration { return r.firstReport }},
		{"to break", func(r result) time.Duration { return r.decided }},
		{"to all others stopped", func(r result) time.Duration { return r.lastReady }},
		{"to last report", func(r result) time.Duration { return r.lastReport }},
		{"to lift", func(r result) time.Duration { return r.lift }},
		{"to last start", func(r result) time.Duration { return r.lastWorker }},
	}
	fmt.Fprintf(out, "\nProcess mode:\n\n")
	head := []any{"workers", "mode", "flow control"}
	for _, moment := range moments {
		head = append(head, moment.what)
	}
	row(out, head...)
	rule(out, len(head))
	for _, s := range all {
		if s.mode != jobset.ProcessMode {
			continue
		}
		cells := []any{s.workers, s.what(), onOff(s.flowControl)}
		before := func(result) time.Duration { return 0 }
		for _, moment := range moments {
			cells = append(cells, seconds(s.median(func(r result) float64 { return (moment.at(r) - before(r)).Seconds() })))
			before = moment.at
		}
		row(out, cells...)
	}
}

// printCostsPerPod writes what a Pod of a restart costs.
func printCostsPerPod(out io.Writer, all []series) {
	const milli = 1000
	fmt.Fprintf(out, "\nPer Pod, CPU in milliseconds:\n\n")
	row(out, "workers", "strategy", "controllers", "delays", "flow control",
		"kube-apiserver", "etcd", "manager", "nodes, agents and supervisors", "requests", "reports", "watches", "writes of Pod status", "KiB of JobSet to agents")
	rule(out, 14)
	for _, s := range all {
		cpu := func(of func(result) float64) string { return two(milli * s.median(perPod(of))) }
		row(out, s.workers, s.what(), s.limits, s.delays, onOff(s.flowControl),
			cpu(cpuOf("kube-apiserver")), cpu(cpuOf("etcd")), cpu(func(r result) float64 { return r.used.manager.cpu }), cpu(cpuOf(nodesAndAgents)),
			two(s.median(perPod(allRequests))), two(s.median(perPod(requestsOf(agentClient, report)))),
			two(s.median(perPod(requestsOf(agentClient, "watch jobsets")))), two(s.median(perPod(podStatusWrites))),
			two(s.median(perPod(func(r result) float64 { return r.used.jobSetBytes / 1024 }))))
	}
}
