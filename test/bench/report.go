/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const mebi = 1 << 20

// writeReport writes everything that was measured as Markdown.
func (b *bench) writeReport() error {
	if err := os.MkdirAll(filepath.Dir(b.report), 0o755); err != nil {
		return fmt.Errorf("making the directory of the report: %w", err)
	}
	file, err := os.Create(b.report)
	if err != nil {
		return fmt.Errorf("creating the report: %w", err)
	}
	all := seriesOf(b.results)
	b.printConditions(file)
	printTimes(file, all)
	printPhases(file, all)
	printRounds(file, all)
	printCosts(file, all)
	printCostsPerPod(file, all)
	b.printSteps(file)
	b.printWatched(file)
	for _, workers := range b.workers {
		printRequests(file, all, workers)
	}
	b.printMemory(file)
	printBudgets(file, budgetsOf(all))
	if err := file.Close(); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	fmt.Println("report: " + b.report)
	return nil
}

// verdict fails if a budget is broken. Reports in turns break some on Pods, as they are there to show.
func (b *bench) verdict() error {
	if b.mode == modeTurns {
		return nil
	}
	var broken []string
	for _, limit := range budgetsOf(seriesOf(b.results)) {
		if !limit.kept() {
			broken = append(broken, fmt.Sprintf("%s: %.2f, limit %.2f", limit.what, limit.measured, limit.limit))
		}
	}
	for _, w := range b.watched {
		if problem := w.problem(); problem != "" {
			broken = append(broken, problem)
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("broken budgets: %s", strings.Join(broken, "; "))
	}
	return nil
}

func (b *bench) printConditions(out io.Writer) {
	end := now()
	fmt.Fprintf(out, "# A group restart\n\n")
	fmt.Fprintf(out, "Measured from %s to %s with %s on %s/%s, %d CPUs; load of the machine (1, 5, 15 minutes) %s at the\n",
		b.began.at.Format(time.DateTime), end.at.Format(time.DateTime), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.began.load)
	fmt.Fprintf(out, "beginning, %s at the end, this benchmark included. The workers are spread over %d Jobs. Figures of a restart are\n", end.load, b.jobs)
	fmt.Fprintf(out, "medians; costs are counted from the failure until %s after the last worker runs, less what is used in as much idle\n", settling)
	fmt.Fprintf(out, "time. The command:\n\n")

	fmt.Fprintf(out, "    %s\n\n", b.command())
	fmt.Fprintf(out, "Controllers: `tuned` is kube-controller-manager %s and kube-scheduler %s; `default` is without these flags.\n",
		code(tunedLimits.Manager), code(tunedLimits.Scheduler))
	fmt.Fprintf(out, "Delays: `kubelet` are those of a kubelet, `zero` none. Flow control: with config/components/flowcontrol or without.\n")
}

// command is how this run is repeated.
func (b *bench) command() string {
	if b.cases != "" {
		return fmt.Sprintf("make bench-scale SCALE='%s' N='%s' BENCH_RESTARTS=%d SCALE_JOBSETS=%d SCALE_PODS=%d SCALE_JOBS='%s'",
			b.cases, b.workers.String(), b.restarts, b.jobSets, b.podsEach, b.bringUps.String())
	}
	if b.mode == modeTurns {
		return fmt.Sprintf("make bench-reports N='%s' BENCH_JOBS_PER_GROUP=%d BENCH_RESTARTS=%d", b.workers.String(), b.jobs, b.restarts)
	}
	return fmt.Sprintf("make bench-restart MODE=%s N='%s' BENCH_JOBS_PER_GROUP=%d BENCH_RESTARTS=%d BENCH_DEFAULT_RESTARTS=%d BENCH_REPORTS='%s' BENCH_PROGRESS='%s' BENCH_WATCH_FOR=%s",
		b.mode, b.workers.String(), b.jobs, b.restarts, b.defaultRestarts, b.reports, b.progress, b.watchFor)
}

func code(args []string) string { return "`" + strings.Join(args, " ") + "`" }

func printTimes(out io.Writer, all []series) {
	fmt.Fprintf(out, "\n## From the failure to the last worker running\n\n")
	row(out, "workers", "strategy", "controllers", "delays", "flow control", "restarts", "p50 s", "p90 s", "p99 s", "least to most s", "times container mode", "times process mode")
	rule(out, 12)
	for _, s := range all {
		t := s.spread(total)
		ratio := func(to jobset.InPlaceRestartMode) string {
			if b, ok := base(all, s, to); ok && s.mode != to {
				return fmt.Sprintf("%.1f", t.median/b.median(total))
			}
			return "-"
		}
		row(out, s.workers, s.what(), s.limits, s.delays, onOff(s.flowControl), len(s.results),
			seconds(t.median), s.quantile(total, 90), s.quantile(total, 99), seconds(t.least)+" to "+seconds(t.most), ratio(jobset.ContainerMode), ratio(jobset.ProcessMode))
	}
}

func printPhases(out io.Writer, all []series) {
	fmt.Fprintf(out, "\n## Phases, in seconds\n\nInPlaceRestart:\n\n")
	row(out, "workers", "mode", "delays", "flow control", "failure to first report", "to break", "to last report", "to lift", "to last worker", "of these the manager's own")
	rule(out, 10)
	for _, s := range all {
		if s.inPlace() {
			row(out, s.workers, s.what(), s.delays, onOff(s.flowControl),
				seconds(s.median(func(r result) float64 { return r.firstReport.Seconds() })),
				seconds(s.median(breaking)),
				seconds(s.median(func(r result) float64 { return (r.lastReport - r.decided).Seconds() })),
				seconds(s.median(lifting)),
				seconds(s.median(func(r result) float64 { return (r.lastWorker - r.lift).Seconds() })),
				seconds(s.median(ownShare)))
		}
	}
	fmt.Fprintf(out, "\nThe manager's own is counted by the API server's clock: from its answer to the first report until the break\n")
	fmt.Fprintf(out, "arrives there, and from its answer to the last one until the lift does.\n\nRecreate:\n\n")
	row(out, "workers", "controllers", "failure to restart in the status", "to first new worker", "to last worker")
	rule(out, 5)
	for _, s := range all {
		if !s.inPlace() {
			row(out, s.workers, s.limits,
				seconds(s.median(func(r result) float64 { return r.decided.Seconds() })),
				seconds(s.median(func(r result) float64 { return (r.firstWorker - r.decided).Seconds() })),
				seconds(s.median(func(r result) float64 { return (r.lastWorker - r.firstWorker).Seconds() })))
		}
	}
}

func printCosts(out io.Writer, all []series) {
	fmt.Fprintf(out, "\n## Costs of a restart\n\nWakes are the calls of the controller. Those that come within 50 ms\n")
	fmt.Fprintf(out, "of a pass do nothing and are put off, so that there are at most 20 passes a second.\n\n")

	row(out, "workers", "strategy", "controllers", "delays", "flow control", "manager CPU s", "MiB allocated", "objects", "wakes", "wakes/s", "status writes",
		"kube-apiserver CPU s", "etcd CPU s", "kube-controller-manager CPU s", "kube-scheduler CPU s", "nodes and agents CPU s",
		"requests", "MiB of JobSet to agents", "agents refused (429)", "others refused (429)")
	rule(out, 20)
	for _, s := range all {
		row(out, s.workers, s.what(), s.limits, s.delays, onOff(s.flowControl),
			two(s.median(func(r result) float64 { return r.used.manager.cpu })),
			one(s.median(func(r result) float64 { return r.used.manager.bytes / mebi })),
			whole(s.median(func(r result) float64 { return r.used.manager.objects })),
			whole(s.median(func(r result) float64 { return r.used.manager.wakes })),
			one(s.median(wakesPerSecond)), whole(s.median(statusWrites)),
			two(s.median(cpuOf("kube-apiserver"))), two(s.median(cpuOf("etcd"))),
			two(s.median(cpuOf("kube-controller"))), two(s.median(cpuOf("kube-scheduler"))),
			two(s.median(cpuOf(nodesAndAgents))),
			whole(s.median(allRequests)),
			two(s.median(func(r result) float64 { return r.used.jobSetBytes / mebi })),
			whole(s.median(refusedOf(agentClient))), whole(s.median(refusedToOthers)))
	}
}

// printRequests leaves out what is rarer than one in two restarts, as renewals of leases mostly are.
func printRequests(out io.Writer, all []series, workers int) {
	var columns []series
	head := []any{"client", "request"}
	for _, s := range all {
		if s.workers != workers || s.flowControl {
			continue
		}
		columns = append(columns, s)
		head = append(head, fmt.Sprintf("%s, %s, delays %s", s.what(), s.limits, s.delays))
	}
	if len(columns) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## Requests of a restart, %d workers\n\n", workers)
	row(out, head...)
	rule(out, len(head))
	for _, a := range asks(columns) {
		cells, most := []any{a.client, a.kind}, 0.0
		for _, s := range columns {
			n := s.median(requestsOf(a.client, a.kind))
			most = max(most, n)
			cells = append(cells, whole(n))
		}
		if most > 0 && a.client != benchAgent {
			row(out, cells...)
		}
	}
}

func (b *bench) printMemory(out io.Writer) {
	if len(b.resided) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## Resident memory, MiB\n\n")
	row(out, "workers", "strategy", "delays", "kube-apiserver", "manager", "all agents in one process, with the simulated nodes")
	rule(out, 6)
	for _, r := range b.resided {
		row(out, r.workers, r.what(), r.delays, whole(r.of["kube-apiserver"]/mebi), whole(r.of["manager"]/mebi), whole(r.of[nodesAndAgents]/mebi))
	}
	if len(b.agents) == 0 {
		return
	}
	workers := b.resided[len(b.resided)-1].workers
	one := medianOf(b.agents, func(a agentProcess) float64 { return a.resident })
	cpu := medianOf(b.agents, func(a agentProcess) float64 { return a.cpu.Seconds() })
	fmt.Fprintln(out)
	row(out, "what", "resident MiB")
	rule(out, 2)
	row(out, "one agent process, median of "+fmt.Sprint(len(b.agents)), fmt.Sprintf("%.1f", one/mebi))
	row(out, fmt.Sprintf("%d agent processes: an estimate, the row above times %d", workers, workers), whole(one*float64(workers)/mebi))
	fmt.Fprintf(out, "\nThe agent process used %.0f ms of CPU in its 2 seconds.\n", cpu*1000)
}

// printBudgets writes budgets, of which the worst restart counts.
func printBudgets(out io.Writer, budgets []budget) {
	if len(budgets) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## Budgets\n\n")
	row(out, "what", "at most", "measured", "")
	rule(out, 4)
	for _, limit := range budgets {
		verdict := "kept"
		if !limit.kept() {
			verdict = "**missed**"
		}
		row(out, limit.what, two(limit.limit), two(limit.measured), verdict)
	}
}

func row(out io.Writer, cells ...any) {
	for _, cell := range cells {
		fmt.Fprintf(out, "| %v ", cell)
	}
	fmt.Fprintln(out, "|")
}

func rule(out io.Writer, columns int) {
	fmt.Fprintln(out, strings.Repeat("|---", columns)+"|")
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func seconds(s float64) string { return fmt.Sprintf("%.2f", s) }
func two(x float64) string     { return fmt.Sprintf("%.2f", x) }
func one(x float64) string     { return fmt.Sprintf("%.1f", x) }
func whole(x float64) string   { return fmt.Sprintf("%.0f", x) }
