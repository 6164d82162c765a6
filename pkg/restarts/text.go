/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"
)

// shown is how many workers are shown unless all are asked for, and shownAlike how many in one state.
const (
	shown      = 20
	shownAlike = 5
)

// widest is how many characters of a message are shown in a table. What a program says of itself fits in.
const widest = 600

// Text is a report for a terminal. Of workers that are not back, or do not run, it shows up to 20, five in each state, or all.
func Text(r *Report, all bool) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	r.head(w)
	flush(w)
	if r.Workers != nil {
		for _, list := range []struct {
			title   string
			workers []Worker
		}{{"Not back", r.Workers.Missing}, {"Not ready", r.Workers.NotReady}} {
			if len(list.workers) == 0 {
				continue
			}
			fmt.Fprintf(&out, "\n%s:\n", list.title)
			left := r.table(w, list.workers, all)
			flush(w)
			if len(left) > 0 {
				fmt.Fprintf(&out, "... and %s, see them with --all\n", byState(left, " more"))
			}
		}
	}
	if len(r.LastRestarts) > 0 {
		out.WriteString("\nLast restarts:\n")
		r.history(w)
		flush(w)
	}
	return out.String() + r.Notes.Text()
}

// flush writes to a strings.Builder, which never fails.
func flush(w *tabwriter.Writer) { _ = w.Flush() }

func (r *Report) head(w *tabwriter.Writer) {
	fmt.Fprintf(w, "JobSet:\t%s/%s\n", r.Namespace, r.Name)
	fmt.Fprintf(w, "Strategy:\t%s\n", r.Strategy)
	fmt.Fprintf(w, "State:\t%s\n", r.stateText())
	if r.State.Message != "" {
		fmt.Fprintf(w, "Because:\t%s\n", OneLine(r.State.Message))
	}
	if r.Epochs != nil {
		fmt.Fprintf(w, "Epochs:\tsynced %d, deprecated %d\n", r.Epochs.Synced, r.Epochs.Deprecated)
	}
	fmt.Fprintf(w, "Restarts:\t%s\n", r.Budget.text())
	if r.Execution != nil {
		fmt.Fprintf(w, "Execution:\tattempt %d, which also counts resumptions\n", *r.Execution)
	}
	if r.Jobs != nil {
		fmt.Fprintf(w, "Jobs:\t%s\n", r.Jobs.text())
	}
	if r.Workers != nil {
		fmt.Fprintf(w, "Workers:\t%s\n", r.Workers.text())
	}
}

func (r *Report) stateText() string {
	name := map[StateName]string{
		Running: "running", Assembling: "assembling", Recreating: "recreating Jobs", JobsBlocked: "blocked", Suspended: "suspended", Bypassed: "bypassed",
		GateDisabled: "disabled by the feature gate", Completed: "completed", Failed: "failed", Deleting: "being deleted",
	}[r.State.Name]
	if r.State.Name == Running && r.Epochs != nil {
		name += fmt.Sprintf(" at epoch %d", r.Epochs.Synced)
	}
	if r.State.Since != nil && !r.State.Since.IsZero() {
		name += " for " + duration.HumanDuration(r.Time.Sub(r.State.Since.Time))
	}
	if r.State.Name == Assembling {
		name += fmt.Sprintf(", the workers are held until all report epoch %d", int64(r.Epochs.Synced)+1)
	}
	return name
}

func (b Budget) text() string {
	parts := []string{fmt.Sprintf("%d in place", b.InPlace), fmt.Sprintf("%d of all Jobs", b.AllJobs)}
	if b.OneJob > 0 {
		parts = append(parts, fmt.Sprintf("%d of single Jobs", b.OneJob))
	}
	text := fmt.Sprintf("%d of %d used, %d left (%s)", b.Used, b.MaxRestarts, b.Left, strings.Join(parts, ", "))
	if b.NotCounted > 0 {
		text += fmt.Sprintf(", and %d not counted", b.NotCounted)
	}
	return text
}

func (j Jobs) text() string {
	text := fmt.Sprintf("%d of %d created, %d ready", j.Created, j.Wanted, j.Ready)
	for _, count := range []struct {
		n    int64
		what string
	}{{j.Succeeded, "succeeded"}, {j.Failing, "failing"}, {j.Failed, "failed"}, {j.Suspended, "suspended"}, {j.Previous, "of an earlier attempt"}} {
		if count.n > 0 {
			text += fmt.Sprintf(", %d %s", count.n, count.what)
		}
	}
	return text
}

