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
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/compare"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// compareOptions are the flags of `kubectl jobset compare`.
type compareOptions struct {
	file, output, exec, container string
	restarts                      int32
	between, timeout              time.Duration
	keep                          bool
	allow                         compare.Allow
	rate                          compare.Rate
}

func newCompare(flags *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	var o compareOptions
	command := &cobra.Command{
		Use:   "compare -f FILE",
		Short: "Measure how long your JobSet takes to restart, with each strategy",
		Long: `Run a JobSet of yours on your cluster, once with each strategy: restart in place
with mode Process and with mode Container, and Recreate. Each time a copy of it is
created under a generated name, waits until all workers run, makes one worker fail,
waits until all run again, and is deleted at the end, after an interrupt too. What is
measured is printed as a table, with the phases of a restart.

The copies run your program: they take as many nodes as it does, one copy after the
other, and write where it writes. A JobSet with the name of a queue or with claims
is refused unless you allow it.`,
		Example: `  # How much faster does this JobSet restart in place than with Recreate?
  kubectl jobset compare -f train.yaml

  # The program fails, instead of losing its Pod; node hours at 20 failures a day on 512 nodes
  kubectl jobset compare -f train.yaml --exec 'pkill -INT -x python3' --failures-per-day 20 --nodes 512`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			js, err := o.read(flags, streams.In)
			if err != nil {
				return err
			}
			c, err := connect(flags)
			if err != nil {
				return err
			}
			c.namespace = js.Namespace
			x := &comparison{cluster: c, options: &o, jobSet: js, errOut: streams.ErrOut, kubectl: connectionFlags(command)}
			report, err := x.run(command.Context())
			if len(report.Rows) > 0 {
				err = errors.Join(err, write(streams.Out, o.output, report, report.Text))
			}
			return err
		},
	}
	command.Flags().StringVarP(&o.file, "filename", "f", "", "file with one JobSet, - for standard input; other objects in it are skipped, and must exist")
	command.Flags().StringVarP(&o.output, "output", "o", "table", "table, json or yaml")
	command.Flags().StringVar(&o.exec, "exec", "", "shell command that makes a worker fail, run by kubectl exec in its container; without it, its Pod is deleted")
	command.Flags().StringVarP(&o.container, "container", "c", "", "container for --exec; by default the first one of the Pod")
	command.Flags().Int32Var(&o.restarts, "restarts", 3, "how many failures are measured with each strategy")
	command.Flags().DurationVar(&o.between, "between", 65*time.Second, "how long all workers run before one is made to fail; below a minute a group that restarts in place waits longer after each failure")
	command.Flags().DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long to wait for workers to run, and to be gone")
	command.Flags().BoolVar(&o.keep, "keep", false, "keep the copies; they continue to run, and occupy their nodes")
	command.Flags().BoolVar(&o.allow.Queue, "allow-queue", false, "compare a JobSet with the name of a queue: the copies wait in that queue")
	command.Flags().BoolVar(&o.allow.Claims, "allow-claims", false, "compare a JobSet with claims: the copies write to the same volumes")
	command.Flags().Float64Var(&o.rate.FailuresPerDay, "failures-per-day", 0, "failures per day on all nodes, from which node hours are computed; 0: no node hours")
	command.Flags().IntVar(&o.rate.Nodes, "nodes", 0, "nodes that wait during a restart; 0: as many as the copies ran on")
	return command
}

func (o *compareOptions) validate() error {
	switch {
	case o.file == "":
		return errors.New("name a file, as in: kubectl jobset compare -f FILE")
	case o.restarts < 1 || o.restarts > 1000:
		return fmt.Errorf("--restarts is %d, it must be from 1 to 1000", o.restarts)
	case o.between < 0 || o.timeout <= 0:
		return errors.New("--between must be 0 or more, --timeout more than 0")
	case !(o.rate.FailuresPerDay >= 0 && o.rate.FailuresPerDay < 1e9) || o.rate.Nodes < 0:
		return errors.New("--failures-per-day and --nodes must be 0 or more")
	case o.container != "" && o.exec == "":
		return errors.New("--container is for --exec")
	}
	return validateOutput(o.output)
}

