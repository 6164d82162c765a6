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
	"k8s.io/apimachinery/pkg/types"
)

// cutOffLong is a minute, cutOffShort what later agents are cut off for at most.
const (
	cutOffLong  = time.Minute
	cutOffShort = 10 * time.Second
)

// story is a sequence of restarts.
type story struct {
	seed     uint64
	faults   []fault
	failures []failure
	table    table
	// charged is how many restarts the JobSet has been charged so far.
	charged int32
	cutOffs int
}

func newStory(seed uint64) *story {
	GinkgoHelper()
	GinkgoWriter.Printf("seed %d\n", seed)
	s := &story{seed: seed, table: table{}, charged: w.observer.State().InPlaceRestarts}
	for _, f := range faults() {
		if only := os.Getenv(faultEnv); only == "" || only == f.name {
			s.faults = append(s.faults, f)
		}
	}
	Expect(s.faults).NotTo(BeEmpty(), "no fault is named as %s says", faultEnv)
	for _, f := range failures {
		if only := os.Getenv(failureEnv); only == "" || only == f.name {
			s.failures = append(s.failures, slices.Repeat([]failure{f}, f.often)...)
		}
	}
	Expect(s.failures).NotTo(BeEmpty(), "no failure is named as %s says", failureEnv)
	return s
}

// dice of a round depend on the seed and its number alone.
func (s *story) dice(number int) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed, uint64(number))) //nolint:gosec // to be repeated
}

// pick goes through all faults, and through all failures, before it begins again.
func (s *story) pick(number int) (fault, failure) {
	return deal(s, number, 1, s.faults), deal(s, number, 2, s.failures)
}

// deal takes the nth card of a deck that is shuffled whenever all are dealt. Another
// deck of the same story is shuffled in another way.
func deal[T any](s *story, number int, deck uint64, cards []T) T {
	dice := rand.New(rand.NewPCG(s.seed, deck<<32+uint64(number/len(cards)))) //nolint:gosec // to be repeated
	return cards[dice.Perm(len(cards))[number%len(cards)]]
}

// tell is one restart: a failure, a fault, and what must be so afterwards.
func (s *story) tell(ctx context.Context, number int) {
	GinkgoHelper()
	dice := s.dice(number)
	fault, failure := s.pick(number)
	before := w.observer.State()
	Expect(before.InPlaceRestarts).To(Equal(s.charged), "nothing was charged between two restarts")
	pods := podsByUID()
	restarts := w.managerRestarts()

	var failed time.Time
	replaced := 0
	recovering, giveUp := context.WithCancel(ctx)
	defer giveUp()
	recovered := make(chan struct{})
	recovery := make(chan error, 1)
	r := &round{world: w, dice: dice, recovered: recovered, long: s.cutOffTime(fault.name, dice)}
	r.fail = func() error {
		var err error
		failed = time.Now()
		replaced, err = failure.happen(ctx, w, dice)
		go func() {
			recovery <- w.recovers(recovering, before.Synced, failure.settle)
			close(recovered)
		}()
		return err
	}
	row := s.table.row(fault.name)
	injected, err := fault.strike(r, ctx)
	s.must(row, err, "round %d: %s, %s", number, failure.name, fault.name)
	// How long the fault lasted says nothing about a hang.
	limit := time.AfterFunc(hang, giveUp)
	err = <-recovery
	limit.Stop()
	took := time.Since(failed) - failure.settle
	s.must(row, err, "round %d hangs: %s, %s", number, failure.name, fault.name)
	charged := w.observer.State().InPlaceRestarts - before.InPlaceRestarts
	s.charged += charged
	row.add(injected, charged, took, w.managerRestarts()-restarts)
	GinkgoWriter.Printf("%4d  %-34s %-30s %4d times, charged %d, back after %6.2f s\n",
		number+1, fault.name, failure.name, injected, charged, took.Seconds())
	s.check(row, failure, charged, gone(pods), replaced)
}

func (s *story) cutOffTime(fault string, dice *rand.Rand) time.Duration {
	short := time.Second + time.Duration(dice.Float64()*float64(cutOffShort-time.Second))
	if fault != "agent cut off" {
		return short
	}
	s.cutOffs++
	if s.cutOffs == 1 {
		return cutOffLong
	}
	return short
}

// check holds the end of a restart against what must be so.
func (s *story) check(row *row, failure failure, charged int32, gone, replaced int) {
	GinkgoHelper()
	row.result = "FAILED"
	Expect(w.players.Violations()).To(BeEmpty(), "workers")
	Expect(w.observer.Violations()).To(BeEmpty(), "status")
	Expect(charged).To(And(BeNumerically(">=", 1), BeNumerically("<=", failure.charge)), "charged")
	Expect(gone).To(Equal(replaced), "Pods replaced")
	Eventually(w.observer.Unfounded).WithTimeout(10*time.Second).Should(BeEmpty(), "reports before the lift")
	row.result = "ok"
}

// must fails with all there is to know about a group that does not come back.
func (s *story) must(row *row, err error, format string, args ...any) {
	GinkgoHelper()
	if err == nil {
		return
	}
	row.result = "HANGS"
	AddReportEntry("the world", w.dump(context.Background()), ReportEntryVisibilityAlways)
	Expect(err).NotTo(HaveOccurred(), fmt.Sprintf(format, args...))
}

// podsByUID are the Pods whose workers run.
func podsByUID() map[types.UID]bool {
	pods := map[types.UID]bool{}
	for _, pod := range w.players.Pods() {
		pods[pod.UID] = true
	}
	return pods
}

// gone counts the Pods that ran before and do not any more.
func gone(before map[types.UID]bool) int {
	now, count := podsByUID(), 0
	for uid := range before {
		if !now[uid] {
			count++
		}
	}
	return count
}

func (w *world) managerRestarts() int {
	sum := 0
	for _, m := range w.managers {
		sum += m.Restarts()
	}
	return sum
}
