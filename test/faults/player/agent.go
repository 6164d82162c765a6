/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package player

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/jobset/agent"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/simnode"
)

// The exit codes that a kubelet sees.
const (
	exitSetting = 64
	exitCrashed = 137
	exitStopped = 143
)

var (
	errCrashed = errors.New("crashed on purpose")
	errFailed  = errors.New("failed on purpose")
)

// runAgent is the agent container: the agent itself, with the environment that the
// node made for it, in this process instead of one of its own.
func (p *Players) runAgent(ctx context.Context, c simnode.FuncContainer) int {
	cfg, err := agent.FromEnv(c.LookupEnv)
	if err != nil {
		p.wrong("agent of Pod %s: %v", c.Pod.Name, err)
		return exitSetting
	}
	ctx, crash := context.WithCancelCause(ctx)
	defer crash(nil)
	process := p.agentStarts(c.Pod, len(cfg.Containers) > 0, crash)
	defer p.agentEnds(process)

	conns := &sockets{conns: map[net.Conn]struct{}{}}
	defer conns.close()
	api, err := p.connection(cfg.Kubeconfig, c.Pod.Name, conns, process)
	if err != nil {
		p.wrong("agent of Pod %s: %v", c.Pod.Name, err)
		return exitSetting
	}
	deps := agent.Deps{API: api}
	if !process.rounds {
		deps.Barrier = &recorded{Barrier: agent.NewProbeBarrier(cfg.BarrierAddress, cfg.BarrierPort), released: func() { p.lifts(process) }}
	}
	outcome, err := agent.Run(ctx, cfg, deps)
	switch {
	case errors.Is(context.Cause(ctx), errCrashed):
		return exitCrashed
	case err != nil:
		p.wrong("agent of Pod %s: %v", c.Pod.Name, err)
		return exitSetting
	case outcome.Kind == agent.Stopped:
		return exitStopped
	}
	return cfg.RestartExitCode
}

// ClientName is how the agent of a Pod calls itself.
func ClientName(pod string) string { return "agent/" + pod }

// connection is the one of the kubeconfig, with a transport that nobody else uses and
// that tells what the agent reports.
func (p *Players) connection(kubeconfig, pod string, conns *sockets, process *agentProcess) (*rest.Config, error) {
	api, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(api.CAData) {
		return nil, errors.New("reading the kubeconfig: it has no authority")
	}
	api.UserAgent = ClientName(pod)
	api.TLSClientConfig = rest.TLSClientConfig{}
	own := utilnet.SetTransportDefaults(&http.Transport{
		DialContext:     conns.dial,
		TLSClientConfig: &tls.Config{RootCAs: authority, MinVersion: tls.VersionTLS12},
	})
	api.Transport = reports{next: own, tell: func(epoch int32) { p.chooses(process, epoch) }}
	return api, nil
}

// reports sees which epoch an agent reports.
type reports struct {
	next http.RoundTripper
	tell func(epoch int32)
}

func (r reports) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPatch {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		request = request.Clone(request.Context())
		request.Body = io.NopCloser(bytes.NewReader(body))
		var patch struct {
			Metadata struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(body, &patch); err != nil {
			return nil, fmt.Errorf("reading the patch of an agent: %w", err)
		}
		// An agent whose Pod is to be replaced tells that and no epoch (P70).
		if text, tells := patch.Metadata.Annotations[jobset.EpochKey]; tells {
			epoch, err := strconv.ParseInt(text, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("reading the epoch of an agent: %w", err)
			}
			r.tell(int32(epoch))
		}
	}
	return r.next.RoundTrip(request)
}

// recorded is a barrier that tells when it is released.
type recorded struct {
	agent.Barrier
	released func()
}

func (r *recorded) Release() {
	r.released()
	r.Barrier.Release()
}
