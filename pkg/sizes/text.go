/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sizes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/util/duration"

	"sigs.k8s.io/jobset/pkg/restarts"
)

// Text is a report for a terminal.
func Text(r *Report) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	if len(r.Accelerators) > 0 {
		fmt.Fprintln(w, "ACCELERATOR\tFREE\tELASTIC\tOTHERS\tTOTAL")
		for _, a := range r.Accelerators {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", a.Resource, a.Free, a.Elastic, a.Others, a.Total)
		}
		flush(w)
		out.WriteString("\n")
	}
	if len(r.Jobs) == 0 {
		out.WriteString("No elastic jobs.\n")
	} else {
		r.table(w)
		flush(w)
	}
	return out.String() + r.Notes.Text()
}

func (r *Report) table(w *tabwriter.Writer) {
	fmt.Fprintln(w, "NAMESPACE\tJOBSET\tREPLICATEDJOB\tSCORE\tCURRENT\tDESIRED\tMIN-MAX\tEACH\tSTATE\tSINCE\tBECAUSE")
	for i := range r.Jobs {
		job := &r.Jobs[i]
		since := "-"
		if job.Since != nil {
			since = duration.HumanDuration(r.Time.Sub(job.Since.Time))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%d\t%d\t%d-%d\t%s\t%s\t%s\t%s\n", job.Namespace, job.JobSet, job.ReplicatedJob, job.Score,
			job.Current, job.Desired, job.Min, job.Max, job.each(), job.State, since, cmp.Or(restarts.OneLine(job.Because), "-"))
	}
}

// each says what one instance requests, "-" if no accelerator.
func (j *Job) each() string {
	var parts []string
	for name, of := range j.Each {
		parts = append(parts, fmt.Sprintf("%d %s", of, name))
	}
	slices.Sort(parts)
	return cmp.Or(strings.Join(parts, ", "), "-")
}

// flush writes to a strings.Builder, which never fails.
func flush(w *tabwriter.Writer) { _ = w.Flush() }
