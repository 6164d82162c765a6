/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/phases"
	"sigs.k8s.io/jobset/test/worker/order"
)

// Phases is one group restart, from the moment a worker was told to fail. The start of the last worker is told by its
// process, so the clocks of nodes count.
type Phases struct {
	phases.Restart
	Strategy jobset.JobSetRestartStrategy
	// Process is process mode; Watched: its workers give signs of life, for which their supervisors look.
	Process, Watched bool
	Workers          int
	// Measured tells the restarts of the comparison from those of other stories.
	Measured bool
	// FirstStart: from the creation of the JobSet until its last worker has started; zero but in the first restart of a group.
	FirstStart time.Duration
}

// PhasesEntry is the name of the report entries that hold a Phases.
const PhasesEntry = "phases of a restart"

// Phases are those of the restart in place that led to this round.
func (g *Group) Phases(failed time.Time, round *Round) Phases {
	return Phases{Restart: g.record.seen().InPlace(failed, g.shape.size(), round.Epoch, round.LastStart())}
}

// PhasesOfRecreate are those of the nth full restart, which led to this round.
func (g *Group) PhasesOfRecreate(failed time.Time, round *Round, restarts int32) Phases {
	return Phases{Restart: g.record.seen().Recreate(failed, round.Pods, restarts, round.LastStart())}
}

// started keeps how long the first start took for the report of the first restart.
func (g *Group) started(first *Round) { g.firstStart = first.LastStart().Sub(g.created) }

// report adds the phases of a restart to the report of the suite.
func (g *Group) report(p Phases) {
	p.FirstStart, g.firstStart = g.firstStart, 0
	p.Strategy, p.Process, p.Workers, p.Measured = g.shape.Strategy, g.shape.Process, g.shape.size(), slices.Contains(CurrentSpecReport().Labels(), numbers)
	AddReportEntry(PhasesEntry, p, ReportEntryVisibilityNever)
}

// numbers is the label of the comparison.
const numbers = "numbers"

// Compare registers the restarts whose phases are the suite's last table.
func Compare(sizes ...int32) bool {
	return Describe("how long workers take to restart", Serial, Label(numbers), func() {
		for _, size := range sizes {
			for _, way := range []struct {
				name             string
				process, watched bool
			}{{"process mode", true, false}, {"process mode, watched for hangs", true, true}, {"container mode", false, false}} {
				It(fmt.Sprintf("%d in place, %s", size, way.name), slowIf(size > 2 && !way.process), contractIf(size == 2 && !way.watched), func(ctx SpecContext) {
					group := Create(ctx, Shape{Workers: size, Process: way.process, Change: func(js *jobset.JobSet) {
						if way.watched {
							js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Progress: &jobset.ProgressPolicy{StallSeconds: ptr.To[int32](60)}}
						}
					}})
					round := group.RunsAt(1)
					group.started(round)
					for restart := range int32(restarts) {
						failed := group.Tell(order.Exit(1), round.Worker(int(restart%size)))
						next := group.RunsAt(round.Epoch + 1)
						next.IsInPlaceOf(round)
						took := group.Phases(failed, next)
						took.Watched = way.watched
						group.report(took)
						round = next
					}
					group.Charged(restarts)
				}, SpecTimeout(2*specTime))
			}

			It(fmt.Sprintf("%d with Recreate", size), slowIf(size > 2), contractIf(size == 2), func(ctx SpecContext) {
				group := Create(ctx, Shape{Workers: size, Strategy: jobset.Recreate})
				round := group.RunsAttempt(0)
				group.started(round)
				for restart := range int32(restarts) {
					failed := group.Tell(order.Exit(1), round.Worker(int(restart%size)))
					next := group.RunsAttempt(restart + 1)
					next.IsAllNew(round)
					group.report(group.PhasesOfRecreate(failed, next, restart+1))
					round = next
				}
			}, SpecTimeout(2*specTime))
		}
	})
}

// restarts that each comparison makes.
const restarts = 5
