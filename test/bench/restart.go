/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/process"
)

const (
	// settling is how long a restart may have consequences after its last worker runs. What they
	// cost belongs to it. The audit log is written within this time too.
	settling = 4 * time.Second
	// longestSettling is how long consequences are waited for at most.
	longestSettling = 2 * time.Minute
	// idling is how long an idle group is watched.
	idling = 8 * time.Second
	// restingTries is how often it is watched until the manager leaves it alone for so long.
	restingTries = 30
	// patience is how long anything may take: two busy cores start ten Pods with agents a second.
	patience = time.Hour
)

// scenario is one combination that is measured.
type scenario struct {
	strategy    jobset.JobSetRestartStrategy
	mode        jobset.InPlaceRestartMode // empty with Recreate
	limits      string
	delays      delays
	reports     string // of agents in process mode, if they were asked for
	watched     bool   // workers give signs of life, see failurePolicy.inPlaceRestart.progress
	flowControl bool
	workers     int
}

func (s scenario) inPlace() bool { return s.strategy == jobset.InPlaceRestart }

// what names the way of restarting.
func (s scenario) what() string {
	if s.watched {
		s.watched = false
		return s.what() + ", watched"
	}
	if s.reports != "" && s.reports != string(configapi.ReportsAuto) {
		return strings.ToLower(string(s.mode)) + " mode, reports: " + s.reports
	}
	if s.inPlace() {
		return strings.ToLower(string(s.mode)) + " mode"
	}
	return string(s.strategy)
}

// result is one restart.
type result struct {
	scenario
	failed time.Time
	// Moments, all counted from the failure. Reports and lift are those of restarts in place.
	decided, firstReport, lastReport, lift, firstWorker, lastWorker time.Duration
	// firstReady and lastReady are when supervisors said that nothing of their worker is left.
	firstReady, lastReady time.Duration

	window   time.Duration // in which the costs below were counted
	used     usage
	requests requests
}

// group is one JobSet on its nodes.
type group struct {
	*plane
	scenario
	fleet   *fleet
	jobSet  *watched
	audit   *auditLog
	unwatch context.CancelFunc
	nodes   *nodes
	idle    usage         // what the group uses in a second in which nothing happens
	calm    time.Duration // how long the manager has nothing to do before a restart
}

// bringUp creates the JobSet, waits until all workers run, and learns what the group uses at rest.
func (p *plane) bringUp(ctx context.Context, s scenario, jobs int) (*group, error) {
	g, err := p.prepare(ctx, s)
	if err != nil {
		return nil, err
	}
	err = g.create(ctx, jobSetOf(s, int32(jobs), int32(s.workers/jobs)))
	if err == nil {
		err = g.rest(ctx)
	}
	if err != nil {
		g.abandon()
		return nil, err
	}
	return g, nil
}

// prepare starts the nodes of a group and watches its JobSet, which does not exist yet.
func (p *plane) prepare(ctx context.Context, s scenario) (_ *group, err error) {
	g := &group{plane: p, scenario: s, fleet: newFleet(s.workers), audit: &auditLog{file: p.audit}, calm: settling}
	watching, unwatch := context.WithCancel(ctx)
	g.unwatch = unwatch
	defer func() {
		if err != nil {
			g.abandon()
		}
	}()
	if g.nodes, err = p.startNodes(g.fleet, s.delays, s.workers); err != nil {
		return nil, err
	}
	g.jobSet, err = p.watchJobSet(watching)
	return g, err
}

// create creates JobSets and waits until all workers run.
func (g *group) create(ctx context.Context, jobSets ...*jobset.JobSet) error {
	if err := atOnce(len(jobSets), func(i int) error { return g.jobSet.client.Create(ctx, jobSets[i]) }); err != nil {
		return fmt.Errorf("creating JobSets: %w", err)
	}
	return g.allRun(ctx)
}

// allRun waits until all workers run.
func (g *group) allRun(ctx context.Context) error {
	return await(ctx, fmt.Sprintf("all %d workers run", g.workers), patience, func() (bool, error) {
		n, _, _ := g.fleet.runningSince(time.Time{})
		_, broken := g.fleet.reported()
		return n == g.workers, broken
	})
}

// quiet waits until the manager has had nothing to do for a while, so that what comes is not
// charged for what was. On a busy machine nodes may still be writing long after all workers run.
func (g *group) quiet(ctx context.Context) error {
	wakes := -1.0
	for deadline := time.Now().Add(longestSettling); time.Now().Before(deadline); {
		use, err := g.plane.manager.use(ctx)
		if err != nil || use.wakes == wakes {
			return err
		}
		wakes = use.wakes
		if err := process.Pause(ctx, g.calm); err != nil {
			return err
		}
	}
	return nil
}

// rest watches the idle group to learn what it uses anyway. It begins again if the manager had
// something to do meanwhile: counts of Jobs go on for a while after the last worker runs, and
// what they cost would be taken off each restart. Agents renew their watches all the time.
func (g *group) rest(ctx context.Context) error {
	for range restingTries {
		if err := g.quiet(ctx); err != nil {
			return err
		}
		began := time.Now()
		before, err := g.usage(ctx)
		if err != nil {
			return err
		}
		if err := process.Pause(ctx, idling); err != nil {
			return err
		}
		after, err := g.usage(ctx)
		if err != nil {
			return err
		}
		if after.manager.wakes == before.manager.wakes {
			g.idle = after.less(before, 1).times(1 / time.Since(began).Seconds())
			return nil
		}
	}
	return fmt.Errorf("the group of %d workers does not come to rest", g.workers)
}

