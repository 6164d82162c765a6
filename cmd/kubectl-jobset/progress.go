/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/pkg/progress"
	"sigs.k8s.io/jobset/pkg/restarts"
)

func newProgress(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o restartsOptions
	command := &cobra.Command{
		Use:   "progress NAME",
		Short: "Show what the time of a JobSet was spent on, and what its restarts cost",
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
		RunE: o.run(flags, func(in restarts.Input) error {
			report, err := progress.Of(in)
			if err != nil {
				return err
			}
			return write(streams.Out, o.output, report, func() string { return progress.Text(&report) })
		}),
	}
	o.add(command)
	return command
}
