/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/pkg/restarts"
)

// restartsOptions are the flags of `kubectl jobset restarts`.
type restartsOptions struct {
	output string
	limit  int
	all    bool
}

func newRestarts(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o restartsOptions
	command := &cobra.Command{
		Use:   "restarts NAME",
		Short: "Show how a JobSet restarts, which workers are not back, and the last restarts",
		Long: `Show how a JobSet restarts: its strategy, its epochs, what it does now, what is
left of failurePolicy.maxRestarts, which workers are not back and why, and the
last restarts with their first causes.`,
		Example: `  # A JobSet of the current namespace
  kubectl jobset restarts train

  # All workers that are not back, and all restarts that events tell of
  kubectl jobset restarts train --namespace research --all --limit 0

  # For a program: the nodes of the workers that are not back
  kubectl jobset restarts train -o json | jq -r '.workers.missing[]?.node // empty'`,
		Args:              oneJobSet,
		ValidArgsFunction: completeNames(flags),
		RunE: o.run(flags, func(in restarts.Input) error {
			report := restarts.Of(in)
			return write(streams.Out, o.output, report, func() string { return restarts.Text(&report, o.all) })
		}),
	}
	o.add(command)
	command.Flags().BoolVar(&o.all, "all", false, "show all workers that are not back, or do not run; a table shows 20 without it, five in each state")
	return command
}

// add adds the flags that `kubectl jobset progress` has as well.
func (o *restartsOptions) add(to *cobra.Command) {
	to.Flags().StringVarP(&o.output, "output", "o", "table", "table, json or yaml")
	to.Flags().IntVar(&o.limit, "limit", 5, "how many restarts to show, newest first; 0 means all")
}

// run returns a command that reads a JobSet and what belongs to it, and shows it.
func (o *restartsOptions) run(flags *genericclioptions.ConfigFlags, show func(restarts.Input) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		if err := validateLimited(o.output, o.limit); err != nil {
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
		return show(in)
	}
}
