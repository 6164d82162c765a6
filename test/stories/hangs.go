/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"

	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/phases"
	"sigs.k8s.io/jobset/test/worker/order"
)

// HangsLabel is the label of the stories of workers that train together until one hangs.
const HangsLabel = "hangs"

// How many workers such a group has, and how often one of them hangs in each story.
const (
	hangWorkersVariable = "HANG_WORKERS"
	hangTimesVariable   = "HANG_TIMES"
)

const (
	// stall and stopGrace are the limits of these groups, in seconds.
	stall, stopGrace = 5, 2
	// within is how soon a break follows the limit, and the last start the break and the grace.
	within = time.Second
)

// Examined is how the supervisor says what the processes of a worker that hangs do.
const Examined = "the worker gives no sign"

// Hang is one hang of one of so many workers.
type Hang struct {
	Kind    string
	Workers int
	// Detect is from the limit to the break, Restart from the break to the start of the last worker.
	Detect, Restart time.Duration
	// Said is what the event reports about the likely culprit.
	Said string
}

const hangEntry = "hang of a worker"

// ReportHang adds a hang to the report of the suite.
func ReportHang(h Hang) { AddReportEntry(hangEntry, h, ReportEntryVisibilityNever) }

// hangKind is a way to hang, and why the worker is the likely culprit; "" if none is.
type hangKind struct{ name, hang, why string }

// Hangs registers the stories of hangs. All wait for all in each step, so all are silent when one hangs.
func Hangs() bool {
	return Describe("workers that wait for one that hangs", Label(HangsLabel, "slow"), func() {
		for _, kind := range []hangKind{
			{"that was stopped by SIGSTOP", "stop", ": it has a process in state T"},
			{"that reads from a FIFO", "fifo", ""},
			{"that is a step behind", "behind", ": it reported step "},
			{"that waits for a lock while its other threads run", "lock", ""},
		} {
			// 25 s: three hangs, each seen after five seconds.
			It("P131 P133 P134 P135: start again in their Pods, and are told who it was, if it is one "+kind.name, func(ctx SpecContext) {
				group := Create(ctx, Training(number(cmp.Or(os.Getenv(hangWorkersVariable), "4")), corev1.EnvVar{Name: "WORKER_HANG", Value: kind.hang}))
				round := group.RunsAt(1)
				var detects, restarts []time.Duration
				for i := range number(cmp.Or(os.Getenv(hangTimesVariable), "3")) {
					h, next := group.hangs(round, 1+i%(len(round.Pods)-1), kind)
					ReportHang(h)
					detects, restarts, round = append(detects, h.Detect), append(restarts, h.Restart), next
				}
				group.Charged(round.Epoch - 1)
				group.keepsTime(round.Epoch)
				least, detect, _ := phases.Spread(detects)
				Expect(least).To(BeNumerically(">", -stepTakes), "from the limit to the break")
				Expect(detect).To(BeNumerically("<", within), "from the limit to the break, mostly")
				_, restart, _ := phases.Spread(restarts)
				Expect(restart).To(BeNumerically("<", within+stopGrace*time.Second), "from the break to the last start, mostly")
			}, SpecTimeout(hangTime()))
		}
	})
}

// hangs makes one worker hang, and waits for all in the next epoch.
func (g *Group) hangs(round *Round, victim int, kind hangKind) (Hang, *Round) {
	GinkgoHelper()
	pod := round.Pods[victim]
	g.TakesSteps(round, time.Time{})
	g.Tell(order.Hang, round.Worker(victim))
	next := g.RunsAt(round.Epoch + 1)
	next.IsInPlaceOf(round)
	limit, broke := g.hungAt(pod, round.Epoch).Add(stall*time.Second), g.BrokeAt(round.Epoch)
	h := Hang{Kind: kind.hang, Workers: len(round.Pods), Detect: broke.Sub(limit), Restart: next.LastStart().Sub(broke), Said: g.Says(round.Epoch)}
	// The announced cause is a peer whose connection ended, if the manager had seen nothing else at the break.
	announced := g.note(constants.InPlaceRestartStartedReason, fmt.Sprintf("; all workers of epoch %d restart in place", round.Epoch))
	Expect(announced + "; " + h.Said).To(ContainSubstring("hung: no sign for %d s at step ", stall))
	Expect(g.dated(phases.Breaks(round.Epoch))).To(BeTemporally(">", limit.Add(-stepTakes)), "P140: no break before a worker hung")
	Expect(g.dated(phases.Lifts(next.Epoch))).To(BeTemporally("<=", slices.MinFunc(next.Started, time.Time.Compare)), "P140: no start before the lift")
	if kind.why == "" {
		Expect(h.Said + ";").To(HavePrefix("no likely culprit;"))
	} else {
		Expect(h.Said).To(HavePrefix("likely culprit: worker pod %s on node %s%s", pod.Name, pod.Spec.NodeName, kind.why))
	}
	Expect(g.logOf(pod, round.Epoch)).To(ContainSubstring(Examined), "the log of Pod %s", pod.Name)
	return h, next
}

// stepTakes is for two clocks, and for how much later than its peers a worker gives its last sign.
const stepTakes = 200 * time.Millisecond

func hangTime() time.Duration {
	return specTime + time.Duration(number(os.Getenv(hangTimesVariable)))*15*time.Second
}

