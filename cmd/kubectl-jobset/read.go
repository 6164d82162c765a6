/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/client-go/clientset/versioned"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// cluster reads the objects that a report needs.
type cluster struct {
	jobSets    versioned.Interface
	kubernetes kubernetes.Interface
	namespace  string
}

func connect(flags *genericclioptions.ConfigFlags) (*cluster, error) {
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("reading the namespace from kubeconfig and flags: %w", err)
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig and flags: %w", err)
	}
	jobSets, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building a client for JobSets: %w", err)
	}
	// Thousands of Pods are read much faster as protobuf, which custom resources do not have.
	compact := rest.CopyConfig(config)
	compact.ContentType = runtime.ContentTypeProtobuf
	compact.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	core, err := kubernetes.NewForConfig(compact)
	if err != nil {
		return nil, fmt.Errorf("building a client for Jobs, Pods and events: %w", err)
	}
	return &cluster{jobSets: jobSets, kubernetes: core, namespace: namespace}, nil
}

// read makes three requests, a fourth if the report needs Pods, a fifth if their agents report in Leases, and another if it needs
// events of Jobs. It fails if it cannot read the JobSet, and leaves out other kinds that the user may not read.
func (c *cluster) read(ctx context.Context, name string) (restarts.Input, error) {
	js, err := c.jobSets.JobsetV1alpha2().JobSets(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return restarts.Input{}, c.explain(err, name)
	}
	in := restarts.Input{JobSet: js}
	ours := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{jobset.JobSetNameKey: name}).String()}
	jobs, err := c.kubernetes.BatchV1().Jobs(c.namespace).List(ctx, ours)
	if in.JobsUnread, err = unlessForbidden(err); err != nil {
		return in, fmt.Errorf("listing the Jobs of JobSet %s/%s: %w", c.namespace, name, err)
	}
	in.Jobs = jobs.Items
	if restarts.NeedsPods(js) {
		pods, err := c.kubernetes.CoreV1().Pods(c.namespace).List(ctx, ours)
		if in.PodsUnread, err = unlessForbidden(err); err != nil {
			return in, fmt.Errorf("listing the Pods of JobSet %s/%s: %w", c.namespace, name, err)
		}
		in.Pods = pods.Items
	}
	if err := c.addReports(ctx, &in); err != nil {
		return in, err
	}
	if restarts.NeedsJobEvents(js) {
		about := metav1.ListOptions{FieldSelector: fields.Set{"involvedObject.kind": "Job", "reason": "FailedCreate"}.AsSelector().String()}
		events, err := c.kubernetes.CoreV1().Events(c.namespace).List(ctx, about)
		if _, err = unlessForbidden(err); err != nil { // EventsUnread below covers that too
			return in, fmt.Errorf("listing the events of the Jobs of JobSet %s/%s: %w", c.namespace, name, err)
		}
		in.JobEvents = events.Items
	}
	about := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("involvedObject.uid", string(js.UID)).String()}
	events, err := c.kubernetes.CoreV1().Events(c.namespace).List(ctx, about)
	if in.EventsUnread, err = unlessForbidden(err); err != nil {
		return in, fmt.Errorf("listing the events of JobSet %s/%s: %w", c.namespace, name, err)
	}
	in.Events = events.Items
	return in, nil
}

// addReports reads the Leases in which agents report, if they do (P157).
func (c *cluster) addReports(ctx context.Context, in *restarts.Input) error {
	if !restarts.NeedsLeases(in.Pods) {
		return nil
	}
	ours := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{jobset.JobSetUIDKey: string(in.JobSet.UID)}).String()}
	leases, err := c.kubernetes.CoordinationV1().Leases(c.namespace).List(ctx, ours)
	if in.LeasesUnread, err = unlessForbidden(err); err != nil {
		return fmt.Errorf("listing the Leases of the agents of JobSet %s/%s: %w", c.namespace, in.JobSet.Name, err)
	}
	if in.LeasesUnread == nil {
		in.Leases = facts.InList(leases.Items)
	}
	return nil
}

// named returns one JobSet, or those of the namespace if there is no name.
func (c *cluster) named(ctx context.Context, names []string) ([]jobset.JobSet, error) {
	if len(names) == 0 {
		return c.list(ctx, c.namespace, metav1.ListOptions{})
	}
	js, err := c.jobSets.JobsetV1alpha2().JobSets(c.namespace).Get(ctx, names[0], metav1.GetOptions{})
	if err != nil {
		return nil, c.explain(err, names[0])
	}
	return []jobset.JobSet{*js}, nil
}

// list returns JobSets, and says so if there can be none.
func (c *cluster) list(ctx context.Context, namespace string, options metav1.ListOptions) ([]jobset.JobSet, error) {
	list, err := c.jobSets.JobsetV1alpha2().JobSets(namespace).List(ctx, options)
	switch {
	case noSuchAPI(err):
		return nil, errNoSuchAPI
	case err != nil:
		return nil, fmt.Errorf("listing JobSets: %w", err)
	}
	return list.Items, nil
}

// unlessForbidden tells forbidden, which leaves a useful report, from other errors. A list that may not be read is empty.
func unlessForbidden(err error) (unread, fatal error) {
	if apierrors.IsForbidden(err) {
		return err, nil
	}
	return nil, err
}

// explain returns an error that says what to do about a JobSet that cannot be read.
func (c *cluster) explain(err error, name string) error {
	switch {
	case noSuchAPI(err):
		return errNoSuchAPI
	case apierrors.IsNotFound(err):
		return fmt.Errorf("there is no JobSet %q in namespace %q; --namespace chooses another", name, c.namespace)
	default:
		return fmt.Errorf("reading JobSet %s/%s: %w", c.namespace, name, err)
	}
}

var errNoSuchAPI = fmt.Errorf("this cluster does not serve %s: install JobSet, or choose another cluster with --context", jobset.GroupVersion)

// noSuchAPI reports whether the API server does not serve a path, as opposed to an object that does not exist.
func noSuchAPI(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// completeNames completes the names of the JobSets of the namespace.
func completeNames(flags *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := connect(flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.names(command.Context()), cobra.ShellCompDirectiveNoFileComp
	}
}

// names returns the names of JobSets, none on an error: a completion cannot show errors.
func (c *cluster) names(ctx context.Context) []string {
	list, err := c.list(ctx, c.namespace, metav1.ListOptions{Limit: 500})
	if err != nil {
		return nil
	}
	var names []string
	for i := range list {
		names = append(names, list[i].Name)
	}
	return names
}