// read returns the JobSet of the file as it is written, if it may be compared.
func (o *compareOptions) read(flags *genericclioptions.ConfigFlags, in io.Reader) (*jobset.JobSet, error) {
	inject := injectOptions{file: o.file}
	sets, err := inject.read(context.Background(), flags, in, nil)
	if err != nil {
		return nil, err
	}
	if len(sets) != 1 {
		return nil, fmt.Errorf("%s: there are %d JobSets, there must be one", o.file, len(sets))
	}
	js := sets[0].written
	if refusals := compare.Refusals(js, o.allow); len(refusals) > 0 {
		return nil, fmt.Errorf("JobSet %s is not compared: %s", js.Name, strings.Join(refusals, "; "))
	}
	return js, nil
}

// connectionFlags are the flags by which another kubectl reaches the same cluster as the same user.
func connectionFlags(command *cobra.Command) []string {
	var args []string
	// Visit would find none: it walks the flags that this set has parsed, and the command parses them with its own set.
	command.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed || f.Name == "namespace" {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, value := range list.GetSlice() {
				args = append(args, "--"+f.Name+"="+value)
			}
			return
		}
		args = append(args, "--"+f.Name+"="+f.Value.String())
	})
	return args
}

// checkRights asks the API server for all that a comparison does, before anything is created.
func (x *comparison) checkRights(ctx context.Context) error {
	needed := []right{
		{jobset.GroupVersion.Group, "jobsets", "", "create"}, {jobset.GroupVersion.Group, "jobsets", "", "list"},
		{jobset.GroupVersion.Group, "jobsets", "", "watch"}, {jobset.GroupVersion.Group, "jobsets", "", "delete"},
		{"", "pods", "", "list"}, {"", "pods", "", "watch"}, {"", "pods", "log", "get"},
	}
	if x.options.exec != "" {
		needed = append(needed, right{"", "pods", "exec", "create"}, right{"", "pods", "", "get"}) // the latter is kubectl's
	} else {
		needed = append(needed, right{"", "pods", "", "delete"})
	}
	missing, err := x.missing(ctx, needed...)
	if err != nil {
		return err
	}
	if missing != "" {
		return fmt.Errorf("nothing was created: in namespace %s you may not %s", x.namespace, missing)
	}
	x.noLeases, err = x.missing(ctx, right{coordinationv1.GroupName, "leases", "", "list"}, right{coordinationv1.GroupName, "leases", "", "watch"})
	return err
}

type right struct{ group, resource, subresource, verb string }

// missing names those rights that the user does not have, as the API server says.
func (x *comparison) missing(ctx context.Context, needed ...right) (string, error) {
	var missing []string
	for _, r := range needed {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: x.namespace, Group: r.group, Resource: r.resource, Subresource: r.subresource, Verb: r.verb},
		}}
		answer, err := x.kubernetes.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return "", fmt.Errorf("asking for rights in namespace %s: %w", x.namespace, err)
		}
		if !answer.Status.Allowed {
			missing = append(missing, r.verb+" "+strings.TrimSuffix(r.resource+"/"+r.subresource, "/"))
		}
	}
	return strings.Join(missing, ", "), nil
}

// hopeless returns why it is of no use to wait for workers. Whether agents report in Leases is a setting of the manager, which the user
// may not be able to read: the first Pod of a copy shows it.
func (x *comparison) hopeless(group compare.Group) error {
	if x.noLeases != "" && slices.ContainsFunc(group.Pods, func(pod *corev1.Pod) bool { return workerpod.ReportsInLease(&pod.Spec) }) {
		return fmt.Errorf("its agents report in Leases, and in namespace %s you may not %s", x.namespace, x.noLeases)
	}
	return group.Over()
}