// Training is a group whose workers take their steps together.
func Training(workers int, variables ...corev1.EnvVar) Shape {
	return Shape{Process: true, Workers: int32(workers), MaxRestarts: 1000, Change: func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{
			StopGracePeriodSeconds: ptr.To[int32](stopGrace),
			Progress:               &jobset.ProgressPolicy{StartSeconds: ptr.To[int32](60), StallSeconds: ptr.To[int32](stall)},
		}
		worker := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0]
		worker.Command, worker.Env = []string{workerProgram, "train"}, variables
	}}
}

// keepsTime expects the ledger in the status to count the time between breaks and lifts, up to the lift of an epoch, as the manager
// dated them: a watch on a busy machine shows them seconds later, but never earlier.
func (g *Group) keepsTime(last int32) {
	GinkgoHelper()
	first := g.record.firstView(func(v view) bool { return v.JobSet != nil && v.JobSet.Status.Time != nil }).JobSet.Status.Time
	var running time.Duration
	assembling := g.dated(phases.Lifts(1)).Sub(first.At.Add(-first.Assembling.Duration))
	for epoch := int32(1); epoch < last; epoch++ {
		running += g.dated(phases.Breaks(epoch)).Sub(g.dated(phases.Lifts(epoch)))
		assembling += g.dated(phases.Lifts(epoch + 1)).Sub(g.dated(phases.Breaks(epoch)))
	}
	kept := g.Status().Time
	Expect(kept.Running.Duration).To(BeNumerically("~", running, time.Millisecond), "P140: running")
	Expect(kept.Assembling.Duration).To(BeNumerically("~", assembling, time.Millisecond), "P140: assembling")
	Expect(kept.Paused.Duration).To(BeZero(), "P140: paused")
}

// dated is when the manager says that it wrote the first status like this.
func (g *Group) dated(like func(view) bool) time.Time {
	GinkgoHelper()
	seen := g.record.firstView(like)
	at := seen.JobSet.Status.Time.At.Time
	Expect(at).To(BeTemporally("<=", seen.At), "P140: a time in the future")
	return at
}

// TakesSteps waits until all workers of a round have taken steps together, some of them after a moment.
func (g *Group) TakesSteps(round *Round, after time.Time) {
	GinkgoHelper()
	g.eventually(func(expect Gomega) {
		for i, pod := range round.Pods {
			log, err := cluster.Log(g.ctx, round.Worker(i))
			expect.Expect(err).NotTo(HaveOccurred())
			starts := strings.Split(log, `"msg":"start"`)
			steps := stepsLine.FindAllStringSubmatch(starts[len(starts)-1], -1)
			expect.Expect(steps).NotTo(BeEmpty(), "steps of the worker of Pod %s", pod.Name)
			at, err := time.Parse(time.RFC3339Nano, steps[len(steps)-1][1])
			expect.Expect(err).NotTo(HaveOccurred())
			expect.Expect(at).To(BeTemporally(">", after), "the last step of the worker of Pod %s", pod.Name)
		}
	}).Should(Succeed())
}

// stepsLine is how a worker says that it takes steps.
var stepsLine = regexp.MustCompile(`(?m)^\{"time":"([^"]+)".*"msg":"goes on"`)

var hangsLine = regexp.MustCompile(`"msg":"hangs".*"lastSign":"([^"]+)"`)

// hungAt is when the worker of a Pod gave its last sign in an epoch, by its own words.
func (g *Group) hungAt(pod *corev1.Pod, epoch int32) time.Time {
	GinkgoHelper()
	found := hangsLine.FindStringSubmatch(g.logOf(pod, epoch))
	Expect(found).NotTo(BeEmpty(), "the worker of Pod %s says that it hangs", pod.Name)
	at, err := time.Parse(time.RFC3339Nano, found[1])
	Expect(err).NotTo(HaveOccurred())
	return at
}

// logOf is what the worker of a Pod and its supervisor said in an epoch.
func (g *Group) logOf(pod *corev1.Pod, epoch int32) string {
	GinkgoHelper()
	log, err := cluster.Log(g.ctx, Container{Pod: pod, Name: g.shape.Container})
	Expect(err).NotTo(HaveOccurred())
	_, of, found := strings.Cut(log, fmt.Sprintf("starting the worker of epoch %d", epoch))
	Expect(found).To(BeTrue(), "the start of epoch %d in the log of Pod %s", epoch, pod.Name)
	of, _, _ = strings.Cut(of, fmt.Sprintf("starting the worker of epoch %d", epoch+1))
	return of
}

// Says is what the event of the lift after an epoch says of who hung.
func (g *Group) Says(epoch int32) string {
	GinkgoHelper()
	_, said, _ := strings.Cut(g.note(constants.InPlaceRestartCompletedReason, fmt.Sprintf("workers restarted in place: epoch %d, ", epoch+1)), "; ")
	return said
}

// note waits for an event with a text in its note, which it returns.
func (g *Group) note(reason, part string) (note string) {
	GinkgoHelper()
	g.eventually(func(expect Gomega) {
		events := g.events()
		at := slices.IndexFunc(events, func(event eventsv1.Event) bool { return event.Reason == reason && strings.Contains(event.Note, part) })
		expect.Expect(at).To(BeNumerically(">=", 0), "an event %s with %q", reason, part)
		note = events[at].Note
	}).Should(Succeed())
	return note
}
