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

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"golang.org/x/sync/errgroup"
)

// What one write costs the API server, alone and among others, while a group runs: of a Pod, as agents report, and of a
// Lease, which is about as small as objects are. It tells what reports would cost elsewhere, and whether a write costs more
// in a large group, or among many.

// writeCost is one series of writes.
type writeCost struct {
	scenario
	write
	inFlight int
	took     time.Duration
	cpu      float64 // of kube-apiserver, seconds for each
}

// write is a way to write an object.
type write struct {
	what, resource string
	patch          types.PatchType
	validation     string // fieldValidation of the request; empty is the default of the API server
}

// ways are the one of agents, others that would do, and the least.
var ways = []write{
	{"Pod, as agents do", "pods", types.StrategicMergePatchType, ""},
	{"Pod, fields not validated", "pods", types.StrategicMergePatchType, metav1.FieldValidationIgnore},
	{"Pod, JSON merge patch", "pods", types.MergePatchType, ""},
	{"Pod, JSON merge patch, fields not validated", "pods", types.MergePatchType, metav1.FieldValidationIgnore},
	{"Lease", "leases", types.MergePatchType, ""},
}

// inFlights are how many writes are on their way at a time: one for each of some hands, and about as many as flow
// control lets agents have.
var inFlights = []int{handsAtOnce, 200}

// reportsLike is what agents accept as the answer to a report.
const reportsLike = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// writes measures writes of each Pod of the group, and of as many Leases.
func (b *bench) writes(ctx context.Context, g *group) error {
	pods, err := g.Client.CoreV1().Pods(corev1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Pods: %w", err)
	}
	names := make([]string, 0, len(pods.Items))
	for i := range pods.Items {
		names = append(names, pods.Items[i].Name)
	}
	leases := g.Client.CoordinationV1().Leases(corev1.NamespaceDefault)
	if err := atOnce(len(names), func(i int) error {
		_, err := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: names[i]}}, metav1.CreateOptions{})
		return err
	}); err != nil {
		return fmt.Errorf("creating Leases: %w", err)
	}
	for _, inFlight := range inFlights {
		for _, way := range ways {
			client := g.Client.CoreV1().RESTClient()
			if way.resource == "leases" {
				client = g.Client.CoordinationV1().RESTClient()
			}
			cost := writeCost{scenario: g.scenario, write: way, inFlight: inFlight}
			if err := cost.measure(ctx, g, names, client); err != nil {
				return fmt.Errorf("writing %s: %w", way.resource, err)
			}
			b.writeCosts = append(b.writeCosts, cost)
			fmt.Printf("  %s, %d at a time: %.2f ms of kube-apiserver for each\n", way.what, inFlight, cost.cpu*1000)
		}
	}
	return leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

func (c *writeCost) measure(ctx context.Context, g *group, names []string, client rest.Interface) error {
	if err := g.quiet(ctx); err != nil {
		return err
	}
	before, err := g.usage(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench":"%d"}}}`, began.UnixNano())
	var all errgroup.Group
	all.SetLimit(c.inFlight)
	for _, name := range names {
		all.Go(func() error {
			request := client.Patch(c.write.patch).Namespace(corev1.NamespaceDefault).Resource(c.resource).Name(name)
			if c.validation != "" {
				request.Param("fieldValidation", c.validation)
			}
			return request.SetHeader("Accept", reportsLike).Body(patch).Do(ctx).Error()
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	c.took = time.Since(began)
	after, err := g.usage(ctx)
	if err != nil {
		return err
	}
	c.cpu = after.less(before, 1).less(g.idle, c.took.Seconds()).cpu[apiServer] / float64(len(names))
	return nil
}

func (b *bench) printWriteCosts(out io.Writer) {
	if len(b.writeCosts) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## What a write costs kube-apiserver while a group runs\n\nA patch of an annotation, by an administrator, whom no flow control holds back.\n\n")
	row(out, "workers", "strategy", "delays", "what is patched, how", "at a time", "milliseconds of CPU", "writes a second")
	rule(out, 7)
	for _, c := range b.writeCosts {
		row(out, c.workers, c.scenario.what(), c.delays, c.write.what, c.inFlight, two(c.cpu*1000), whole(float64(c.workers)/c.took.Seconds()))
	}
}
