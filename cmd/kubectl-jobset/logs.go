/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/logs"
)

// logsOptions are the flags of `kubectl jobset logs`.
type logsOptions struct {
	epoch, rank              int32
	replicatedJob, container string
}

// all is the value of a flag that filters nothing.
const all = -1

func newLogs(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o logsOptions
	command := &cobra.Command{
		Use:   "logs NAME",
		Short: "Select logs of workers by epoch and rank",
		Long: `Select logs of workers by epoch and rank.

It needs process mode, in which the log of a container goes on through restarts and
a supervisor announces each start and end of the worker in it. In container mode
each restart begins a new log: kubectl logs POD -c CONTAINER, with --previous for
the one before. Logs end with their Pods, and kubelets rotate them. Which worker
failed first in an epoch: kubectl jobset restarts.`,
		Example: `  # What did rank 3 print in epoch 7?
  kubectl jobset logs train --epoch 7 --rank 3

  # Everything that rank 3 has printed
  kubectl jobset logs train --rank 3`,
		Args:              oneJobSet,
		ValidArgsFunction: completeNames(flags),
		RunE: func(command *cobra.Command, args []string) error {
			if o.epoch < all || o.rank < all {
				return errors.New("--epoch and --rank must be 0 or more")
			}
			c, err := connect(flags)
			if err != nil {
				return err
			}
			return o.run(command.Context(), c, streams, args[0])
		},
	}
	command.Flags().Int32Var(&o.epoch, "epoch", all, "only this epoch; 0 is what ran outside of all epochs")
	command.Flags().Int32Var(&o.rank, "rank", all, "only the worker that has this JOBSET_RANK, in each ReplicatedJob")
	command.Flags().StringVar(&o.replicatedJob, "replicated-job", "", "only this ReplicatedJob")
	command.Flags().StringVarP(&o.container, "container", "c", "", "only this container")
	return command
}

// filter returns which sections of the logs are wanted.
func (o *logsOptions) filter() logs.Filter {
	var f logs.Filter
	if o.epoch != all {
		f.Epoch = &o.epoch
	}
	if o.rank != all {
		f.Rank = &o.rank
	}
	return f
}

// run prints the sections that are wanted, and a note about each log that cannot be read, for example because its Pod is gone.
func (o *logsOptions) run(ctx context.Context, c *cluster, streams genericiooptions.IOStreams, name string) error {
	sources, err := o.sources(ctx, c, name)
	if err != nil {
		return err
	}
	filter, printed := o.filter(), false
	var gone error
	for i := range sources {
		found, unread, err := c.printLog(ctx, &sources[i], filter, streams.Out)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if unread != nil {
			gone = unread
			fmt.Fprintln(streams.ErrOut, "Note:", unread)
		}
		printed = printed || found
	}
	switch {
	case printed:
		return nil
	case gone != nil:
		return gone
	}
	return errors.New("no log has this epoch and rank: it has not started yet, or its lines are rotated away")
}
