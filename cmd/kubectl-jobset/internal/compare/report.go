/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package compare

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/phases"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// Result is what was measured of one strategy.
type Result struct {
	Strategy Strategy
	// JobSet is the name of the copy.
	JobSet string
	// Refused is why admission refused the copy, Failed why it was not measured to the end; both are empty otherwise.
	Refused, Failed string
	Workers, Nodes  int
	// FirstStart: from the creation until all workers ran.
	FirstStart time.Duration
	Restarts   []phases.Restart
}

// Rate is how often workers fail, and how many nodes wait then.
type Rate struct {
	// FailuresPerDay is 0 if it was not given.
	FailuresPerDay float64
	// Nodes is 0 for those that the copies ran on.
	Nodes int
}

// NodeHours returns how many node hours a day are lost in restarts that take so long.
func (r Rate) NodeHours(restart time.Duration) float64 {
	return r.FailuresPerDay * float64(r.Nodes) * restart.Hours()
}

// Report is the comparison. Times are seconds, and medians where nothing else is said.
type Report struct {
	Namespace string `json:"namespace"`
	// Failure is how workers were made to fail.
	Failure string `json:"failure"`
	// FailuresPerDay and Nodes are 0 if no rate was given.
	FailuresPerDay float64  `json:"failuresPerDay,omitempty"`
	Nodes          int      `json:"nodes,omitempty"`
	Rows           []Row    `json:"strategies"`
	Notes          []string `json:"notes,omitempty"`
}

// Row is one strategy.
type Row struct {
	Strategy string `json:"strategy"`
	JobSet   string `json:"jobSet,omitempty"`
	Refused  string `json:"refused,omitempty"`
	Failed   string `json:"failed,omitempty"`
	Workers  int    `json:"workers,omitempty"`
	// FirstStart is 0 if the workers never ran.
	FirstStart float64 `json:"firstStart,omitempty"`
	Restarts   int     `json:"restarts"`
	// Times are nil without restarts.
	Times *Times `json:"times,omitempty"`
	// NodeHours are those lost in restarts each day, Saved those that Recreate loses more; nil where that is not known.
	NodeHours *float64 `json:"nodeHoursPerDay,omitempty"`
	Saved     *float64 `json:"nodeHoursSavedPerDay,omitempty"`
}

// Times of restarts.
type Times struct {
	Break float64 `json:"break"`
	Back  float64 `json:"back"`
	Lift  float64 `json:"lift"`
	Run   float64 `json:"run"`
	Total float64 `json:"total"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// Of makes the report.
func Of(results []Result, rate Rate) Report {
	var r Report
	totals := map[Strategy]time.Duration{}
	for i := range results {
		rate.Nodes = cmp.Or(rate.Nodes, results[i].Nodes)
		if len(results[i].Restarts) > 0 {
			_, totals[results[i].Strategy], _ = phases.Spread(each(results[i].Restarts, phases.Restart.Total))
		}
	}
	if rate.FailuresPerDay > 0 {
		r.FailuresPerDay, r.Nodes = rate.FailuresPerDay, rate.Nodes
	}
	recreate, compared := totals[Strategy{Restart: jobset.Recreate}]
	for i := range results {
		one := &results[i]
		row := Row{Strategy: one.Strategy.String(), JobSet: one.JobSet, Refused: one.Refused, Failed: one.Failed,
			Workers: one.Workers, FirstStart: one.FirstStart.Seconds(), Restarts: len(one.Restarts)}
		total, measured := totals[one.Strategy]
		if measured {
			row.Times = timesOf(one.Restarts)
		}
		if measured && rate.FailuresPerDay > 0 {
			hours, saved := rate.NodeHours(total), rate.NodeHours(recreate-total)
			row.NodeHours = &hours
			if compared && one.Strategy.inPlace() {
				row.Saved = &saved
			}
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

func timesOf(restarts []phases.Restart) *Times {
	median := func(of func(phases.Restart) time.Duration) float64 {
		_, m, _ := phases.Spread(each(restarts, of))
		return m.Seconds()
	}
	least, total, most := phases.Spread(each(restarts, phases.Restart.Total))
	return &Times{
		Break: median(func(p phases.Restart) time.Duration { return p.Break }),
		Back:  median(func(p phases.Restart) time.Duration { return p.Back }),
		Lift:  median(func(p phases.Restart) time.Duration { return p.Lift }),
		Run:   median(func(p phases.Restart) time.Duration { return p.Run }),
		Total: total.Seconds(), Least: least.Seconds(), Most: most.Seconds(),
	}
}

func each(restarts []phases.Restart, of func(phases.Restart) time.Duration) []time.Duration {
	values := make([]time.Duration, len(restarts))
	for i := range restarts {
		values[i] = of(restarts[i])
	}
	return values
}

// Text is a report for a terminal.
func (r *Report) Text() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	head := "STRATEGY\tWORKERS\tFIRST START\tRESTARTS\tBREAK\tBACK\tLIFT\tRUN\tTOTAL\tLEAST-MOST"
	if r.FailuresPerDay > 0 {
		head += "\tNODE HOURS A DAY\tSAVED"
	}
	fmt.Fprintln(w, head)
	for i := range r.Rows {
		fmt.Fprintln(w, r.Rows[i].line(r.FailuresPerDay > 0))
	}
	_ = w.Flush()
	fmt.Fprintf(&out, "\nSeconds from a failure until all workers run again; medians. %s\n", r.Failure)
	if r.FailuresPerDay > 0 {
		fmt.Fprintf(&out, "Node hours: %g failures a day, in each of which %d nodes wait. The work since the last checkpoint has to be repeated in addition, with each strategy.\n", r.FailuresPerDay, r.Nodes)
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Refused != "" {
			fmt.Fprintf(&out, "%s was refused: %s\n", row.Strategy, restarts.OneLine(row.Refused))
		}
		if row.Failed != "" {
			fmt.Fprintf(&out, "%s was not measured to the end: %s\n", row.Strategy, restarts.OneLine(row.Failed))
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintln(&out, "Note:", note)
	}
	return out.String()
}

func (row *Row) line(rated bool) string {
	cells := []string{row.Strategy, "-", "-", fmt.Sprint(row.Restarts), "-", "-", "-", "-", "-", "-"}
	if row.FirstStart > 0 {
		cells[1], cells[2] = fmt.Sprint(row.Workers), seconds(row.FirstStart)
	}
	if t := row.Times; t != nil {
		for i, value := range []float64{t.Break, t.Back, t.Lift, t.Run, t.Total} {
			cells[4+i] = seconds(value)
		}
		if cells[9] = seconds(t.Least) + "-" + seconds(t.Most); row.Strategy == string(jobset.Recreate) {
			cells[6] = "-" // there is no barrier
		}
	}
	if rated {
		cells = append(cells, hours(row.NodeHours), hours(row.Saved))
	}
	return strings.Join(cells, "\t")
}

func seconds(value float64) string { return fmt.Sprintf("%.2f", value) }

func hours(value *float64) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *value)
}
