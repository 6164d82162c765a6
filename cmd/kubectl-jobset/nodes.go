/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/pkg/restarts"
)

// nodesOptions are the flags of `kubectl jobset nodes`.
type nodesOptions struct {
	output        string
	limit         int
	allNamespaces bool
}

func newNodes(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o nodesOptions
	command := &cobra.Command{
		Use:   "nodes [NAME]",
		Short: "Show the nodes on which restarts of JobSets began, and why",
		Long: `Show the nodes on which restarts had their first cause, the one with the most
failures first, with the JobSets, the causes and the times: of one JobSet, of a
namespace, or of all that you may read. Known are restarts whose events are left, for an hour by default,
and what JobSets with faultTolerance.avoidNodes remember in their status.`,
		Example: `  # The nodes that failed JobSets of any namespace
  kubectl jobset nodes -A

  # The nodes that failed JobSet train
  kubectl jobset nodes train

  # All failures that are known in one namespace
  kubectl jobset nodes -n research --limit 0

  # For a program: nodes that failed two JobSets or more
  kubectl jobset nodes -A -o json | jq -r '.[] | select(.jobSets | length > 1) | .name'`,
		ValidArgsFunction: completeNames(flags),
		RunE: func(command *cobra.Command, names []string) error {
			return o.run(command.Context(), flags, streams, names)
		},
	}
	command.Flags().StringVarP(&o.output, "output", "o", "table", "table, json or yaml")
	command.Flags().IntVar(&o.limit, "limit", 5, "how many failures of a node to show in a table, newest first; 0 means all")
	command.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "include the JobSets of all namespaces")
	return command
}

func (o *nodesOptions) run(ctx context.Context, flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams, names []string) error {
	if err := validateLimited(o.output, o.limit); err != nil {
		return err
	}
	if err := oneOrNone(names, o.allNamespaces); err != nil {
		return err
	}
	c, err := connect(flags)
	if err != nil {
		return err
	}
	if o.allNamespaces {
		c.namespace = metav1.NamespaceAll
	}
	now := time.Now()
	failures, err := c.readNodeFailures(ctx, names, now)
	if err != nil {
		return err
	}
	nodes := restarts.FailingNodes(failures)
	return write(streams.Out, o.output, nodes, func() string { return restarts.NodesText(nodes, o.limit, now) })
}

// readNodeFailures makes one request, for the JobSet that is named or all of the namespace.
func (c *cluster) readNodeFailures(ctx context.Context, names []string, now time.Time) ([]restarts.NodeFailure, error) {
	jobSets, err := c.named(ctx, names)
	if err != nil {
		return nil, err
	}
	var failures []restarts.NodeFailure
	for i := range jobSets {
		js := &jobSets[i]
		failures = append(failures, restarts.NodeFailuresOf(js, restarts.History(js), now)...)
	}
	return failures, nil
}