func (w Workers) text() string {
	switch {
	case w.Total == 0:
		return "none are to run now"
	case w.NotBack == 0 && len(w.NotReady) == 0:
		return fmt.Sprintf("all %d back", w.Total)
	case w.NotBack == 0:
		return fmt.Sprintf("%d of %d not ready: %s", len(w.NotReady), w.Total, byState(w.NotReady, ""))
	case len(w.NotReady) == 0:
		return fmt.Sprintf("%d of %d not back: %s", w.NotBack, w.Total, byState(w.Missing, ""))
	default:
		return fmt.Sprintf("%d of %d not back: %s; %d not ready: %s", w.NotBack, w.Total, byState(w.Missing, ""), len(w.NotReady), byState(w.NotReady, ""))
	}
}

// byState counts workers by their states, the most frequent first, as "1998 NotReported, 2 Terminating".
func byState(workers []Worker, more string) string {
	var order []WorkerState
	count := map[WorkerState]int{}
	for i := range workers {
		state := workers[i].State
		if count[state]++; count[state] == 1 {
			order = append(order, state)
		}
	}
	slices.SortStableFunc(order, func(a, b WorkerState) int { return cmp.Compare(count[b], count[a]) })
	parts := make([]string, len(order))
	for i, state := range order {
		parts[i] = fmt.Sprintf("%d%s %s", count[state], more, state)
	}
	return strings.Join(parts, ", ")
}

// table writes workers and returns those that it left out.
func (r *Report) table(w *tabwriter.Writer, workers []Worker, all bool) (left []Worker) {
	fmt.Fprintln(w, "REPLICATEDJOB\tJOB\tINDEX\tPOD\tNODE\tEPOCH\tFOR\tSTATE\tDETAIL")
	count := map[WorkerState]int{}
	rows := 0
	for i := range workers {
		m := &workers[i]
		if !all && (rows == shown || count[m.State] == shownAlike) {
			left = append(left, *m)
			continue
		}
		count[m.State]++
		rows++
		epoch, since := "-", "-"
		if m.Epoch != 0 {
			epoch = strconv.Itoa(int(m.Epoch))
		}
		if m.Since != nil {
			since = duration.HumanDuration(r.Time.Sub(m.Since.Time))
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", m.ReplicatedJob, m.JobIndex, m.Index,
			cmp.Or(m.Pod, "-"), cmp.Or(m.Node, "-"), epoch, since, m.State, cut(OneLine(m.Message)))
	}
	return left
}

func (r *Report) history(w *tabwriter.Writer) {
	starts := slices.ContainsFunc(r.LastRestarts, func(restart Restart) bool { return restart.Starts != nil })
	column := func(text string) string {
		if !starts {
			return ""
		}
		return text + "\t"
	}
	fmt.Fprintln(w, "KIND\tEPOCH\tSTARTED\tTOOK\t"+column("WORKERS")+"FIRST CAUSE")
	for i := range r.LastRestarts {
		restart := &r.LastRestarts[i]
		epoch := "-"
		if restart.Epoch != 0 {
			epoch = fmt.Sprintf("%d to %d", restart.Epoch, int64(restart.Epoch)+1)
		}
		kind := string(restart.Kind)
		if restart.Count > 1 {
			kind += fmt.Sprintf(" (%d)", restart.Count)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s%s\n", kind, epoch, r.at(restart.Began.Time), r.took(restart), column(startsText(restart.Starts)), restart.Why())
	}
}

// Why is the first cause of a restart, and who is suspected, on one line.
func (r *Restart) Why() string {
	why := cut(OneLine(r.Because))
	if r.Suspect != "" {
		why += "; " + cut(OneLine(r.Suspect))
	}
	return why
}

func (r *Report) at(t time.Time) string {
	return fmt.Sprintf("%s (%s ago)", t.UTC().Format(time.RFC3339), duration.HumanDuration(r.Time.Sub(t)))
}

func (r *Report) took(restart *Restart) string {
	switch {
	case restart.Seconds != nil:
		return fmt.Sprintf("%.1fs", *restart.Seconds)
	case restart.InProgress:
		return duration.HumanDuration(r.Time.Sub(restart.Began.Time)) + " so far"
	default:
		return "-"
	}
}

// OneLine keeps text from the API from breaking a table.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, unicode.IsControl), " ")
}

// Printable replaces what a terminal would obey instead of showing: control characters but line feeds, and characters that
// change the direction of text or are invisible. Whoever may name a node or write an event chooses them.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func cut(text string) string {
	if utf8.RuneCountInString(text) <= widest {
		return text
	}
	return string([]rune(text)[:widest-3]) + "..."
}
