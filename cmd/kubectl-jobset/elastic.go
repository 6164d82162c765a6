/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sigs.k8s.io/jobset/pkg/sizes"
)

// elasticOptions are the flags of `kubectl jobset elastic`.
type elasticOptions struct {
	output        string
	accelerators  []string
	allNamespaces bool
	why           string
}

func newElastic(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o elasticOptions
	command := &cobra.Command{
		Use:   "elastic",
		Short: "Show the sizes of elastic jobs, which of them gave or wait, and which accelerators are free",
		Long: `Show elastic jobs, the one that has least of what it wants first: the size that
each runs with and the one that it is to have, its bounds, and what the manager
said last about it. Above them, which accelerators are free on ready nodes.
With --why, what keeps the jobs of one JobSet from one more Pod.`,
		Example: `  # The elastic jobs of all namespaces
  kubectl jobset elastic -A

  # Those of one namespace, with another accelerator
  kubectl jobset elastic -n research --accelerators example.com/tpu

  # What keeps the JobSet llm from one more Pod?
  kubectl jobset elastic -n research --why llm

  # For a program: who waits?
  kubectl jobset elastic -A -o json | jq -r '.jobs[] | select(.state == "Waits") | .namespace + "/" + .jobSet'`,
		Args:              noJobSet("--why explains one JobSet, --namespace or --all-namespaces select the jobs that are shown"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(command *cobra.Command, _ []string) error { return o.run(command.Context(), flags, streams.Out) },
	}
	command.Flags().StringVarP(&o.output, "output", "o", "table", "table, json or yaml")
	command.Flags().StringSliceVar(&o.accelerators, "accelerators", []string{"nvidia.com/gpu"}, "the resources to count, as in elasticAutoscaling.accelerators of the manager's configuration")
	command.Flags().StringVar(&o.why, "why", "", "show what keeps the elastic jobs of this JobSet from one more Pod")
	command.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "show the jobs of all namespaces")
	return command
}

// run prints what was asked for.
func (o *elasticOptions) run(ctx context.Context, flags *genericclioptions.ConfigFlags, out io.Writer) error {
	if err := validateOutput(o.output); err != nil {
		return err
	}
	c, err := connect(flags)
	if err != nil {
		return err
	}
	if o.allNamespaces {
		c.namespace = metav1.NamespaceAll
	}
	in, err := c.readElastic(ctx)
	if err != nil {
		return err
	}
	in.Now = time.Now()
	for _, name := range o.accelerators {
		in.Accelerators = append(in.Accelerators, corev1.ResourceName(name))
	}
	report := sizes.Of(in)
	table := sizes.Text
	if o.why != "" {
		if report.Only(o.why); len(report.Jobs) == 0 {
			return fmt.Errorf("no elastic job of a JobSet %q that has not ended: kubectl jobset elastic -A shows all", o.why)
		}
		table = sizes.WhyText
	}
	return write(out, o.output, report, func() string { return table(&report) })
}

// readElastic makes four requests. It fails if it cannot list JobSets, and leaves out other kinds that the user
// may not read. Pods are those of all namespaces: whoever they belong to, they take room.
func (c *cluster) readElastic(ctx context.Context) (sizes.Input, error) {
	var in sizes.Input
	var err error
	if in.JobSets, err = c.list(ctx, c.namespace, metav1.ListOptions{}); err != nil {
		return in, err
	}
	nodes, err := list(ctx, &in.NodesUnread, "nodes", c.kubernetes.CoreV1().Nodes().List, metav1.ListOptions{})
	if err != nil {
		return in, err
	}
	in.Nodes = nodes.Items
	bound := metav1.ListOptions{FieldSelector: fields.OneTermNotEqualSelector("spec.nodeName", "").String()}
	pods, err := list(ctx, &in.PodsUnread, "the Pods of all namespaces", c.kubernetes.CoreV1().Pods(metav1.NamespaceAll).List, bound)
	in.Pods = pods.Items
	return in, err
}
