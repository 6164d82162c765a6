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
	"math"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/logs"
)

// logsOptions are the flags of `kubectl jobset logs`.
type logsOptions struct {
	output                   string
	epoch, rank              int32
	replicatedJob, container string
	since                    time.Duration
}

// all is the value of a flag that filters nothing.
const all = -1

func newLogs(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o logsOptions
	command := &cobra.Command{
		Use:   "logs NAME",
		Short: "Select logs of workers by epoch and rank",
		Long: `Select logs of workers by epoch and rank, and mark the first that failed in each
epoch. Without --epoch and --rank: a table of the epochs of which the logs tell.

It needs process mode, in which the log of a container goes on through restarts and
a supervisor announces each start and end of the worker in it. In container mode
each restart begins a new log: kubectl logs POD -c CONTAINER, with --previous for
the one before. Logs end with their Pods, and kubelets rotate them.`,
		Example: `  # Which epochs were there, and who was the first to fail in each?
  kubectl jobset logs train

  # What did rank 3 print in epoch 7?
  kubectl jobset logs train --epoch 7 --rank 3

  # Everything that rank 3 has printed
  kubectl jobset logs train --rank 3`,
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
			return o.run(command.Context(), c, streams, args[0])
		},
	}
	command.Flags().StringVarP(&o.output, "output", "o", "table", "of the epochs: table, json or yaml")
	command.Flags().Int32Var(&o.epoch, "epoch", all, "only this epoch; 0 is what ran outside of all epochs")
	command.Flags().Int32Var(&o.rank, "rank", all, "only the worker that has this JOBSET_RANK, in each ReplicatedJob")
	command.Flags().StringVar(&o.replicatedJob, "replicated-job", "", "only this ReplicatedJob")
	command.Flags().StringVarP(&o.container, "container", "c", "", "only this container")
	command.Flags().DurationVar(&o.since, "since", 0, "read only what is younger than this, such as 2h; 0 means all. Older lines, which may show an earlier failure, are not read")
	return command
}

func (o *logsOptions) validate() error {
	switch {
	case o.epoch < all || o.rank < all:
		return errors.New("--epoch and --rank must be 0 or more")
	case o.since < 0 || o.since > 0 && o.since < time.Second:
		return fmt.Errorf("--since is %s, it must be a second or more", o.since)
	case (o.epoch != all || o.rank != all) && o.output != "table":
		return errors.New("--output is for the table of epochs; leave out --epoch and --rank")
	}
	return validateOutput(o.output)
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

// sinceSeconds is how far back logs are read, nil if to their beginning.
func (o *logsOptions) sinceSeconds() *int64 {
	if o.since == 0 {
		return nil
	}
	seconds := int64(math.Ceil(o.since.Seconds()))
	return &seconds
}

// run reads all logs twice: who failed first is known only when all have been read, and none is kept.
func (o *logsOptions) run(ctx context.Context, c *cluster, streams genericiooptions.IOStreams, name string) error {
	sources, err := o.sources(ctx, c, name)
	if err != nil {
		return err
	}
	read, notes, err := c.readMarks(ctx, sources, o.sinceSeconds())
	if err != nil {
		return err
	}
	for _, note := range notes {
		fmt.Fprintln(streams.ErrOut, "Note:", note)
	}
	found := make([]logs.Log, len(read))
	for i := range read {
		found[i] = read[i].Log
	}
	epochs := logs.Epochs(found)
	if len(epochs) == 0 {
		return errors.New("the logs announce no start of a worker: none has started yet, the lines are rotated away or older than --since, or the agents are of an earlier release")
	}
	if o.epoch == all && o.rank == all {
		return write(streams.Out, o.output, epochs, func() string { return logs.Text(epochs) })
	}
	return o.print(ctx, c, streams, read, epochs, name)
}

// print prints the sections that are wanted, and a note about each log that is gone since it was read first.
func (o *logsOptions) print(ctx context.Context, c *cluster, streams genericiooptions.IOStreams, read []source, epochs []logs.Epoch, name string) error {
	filter, printed := o.filter(), false
	var gone error
	for i := range read {
		s := &read[i]
		if !filter.Takes(s.Marks) {
			continue
		}
		found, unread, err := c.printLog(ctx, s, o.sinceSeconds(), filter, streams.Out, epochs)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if unread != nil {
			gone = unread
			fmt.Fprintln(streams.ErrOut, "Note:", unread)
		}
		printed = printed || found
	}
	if !printed && gone != nil {
		return gone
	}
	if !printed {
		return fmt.Errorf("no log has this epoch and rank; `kubectl jobset logs %s` shows the epochs that the logs contain", name)
	}
	return nil
}