// abandon stops what runs in this process, so that no watch keeps the API server from ending.
func (g *group) abandon() {
	g.unwatch()
	if g.nodes != nil {
		g.nodes.stop()
		g.nodes.running.Wait()
	}
}

// takeDown deletes the JobSet and the nodes.
func (g *group) takeDown(ctx context.Context) error {
	defer g.unwatch()
	js := &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: jobSetName}}
	if err := g.jobSet.client.Delete(ctx, js); err != nil {
		return fmt.Errorf("deleting the JobSet: %w", err)
	}
	err := await(ctx, "the Pods are gone", patience, func() (bool, error) {
		pods, err := g.Client.CoreV1().Pods(corev1.NamespaceDefault).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil || len(pods.Items) == 0 {
			return err == nil, err
		}
		return false, process.Pause(ctx, time.Second/2)
	})
	if err != nil {
		return err
	}
	return g.nodes.end(ctx)
}

func (g *group) usage(ctx context.Context) (u usage, err error) {
	if u.manager, err = g.plane.manager.use(ctx); err != nil {
		return u, err
	}
	if u.cpu, err = cpuOfChildren(); err != nil {
		return u, err
	}
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return u, fmt.Errorf("reading the CPU time: %w", err)
	}
	u.cpu[nodesAndAgents] = (time.Duration(self.Utime.Nano() + self.Stime.Nano())).Seconds()
	u.jobSetBytes = float64(g.fleet.jobSetBytes.Load())
	return u, nil
}

// restart makes one worker fail and measures what follows.
func (g *group) restart(ctx context.Context) (result, error) {
	if err := g.quiet(ctx); err != nil {
		return result{}, err
	}
	was := g.jobSet.now()
	before, err := g.usage(ctx)
	if err != nil {
		return result{}, err
	}
	failed, err := g.fleet.failOne()
	if err != nil {
		return result{}, err
	}
	r := result{scenario: g.scenario, failed: failed}
	err = await(ctx, "all workers run again", patience, func() (bool, error) {
		now := g.jobSet.now()
		done := now.synced > was.synced || now.restarts > was.restarts
		n, first, last := g.fleet.runningSince(failed)
		r.firstWorker, r.lastWorker = first.Sub(failed), last.Sub(failed)
		return done && n == g.workers, nil
	})
	if err != nil {
		reports, broken := g.fleet.reported()
		return result{}, errors.Join(err, fmt.Errorf("reports %d, JobSet was %+v, is %+v", len(reports), was, g.jobSet.now()), broken)
	}
	if err := process.Pause(ctx, settling); err != nil {
		return result{}, err
	}
	after, err := g.usage(ctx)
	if err != nil {
		return result{}, err
	}
	until := time.Now()
	if err := g.moments(&r, failed, was); err != nil {
		return result{}, err
	}
	if r.requests, err = g.audit.count(failed, until); err != nil {
		return result{}, err
	}
	if _, _, known := r.requests.managersShare(); g.inPlace() && !known {
		return result{}, errors.New("the audit log lacks the reports, the break or the lift")
	}
	r.window = until.Sub(failed)
	r.used = after.less(before, 1).less(g.idle, r.window.Seconds())
	return r, nil
}

// moments finds when the JobSet said what, and when the agents reported.
func (g *group) moments(r *result, failed time.Time, was counters) error {
	decided, _, err := g.jobSet.first(func(c counters) bool { return c.deprecated > was.deprecated || c.restarts > was.restarts })
	if err != nil {
		return err
	}
	r.decided = decided.Sub(failed)
	if !g.inPlace() {
		return nil
	}
	reports, err := g.fleet.reported()
	if err != nil {
		return fmt.Errorf("agents ended with errors: %w", err)
	}
	// In process mode a report is repeated when the group takes long to come together (P72); the budget of patches tells.
	if len(reports) < g.workers || g.mode != jobset.ProcessMode && len(reports) > g.workers {
		return fmt.Errorf("%d agents reported %d times", g.workers, len(reports))
	}
	lift, _, err := g.jobSet.first(func(c counters) bool { return c.synced > was.synced })
	if err != nil {
		return err
	}
	r.firstReport, r.lastReport, r.lift = reports[0].Sub(failed), reports[len(reports)-1].Sub(failed), lift.Sub(failed)
	if g.mode != jobset.ProcessMode {
		return nil
	}
	readies := g.fleet.ready()
	if len(readies) != g.workers {
		return fmt.Errorf("%d supervisors were ready %d times", g.workers, len(readies))
	}
	r.firstReady, r.lastReady = readies[0].Sub(failed), readies[len(readies)-1].Sub(failed)
	return nil
}

// agentProcess is what one agent of its own process needs.
type agentProcess struct {
	resident float64
	cpu      time.Duration
}

// runAgent runs the agent binary once, for a Pod that does not exist: it reads the JobSet,
// tries to report, and holds a worker that is not there.
func (g *group) runAgent(ctx context.Context) (agentProcess, error) {
	env := []string{
		"NAMESPACE=" + corev1.NamespaceDefault, "POD_NAME=bench-none", "JOBSET_NAME=" + jobSetName,
		"BARRIER_ADDRESS=127.0.0.1", "BARRIER_PORT=18080", "KUBECONFIG=" + g.Kubeconfig,
	}
	p, err := process.Start(process.Command{Dir: g.dir, Name: "agent", Program: g.Agent, Env: env})
	if err != nil {
		return agentProcess{}, err
	}
	err = process.Pause(ctx, 2*time.Second)
	memory, readErr := process.Resident(p.PID())
	if err := errors.Join(err, readErr, p.Stop()); err != nil {
		return agentProcess{}, err
	}
	return agentProcess{resident: memory, cpu: p.CPU()}, nil
}
