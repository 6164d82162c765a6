/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package progress

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Text is a report for a terminal.
func Text(r *Report) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "JobSet:\t%s/%s\n", r.Namespace, r.Name)
	fmt.Fprintf(w, "State:\t%s\n", r.State.Name)
	if r.GoodputPercent != nil {
		fmt.Fprintf(w, "Goodput:\t%.1f %%\n", *r.GoodputPercent)
	}
	if p := r.Phases; p != nil {
		fmt.Fprintf(w, "Time:\trunning %s (%s of it starting), assembling %s, paused %s\n", span(p.Running), span(p.Starting), span(p.Assembling), span(p.Paused))
	}
	if r.Steps != nil {
		fmt.Fprintf(w, "Steps:\thighest %d, %d computed again\n", r.Steps.Highest, r.Steps.Repeated)
	}
	if r.Advice != nil {
		fmt.Fprintf(w, "Stall limit:\t%s\n", r.Advice.stall())
		fmt.Fprintf(w, "Start limit:\t%s\n", r.Advice.start())
	}
	_ = w.Flush() // of a strings.Builder, which never fails
	if len(r.Restarts) > 0 {
		out.WriteString("\nLast restarts:\n")
		fmt.Fprintln(w, "KIND\tEPOCH\tSTARTED\tDETECT\tSTOP AND BARRIER\tSTART\tSTEPS LOST\tCAUSE")
		for i := range r.Restarts {
			r.Restarts[i].row(w)
		}
		_ = w.Flush()
	}
	return out.String() + r.Notes.Text()
}

func (r *Restart) row(w *tabwriter.Writer) {
	epoch, lost := "-", "-"
	if r.Epoch != 0 {
		epoch = fmt.Sprintf("%d to %d", r.Epoch, int64(r.Epoch)+1)
	}
	if r.StepsLost != nil {
		lost = fmt.Sprint(*r.StepsLost)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Kind, epoch, r.Began.UTC().Format(time.RFC3339), known(r.DetectSeconds), known(r.Seconds), known(r.StartSeconds), lost, r.Why())
}

func known(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	return fmt.Sprintf("%.1fs", *seconds)
}

// span writes seconds as 1h2m3.4s.
func span(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}

// stall says how far stallSeconds is from the longest time between two signs.
func (a *Advice) stall() string {
	if a.LongestGapSeconds == 0 {
		return limit(a.StallSeconds) + "; no existing worker has reported two signs, so nothing is proposed"
	}
	seen := fmt.Sprintf("the longest time between two signs was %s (%s, epoch %d)", span(a.LongestGapSeconds), a.Pod, a.Epoch)
	proposed := fmt.Sprintf("proposed: stallSeconds %d", a.ProposedStallSeconds)
	if a.StallSeconds == 0 {
		return fmt.Sprintf("none; %s; %s", seen, proposed)
	}
	times := float64(a.StallSeconds) / a.LongestGapSeconds
	if a.StallSeconds < a.ProposedStallSeconds {
		return fmt.Sprintf("%d s, only %.1f times what was seen: %s; %s", a.StallSeconds, times, seen, proposed)
	}
	return fmt.Sprintf("%d s, %.1f times what was seen: %s; %s or more", a.StallSeconds, times, seen, proposed)
}

// start says how far startSeconds is from the longest start.
func (a *Advice) start() string {
	if a.LongestStartSeconds == 0 {
		return limit(a.StartSeconds) + "; no first sign is known"
	}
	seen := "the longest start to a first sign was " + span(a.LongestStartSeconds)
	if a.StartSeconds == 0 {
		return "none; " + seen
	}
	return fmt.Sprintf("%d s, %.1f times what was seen: %s", a.StartSeconds, float64(a.StartSeconds)/a.LongestStartSeconds, seen)
}

func limit(seconds int32) string {
	if seconds == 0 {
		return "none"
	}
	return fmt.Sprintf("%d s", seconds)
}
