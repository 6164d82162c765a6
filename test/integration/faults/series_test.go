/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// cutOffLong is a minute, cutOffShort what later agents are cut off for at most.
const (
	cutOffLong  = time.Minute
	cutOffShort = 10 * time.Second
)

// series is a sequence of restarts.
type series struct {
	seed     uint64
	faults   []fault
	failures map[jobset.InPlaceRestartMode][]failure
	// rounds counts those of each mode.
	rounds map[jobset.InPlaceRestartMode]int
	table  table
	// charged is how many restarts each JobSet has been charged so far.
	charged map[jobset.InPlaceRestartMode]int32
	cutOffs int
}

// newSeries returns one that begins. One that soaks lets processes live.
func newSeries(seed uint64, soaks bool) *series {
	GinkgoHelper()
	GinkgoWriter.Printf("seed %d\n", seed)
	s := &series{
		seed: seed, table: table{}, failures: map[jobset.InPlaceRestartMode][]failure{},
		rounds: map[jobset.InPlaceRestartMode]int{}, charged: map[jobset.InPlaceRestartMode]int32{},
	}
	for _, f := range w.faults() {
		if only := os.Getenv(faultEnv); (only == "" || only == f.name) && w.groupFor(f, 0) != nil && (!soaks || !f.ends) {
			s.faults = append(s.faults, f)
		}
	}
	Expect(s.faults).NotTo(BeEmpty(), "no fault is named as %s says", faultEnv)
	for _, g := range w.groups {
		s.charged[g.mode] = g.observer.State().InPlaceRestarts
		for _, f := range failures {
			if only := os.Getenv(failureEnv); (only == "" || only == f.name) && (f.only == "" || f.only == g.mode) {
				s.failures[g.mode] = append(s.failures[g.mode], slices.Repeat([]failure{f}, f.often)...)
			}
		}
		Expect(s.failures[g.mode]).NotTo(BeEmpty(), "no failure in mode %s is named as %s says", g.mode, failureEnv)
	}
	return s
}

// groupFor is that in which a fault happens the nth time, nil if there is none. What can happen in both modes happens in
// turn.
func (w *world) groupFor(f fault, times int) *group {
	var able []*group
	for _, g := range w.groups {
		if f.only == "" || f.only == g.mode {
			able = append(able, g)
		}
	}
	if len(able) == 0 {
		return nil
	}
	return able[times%len(able)]
}

// dice of a round depend on the seed and its number alone.
func (s *series) dice(number int) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, uint64(number))) //nolint:gosec // to be repeated
}

// pick goes through all faults, and in each mode through all failures, before it begins again. Of those
// that are for both modes, each is for the other one the next time, and so are its neighbours now.
func (s *series) pick(number int) (*group, fault, failure) {
	which := deal(s, number, 1, len(s.faults))
	g := w.groupFor(s.faults[which], which+number/len(s.faults))
	failures := s.failures[g.mode]
	failure := failures[deal(s, s.rounds[g.mode], 2, len(failures))]
	s.rounds[g.mode]++
	return g, s.faults[which], failure
}

// deal takes the nth of so many cards, which are shuffled whenever all are dealt. Another
// deck of the same series is shuffled differently.
func deal(s *series, number int, deck uint64, cards int) int {
	dice := rand.New(rand.NewPCG(s.seed, deck<<32+uint64(number/cards))) //nolint:gosec // to be repeated
	return dice.Perm(cards)[number%cards]
}

// restart causes one failure and one fault, and checks what must hold afterwards.
func (s *series) restart(ctx context.Context, number int) {
	GinkgoHelper()
	dice := s.dice(number)
	g, fault, failure := s.pick(number)
	before := g.observer.State()
	Expect(before.InPlaceRestarts).To(Equal(s.charged[g.mode]), "nothing was charged between two restarts")
	pods := g.podsByUID()
	restarts := w.managerRestarts()
	settle := max(fault.settle, failure.settle)

	var failed time.Time
	replaced := 0
	recovering, giveUp := context.WithCancel(ctx)
	defer giveUp()
	recovered := make(chan struct{})
	recovery := make(chan error, 1)
	r := &round{group: g, dice: dice, recovered: recovered, long: s.cutOffTime(fault.name, dice)}
	r.fail = func() error {
		var err error
		failed = time.Now()
		replaced, err = failure.happen(ctx, g, dice)
		go func() {
			recovery <- g.recovers(recovering, before.Synced, settle)
			close(recovered)
		}()
		return err
	}
	row := s.table.row(g.label(), fault.name)
	injected, err := fault.strike(r, ctx)
	s.must(g, row, err, "round %d, %s mode: %s, %s", number, g.label(), failure.name, fault.name)
	// How long the fault lasted says nothing about a hang.
	hangs := time.AfterFunc(hang, giveUp)
	err = <-recovery
	hangs.Stop()
	took := time.Since(failed) - settle
	s.must(g, row, err, "round %d, %s mode, hangs: %s, %s", number, g.label(), failure.name, fault.name)
	charged := g.observer.State().InPlaceRestarts - before.InPlaceRestarts
	s.charged[g.mode] += charged
	row.add(injected, charged, took, w.managerRestarts()-restarts)
	GinkgoWriter.Printf("%4d  %-9s %-34s %-40s %4d times, charged %d, back after %6.2f s\n",
		number+1, g.label(), fault.name, failure.name, injected, charged, took.Seconds())
	limit := failure.charge
	if fault.more != nil {
		limit += fault.more(failure, injected)
	}
	s.check(g, row, charged, limit, g.gone(pods), replaced)
}

func (s *series) cutOffTime(fault string, dice *rand.Rand) time.Duration {
	short := time.Second + time.Duration(dice.Float64()*float64(cutOffShort-time.Second))
	if fault != agentCutOff {
		return short
	}
	s.cutOffs++
	if s.cutOffs == 1 {
		return cutOffLong
	}
	return short
}

// check holds the end of a restart against what must be so.
func (s *series) check(g *group, row *row, charged, limit int32, gone, replaced int) {
	GinkgoHelper()
	row.result = "FAILED"
	for _, each := range w.groups {
		Expect(each.players.Violations()).To(BeEmpty(), "workers in mode %s", each.mode)
		Expect(each.observer.Violations()).To(BeEmpty(), "status in mode %s", each.mode)
	}
	Expect(charged).To(And(BeNumerically(">=", 1), BeNumerically("<=", limit)), "charged")
	Expect(gone).To(Equal(replaced), "Pods replaced")
	Eventually(g.observer.Unfounded).WithTimeout(10*time.Second).Should(BeEmpty(), "reports before the lift")
	row.result = "ok"
}

// must fails with all there is to know about a group that does not come back.
func (s *series) must(g *group, row *row, err error, format string, args ...any) {
	GinkgoHelper()
	if err == nil {
		return
	}
	row.result = "HANGS"
	AddReportEntry("the world", g.dump(context.Background()), ReportEntryVisibilityAlways)
	Expect(err).NotTo(HaveOccurred(), fmt.Sprintf(format, args...))
}

func (w *world) managerRestarts() int {
	sum := 0
	for _, m := range w.managers {
		_, restarts := m.state()
		sum += restarts
	}
	return sum
}
