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

	"golang.org/x/sync/errgroup"
)

// What one write costs the API server, alone and among others, while a group runs: of a Pod, as agents report, and of a
// Lease, which is about as small as objects are. It tells what reports would cost elsewhere, and whether a write costs more
// in a large group, or among many.

// writeCost is all writes of one kind.
type writeCost struct {
	scenario
	write
	inFlight, count int
	took            time.Duration
	cpu             float64 // of kube-apiserver, seconds
}

// write is a way to write an object.
type write struct {
	what, resource string
	patch          types.PatchType
	validation     string // fieldValidation of the request; empty is the default of the API server
}

// ways are the one of agents, others that would do, and the least.
var ways = []write{
	{"Pod, as agents do", "pods", types.MergePatchType, ""},
	{"Pod, fields not validated", "pods", types.MergePatchType, metav1.FieldValidationIgnore},
	{"Pod, strategic merge patch", "pods", types.StrategicMergePatchType, ""},
	{"Pod, strategic merge patch, fields not validated", "pods", types.StrategicMergePatchType, metav1.FieldValidationIgnore},
	{"Lease", "leases", types.MergePatchType, ""},
}

// inFlights are how many writes are on their way at a time: one for each of some hands, and about as many as flow
// control lets agents have.
var inFlights = []int{handsAtOnce, 200}

// writtenAtMost is how many Pods are written in each of as many rounds as there are ways.
const writtenAtMost = 400

// reportsLike is what agents accept as the answer to a report.
const reportsLike = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// writes measures writes of each Pod of the group, and of as many Leases.
func (b *bench) writes(ctx context.Context, g *group) error {
	pods, err := g.Client.CoreV1().Pods(corev1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Pods: %w", err)
	}
	names := make([]string, 0, writtenAtMost)
	for i := range pods.Items[:min(writtenAtMost, len(pods.Items))] {
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
		costs := make([]writeCost, len(ways))
		// Each is the first once, the second once and so on: what comes first after a pause costs more.
		for round := range ways {
			for place := range ways {
				i := (place + round) % len(ways)
				costs[i].scenario, costs[i].write, costs[i].inFlight = g.scenario, ways[i], inFlight
				if err := costs[i].measure(ctx, g, names); err != nil {
					return fmt.Errorf("writing %s: %w", ways[i].resource, err)
				}
			}
		}
		for _, cost := range costs {
			fmt.Printf("  %s, %d at a time: %.2f ms of kube-apiserver for each\n", cost.write.what, inFlight, cost.each()*1000)
		}
		b.writeCosts = append(b.writeCosts, costs...)
	}
	return leases.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// each is the CPU of the API server for one write.
func (c *writeCost) each() float64 { return c.cpu / float64(c.count) }

func (c *writeCost) measure(ctx context.Context, g *group, names []string) error {
	client := g.Client.CoreV1().RESTClient()
	if c.resource == "leases" {
		client = g.Client.CoordinationV1().RESTClient()
	}
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
	took := time.Since(began)
	after, err := g.usage(ctx)
	if err != nil {
		return err
	}
	c.cpu += after.less(before, 1).less(g.idle, took.Seconds()).cpu[apiServer]
	c.took += took
	c.count += len(names)
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
		row(out, c.workers, c.scenario.what(), c.delays, c.write.what, c.inFlight, two(c.each()*1000), whole(float64(c.count)/c.took.Seconds()))
	}
}
