/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
	"sigs.k8s.io/jobset/test/simnode"
)

const (
	agentImage, workerImage = "bench/agent", "bench/worker"

	// podsPerNode is few enough for the Pods of a group to see many different ticks of a
	// kubelet, and many enough that the nodes' own heartbeats do not count.
	podsPerNode = 50
	leastNodes  = 10
	// mostNodes is how many ranges of addresses there are for Pods; above, each node has more of them.
	mostNodes = 190
)

// delays are what the simulated kubelets add.
type delays string

const (
	// realDelays are those measured on a kubelet: see package simnode.
	realDelays delays = "kubelet"
	// noDelays leave what we and the API server need. A second in a Pod's spec is then 50 ms,
	// because the period of a startup probe cannot be less than one.
	noDelays delays = "zero"
)

func (d delays) timings() simnode.Timings {
	if d == realDelays {
		return simnode.RealisticTimings()
	}
	return simnode.Timings{
		// No delay, but how long a container that does not stop is waited for.
		KillGrace:         2 * time.Second,
		SyncRetry:         time.Second,
		HeartbeatInterval: 10 * time.Second,
		Second:            50 * time.Millisecond,
	}
}

// nodes are the simulated nodes of one scenario.
type nodes struct {
	plane   *plane
	names   []string
	runtime *simnode.FuncRuntime
	stop    context.CancelFunc
	lost    []context.CancelFunc // by node
	running sync.WaitGroup
}

// startNodes starts nodes for this many Pods. Their kubelets tick at different times.
func (p *plane) startNodes(f *fleet, d delays, pods int) (*nodes, error) {
	ctx, cancel := context.WithCancel(context.Background())
	n := &nodes{plane: p, runtime: f.runtime(), stop: cancel}
	count := min(mostNodes, max(leastNodes, (pods+podsPerNode-1)/podsPerNode))
	timings := d.timings()
	for i := range count {
		name := fmt.Sprintf("node-%s-%d-%d", d, time.Now().UnixMilli(), i)
		client, err := p.nodeClient(name)
		if err != nil {
			cancel()
			return nil, err
		}
		node, err := simnode.New(simnode.Options{
			Client: client, Name: name, Runtime: n.runtime, RootDir: p.dir, Timings: &timings,
			PodCIDR:   fmt.Sprintf("127.%d.0.0/16", 64+i),
			EnvFor:    cluster.PodAddress,
			DialProbe: f.dialProbe(),
			Tokens:    &simnode.TokenOptions{ServerURL: p.Config.Host, CAData: p.Config.CAData},
		})
		if err != nil {
			cancel()
			return nil, err
		}
		n.names = append(n.names, name)
		on, lose := context.WithCancel(ctx)
		n.lost = append(n.lost, lose)
		n.running.Go(func() {
			if process.Pause(on, time.Duration(i)*time.Second/time.Duration(count)) == nil {
				_ = node.Run(on) // it ends with the context
			}
		})
	}
	return n, nil
}

// lose switches a node off: its containers end, and nobody says so.
func (n *nodes) lose(i int) { n.lost[i]() }

// nodeClient is a client as a kubelet has it: the user is the node, so that each node has queues
// of its own in the API server.
func (p *plane) nodeClient(name string) (kubernetes.Interface, error) {
	config := rest.CopyConfig(p.Config)
	config.UserAgent = "simnode"
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:node:" + name, Groups: []string{nodesGroup}}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = config.ContentType + ",application/json"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &turnstile{next: next, seats: p.seats} })
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building the client of node %s: %w", name, err)
	}
	return client, nil
}

// seatsPerCPU is how many requests of nodes may be on their way at a time. On a real cluster a
// thousand kubelets meet an API server that has the cores for it. Here it shares a few with
// everything else: what it could not finish in time would be sent again, and again.
const seatsPerCPU = 8

// enoughTime is what a request is given at least once it has a seat.
const enoughTime = 6 * time.Second

// turnstile lets this many requests through at a time; watches, which last, are not counted.
type turnstile struct {
	next  http.RoundTripper
	seats chan struct{}
}

// RoundTrip implements http.RoundTripper.
func (t *turnstile) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("watch") != "" {
		return t.next.RoundTrip(request)
	}
	select {
	case t.seats <- struct{}{}:
	case <-request.Context().Done():
		return nil, context.Cause(request.Context())
	}
	defer func() { <-t.seats }()
	// Who has waited so long that the answer might come too late tries again: a request that
	// is given up half-way costs the API server as much as one that is not.
	if end, ok := request.Context().Deadline(); ok && time.Until(end) < enoughTime {
		return nil, context.DeadlineExceeded
	}
	return t.next.RoundTrip(request)
}

// end stops the nodes and removes them from the API.
func (n *nodes) end(ctx context.Context) error {
	n.stop()
	n.running.Wait()
	n.runtime.Wait()
	for _, name := range n.names {
		if err := n.plane.Client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("deleting simulated node %s: %w", name, err)
		}
	}
	return nil
}
