/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/process"
)

// scale selects what is measured at sizes where a control plane gets into trouble, and the sizes.
type scale struct {
	cases    string
	jobSets  int
	podsEach int
	bringUps sizes
}

// The cases of --scale.
const (
	caseGroup   = "group"   // restarts of one large group, in both modes
	caseJobSets = "jobsets" // many JobSets: at rest, and when a node, the manager or the API server is lost
	caseReturn  = "return"  // many JobSets, and only the API server is lost
	caseBringUp = "bringup" // one JobSet of many Jobs
)

func (s *scale) flags() {
	s.bringUps = sizes{5000, 10000}
	flag.StringVar(&s.cases, "scale", "", "measure these cases of scale, separated by spaces: group, jobsets, return, bringup")
	flag.IntVar(&s.jobSets, "scale-jobsets", 1000, "with --scale=jobsets: number of JobSets")
	flag.IntVar(&s.podsEach, "scale-pods", 10, "with --scale=jobsets: number of workers of each")
	flag.Var(&s.bringUps, "scale-jobs", "with --scale=bringup: numbers of Jobs of one JobSet")
}

func (s *scale) check() error {
	for _, name := range strings.Fields(s.cases) {
		if !slices.Contains([]string{caseGroup, caseJobSets, caseReturn, caseBringUp}, name) {
			return fmt.Errorf("--scale has %q, and knows group, jobsets, return and bringup", name)
		}
	}
	if s.jobSets < 2 || s.podsEach < 1 {
		return errors.New("--scale-jobsets must be at least 2, --scale-pods at least 1")
	}
	return nil
}

// measureScale measures each case, and each size of it, on a control plane of its own.
func (b *bench) measureScale(ctx context.Context, dir string) error {
	own := func(measure func(context.Context, *plane) error) error { return b.onOwnPlane(ctx, dir, measure) }
	for _, name := range strings.Fields(b.cases) {
		switch name {
		case caseGroup:
			if err := own(b.groups); err != nil {
				return err
			}
		case caseJobSets, caseReturn:
			if err := own(func(ctx context.Context, p *plane) error { return b.manyJobSets(ctx, p, name == caseReturn) }); err != nil {
				return fmt.Errorf("%d JobSets of %d workers: %w", b.jobSets, b.podsEach, err)
			}
		case caseBringUp:
			for _, jobs := range b.bringUps {
				if err := own(func(ctx context.Context, p *plane) error { return b.bringUpJobs(ctx, p, jobs) }); err != nil {
					return fmt.Errorf("one JobSet of %d Jobs: %w", jobs, err)
				}
			}
		}
	}
	return nil
}

// step is one thing that happened, and what it cost.
type step struct {
	what string
	// pods are those that the cost is spread over.
	pods     int
	took     time.Duration
	used     usage
	requests requests
	resided  map[string]float64
}

// step does something and counts what it costs, its consequences included. A process that is replaced meanwhile is
// named: its successor counts from its start.
func (b *bench) step(ctx context.Context, g *group, what string, pods int, replaces string, do func() error) error {
	before, err := g.usage(ctx)
	if err != nil {
		return err
	}
	delete(before.cpu, replaces)
	if replaces == "manager" {
		before.manager = managerUse{}
	}
	began := time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	s := step{what: what, pods: pods, took: time.Since(began)}
	if err := process.Pause(ctx, settling); err != nil {
		return err
	}
	after, err := g.usage(ctx)
	if err != nil {
		return err
	}
	s.used = after.less(before, 1)
	if s.requests, err = g.audit.count(began, time.Now()); err != nil {
		return err
	}
	if s.resided, err = residents(); err != nil {
		return err
	}
	b.steps = append(b.steps, s)
	fmt.Printf("  %s: %s s, kube-apiserver %.1f s CPU, manager %.1f s CPU, %d requests, load %s\n",
		what, seconds(s.took.Seconds()), s.used.cpu["kube-apiserver"], s.used.manager.cpu, s.requests.total(), now().load)
	return nil
}

// bringUpJobs measures how long one JobSet of so many Jobs of a Pod each takes to run and to say so. Its workers have no
// agents, and its nodes no delays.
func (b *bench) bringUpJobs(ctx context.Context, p *plane, jobs int) error {
	s := scenario{strategy: jobset.Recreate, limits: tunedLimits.name, delays: noDelays, workers: jobs}
	fmt.Printf("one JobSet of %d Jobs\n", jobs)
	g, err := p.prepare(ctx, s)
	if err != nil {
		return err
	}
	defer g.abandon()
	return b.step(ctx, g, fmt.Sprintf("one JobSet of %d Jobs, until it says that all are ready", jobs), jobs, "", func() error {
		if err := g.create(ctx, jobSetOf(s, int32(jobs), 1)); err != nil {
			return err
		}
		return await(ctx, "the JobSet says so", patience, func() (bool, error) { return g.jobSet.ready() == jobs, nil })
	})
}
