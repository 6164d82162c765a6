/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/pkg/version"
)

func newRoot(streams genericiooptions.IOStreams) *cobra.Command {
	flags := genericclioptions.NewConfigFlags(true)
	root := &cobra.Command{
		Use:   "kubectl-jobset",
		Short: "Look at JobSets",
		Long:  "Look at JobSets, beyond what `kubectl get` and `kubectl describe` show.",
		Example: `  # How does JobSet train restart, and which workers are not back?
  kubectl jobset restarts train

  # What did the time of JobSet train go to, and are its limits too short?
  kubectl jobset progress train

  # Which elastic jobs have least of what they want, and which accelerators are free?
  kubectl jobset elastic -A

  # On which nodes did restarts begin, and why?
  kubectl jobset nodes -A

  # What did rank 3 print in epoch 7?
  kubectl jobset logs train --epoch 7 --rank 3

  # A web page on this machine that shows all of it live
  kubectl jobset dashboard train

  # What does this manifest become, agents included?
  kubectl jobset inject -f train.yaml`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl jobset"},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	flags.AddFlags(root.PersistentFlags())
	root.AddCommand(newRestarts(flags, streams), newProgress(flags, streams), newNodes(flags, streams), newElastic(flags, streams), newInject(flags, streams), newLogs(flags, streams), newDashboard(flags, streams), newVersion(streams))
	return root
}

func newVersion(streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this plugin",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			fmt.Fprintln(streams.Out, version.String())
		},
	}
}

// oneJobSet refuses arguments that are not the name of one JobSet.
func oneJobSet(command *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one JobSet, as in: kubectl jobset %s NAME; there are %d names", command.Name(), len(args))
	}
	return nil
}

// oneOrNone refuses arguments that are not the name of one JobSet, or no name, and a name without a namespace.
func oneOrNone(names []string, allNamespaces bool) error {
	switch {
	case len(names) > 1:
		return fmt.Errorf("name one JobSet, or none; there are %d names", len(names))
	case len(names) == 1 && allNamespaces:
		return errors.New("a JobSet is in one namespace: leave out its name, or --all-namespaces")
	}
	return nil
}

// noJobSet refuses arguments of a command that takes none, and says what chooses instead.
func noJobSet(instead string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unexpected argument %q: %s", args[0], instead)
		}
		return nil
	}
}
