/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/version"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// injectOptions are the flags of `kubectl jobset inject`.
type injectOptions struct {
	file, output, image, environment string
	all                              bool
}

func newInject(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o injectOptions
	command := &cobra.Command{
		Use:   "inject (-f FILE | NAME)",
		Short: "Show the Jobs that the manager builds from a JobSet, including agents",
		Long: `Show the Jobs that a JobSet becomes: with its defaults, and with the agent, its
token and its rules in the Pods of a JobSet that restarts in place. It is the code
by which the manager builds them. A file is read without a cluster, and is checked
as at admission with all feature gates on. The manager is assumed to have its
default configuration, except for what the flags set. Of Jobs that differ in their
index only the first is shown.`,
		Example: `  # What does this manifest become?
  kubectl jobset inject -f train.yaml

  # What is added to it?
  kubectl jobset inject -f train.yaml -o diff

  # The same of a JobSet in the cluster
  kubectl jobset inject train -o diff`,
		ValidArgsFunction: completeNames(flags),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.validate(args); err != nil {
				return err
			}
			sets, err := o.read(command.Context(), flags, streams.In, args)
			if err != nil {
				return err
			}
			for i, js := range sets {
				text, warnings, err := o.show(js)
				for _, warning := range warnings {
					fmt.Fprintln(streams.ErrOut, "Warning:", warning)
				}
				if err != nil {
					return fmt.Errorf("JobSet %s: %w", js.stored.Name, err)
				}
				if i > 0 && o.output == "yaml" {
					text = "---\n" + text
				}
				if _, err := fmt.Fprint(streams.Out, text); err != nil {
					return err
				}
			}
			return nil
		},
	}
	command.Flags().StringVarP(&o.file, "filename", "f", "", "file with JobSets, - for standard input; other objects in it are skipped")
	command.Flags().StringVarP(&o.output, "output", "o", "yaml", "yaml or diff: the Jobs, or what is added to the manifest")
	command.Flags().StringVar(&o.image, "agent-image", version.AgentImage, "image of the agent: inPlaceRestart.agentImage in the configuration of the manager")
	command.Flags().StringVar(&o.environment, "environment", "", "environment of JobSets that name none, Torch, Jax or None: inPlaceRestart.environment in the configuration of the manager")
	command.Flags().BoolVar(&o.all, "all", false, "show the Jobs of all indexes")
	return command
}

// environments are those of --environment.
var environments = append(slices.Clone(workerpod.Frameworks), jobset.NoEnvironment)

func (o *injectOptions) validate(args []string) error {
	switch {
	case o.output != "yaml" && o.output != "diff":
		return fmt.Errorf("--output is %q, it must be yaml or diff", o.output)
	case o.environment != "" && !slices.Contains(environments, jobset.WorkerEnvironment(o.environment)):
		return fmt.Errorf("--environment is %q, it must be %s, %s or %s", o.environment, jobset.TorchEnvironment, jobset.JaxEnvironment, jobset.NoEnvironment)
	case (o.file == "") == (len(args) == 0) || len(args) > 1:
		return errors.New("name one JobSet, or a file, as in: kubectl jobset inject -f FILE")
	}
	return nil
}

// read returns the JobSets of the file, or the one of that name in the cluster.
func (o *injectOptions) read(ctx context.Context, flags *genericclioptions.ConfigFlags, in io.Reader, args []string) ([]manifest, error) {
	if len(args) > 0 {
		c, err := connect(flags)
		if err != nil {
			return nil, err
		}
		js, err := c.jobSets.JobsetV1alpha2().JobSets(c.namespace).Get(ctx, args[0], metav1.GetOptions{})
		if err != nil {
			return nil, c.explain(err, args[0])
		}
		return []manifest{{written: js, stored: js}}, nil
	}
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("reading the namespace from kubeconfig and flags: %w", err)
	}
	text, err := readFile(o.file, in)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	sets, err := readManifests(text, namespace)
	if err == nil && len(sets) == 0 {
		err = fmt.Errorf("no %s of %s", jobset.Kind, jobset.GroupVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.file, err)
	}
	return sets, nil
}

func readFile(name string, in io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}

// show renders the Jobs, or what is new in them.
func (o *injectOptions) show(m manifest) (string, []string, error) {
	warnings, err := m.admit(o.image)
	if err != nil {
		return "", warnings, err
	}
	with := workerpod.Injection{Image: o.image, Environment: jobset.WorkerEnvironment(o.environment), LeaseReportsFrom: int64(configapi.DefaultLeaseReportsFrom)}
	after, err := renderJobs(m.stored, with, o.all)
	if err != nil || o.output == "yaml" {
		return strings.Join(after, "---\n"), warnings, err
	}
	// Another strategy adds nothing, nor does a JobSet that tolerates no faults.
	bare := m.written.DeepCopy()
	bare.Spec.FaultTolerance = nil
	if bare.Spec.FailurePolicy != nil {
		bare.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
	}
	before, err := renderJobs(bare, with, o.all)
	if err != nil {
		return "", warnings, err
	}
	return diffOf(before, after), warnings, nil
}
