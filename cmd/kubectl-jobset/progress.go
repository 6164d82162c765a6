/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/progress"
)

func newProgress(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o restartsOptions
	command := &cobra.Command{
		Use:   "progress NAME",
		Short: "Show what the time of a JobSet went to, and what its restarts cost",
		Long: `Show the goodput of a JobSet that restarts in place: how long its workers ran,
started, assembled and paused, their steps, what each of the last restarts cost,
and how the limits of failurePolicy.inPlaceRestart.progress compare with the
signs that its workers gave, with a proposal for stallSeconds.`,
		Example: `  # A JobSet of the current namespace
  kubectl jobset progress train

  # For a program: goodput in percent
  kubectl jobset progress train -o json | jq .goodputPercent`,
		Args:              oneJobSet,
		ValidArgsFunction: completeNames(flags),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			c, err := connect(flags)
			if err != nil {
				return err
			}
			in, err := c.read(command.Context(), args[0])
			if err != nil {
				return err
			}
			in.Limit, in.Now = o.limit, time.Now()
			report, err := progress.Of(in)
			if err != nil {
				return err
			}
			text, err := encode(o.output, report, func() string { return progress.Text(&report) })
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(streams.Out, text)
			return err
		},
	}
	command.Flags().StringVarP(&o.output, "output", "o", "table", "table, json or yaml")
	command.Flags().IntVar(&o.limit, "limit", 5, "how many restarts to show, newest first; 0 means all")
	return command
}
