/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/jobset/test/process"
)

// soak is what a long run does beside restarting groups in place: it restarts JobSets of the other strategies, too, and
// looks at what processes hold. In a soak none of them is killed: it would begin at zero.
type soak struct {
	*world
	began time.Time
	// held is what was held, by what it is, in the order of time.
	held map[string][]amount
}

// amount is how much of something was held at a time.
type amount struct {
	at   time.Duration
	much float64
}

const (
	// here is this process, in which agents, supervisors, nodes and tests run.
	here        = "agents, supervisors and nodes"
	managerName = "manager"

	memory, files = "MiB", "open files"
)

// slack is how much more there may be in the last quarter than in the second, which garbage and caches explain.
var slack = map[string]func(before float64) float64{
	memory: func(before float64) float64 { return 16 + before/8 },
	files:  func(float64) float64 { return 16 },
}

func (w *world) startSoak(ctx context.Context) *soak {
	GinkgoHelper()
	for _, r := range w.recreating {
		r.comeUp(ctx)
	}
	return &soak{world: w, began: time.Now(), held: map[string][]amount{}}
}

// round follows each restart in place.
func (s *soak) round(ctx context.Context, series *series, number int) {
	GinkgoHelper()
	r, began := s.recreating[number%len(s.recreating)], time.Now()
	row := series.table.row(r.name(), "none")
	row.result = "FAILED"
	r.restart(ctx, series.dice(number))
	row.result = "ok"
	row.add(0, 1, time.Since(began), 0)
	s.look()
}

// look notes what the manager, the API server and this process hold.
func (s *soak) look() {
	GinkgoHelper()
	processes, err := process.Children()
	Expect(err).NotTo(HaveOccurred())
	for _, c := range processes {
		if c.Name == managerName || c.Name == "kube-apiserver" {
			if bytes, err := process.Resident(c.PID); err == nil { // else it has ended meanwhile
				s.note(c.Name, c.PID, bytes)
			}
		}
	}
	runtime.GC() // the garbage of this process is mostly that of tests
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	s.note(here, os.Getpid(), float64(now.HeapAlloc))
}

func (s *soak) note(name string, pid int, bytes float64) {
	open, err := process.Files(pid)
	if err != nil {
		return // it has ended meanwhile
	}
	at := time.Since(s.began)
	s.held[name+": "+memory] = append(s.held[name+": "+memory], amount{at, bytes / (1 << 20)})
	s.held[name+": "+files] = append(s.held[name+": "+files], amount{at, float64(open)})
}

// report shows the medians of each quarter of the time, and returns what grew. The API server is not ours: it is only shown.
func (s *soak) report() (grew []string) {
	GinkgoHelper()
	for _, name := range []string{managerName, here} {
		Expect(s.held).To(HaveKey(name+": "+memory), "nothing was measured")
	}
	var text strings.Builder
	lines := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(lines, "\nheld, median of a quarter of the time\t1st\t2nd\t3rd\t4th\t\n")
	for _, what := range slices.Sorted(maps.Keys(s.held)) {
		quarters := quartersOf(s.held[what])
		_, _ = fmt.Fprintf(lines, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t\n", what, quarters[0], quarters[1], quarters[2], quarters[3])
		name, unit, _ := strings.Cut(what, ": ")
		if name != "kube-apiserver" && quarters[1] > 0 && quarters[3] > quarters[1]+slack[unit](quarters[1]) {
			grew = append(grew, fmt.Sprintf("%s: %.1f, and %.1f at the end", what, quarters[1], quarters[3]))
		}
	}
	_ = lines.Flush()
	AddReportEntry("what processes held", text.String(), ReportEntryVisibilityAlways)
	return grew
}

// quartersOf are the medians of each quarter of the time; 0 in one without a sample, as there may be in a soak of a minute.
func quartersOf(amounts []amount) (medians [4]float64) {
	end := amounts[len(amounts)-1].at
	for i := range medians {
		var in []float64
		for _, a := range amounts {
			if int(4*a.at/(end+1)) == i {
				in = append(in, a.much)
			}
		}
		slices.Sort(in)
		if len(in) > 0 {
			medians[i] = in[len(in)/2]
		}
	}
	return medians
}
