/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package plane runs a control plane whose parts can be taken away: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler and the managers, each
// a process that can be killed and started again while the others go on. (The
// cluster of package cluster is simpler to start and only stops as a whole.)
//
// Managers reach the API server by addresses that the caller gives, such as those
// of a proxy. Everything else reaches it directly.
package plane

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
)

const (
	adminToken = "admin"
	patience   = time.Minute
)

// Options configures Start.
type Options struct {
	// Assets is the directory of the control plane's binaries, kubectl included.
	Assets string
	// Dir is a directory for logs, keys and data. It must exist.
	Dir string
}

// Plane is a control plane that runs.
type Plane struct {
	// URL of the API server, CA its authority, Admin and Kubeconfig (a file) all rights.
	URL        string
	CA         []byte
	Admin      *rest.Config
	Kubeconfig string
	Client     kubernetes.Interface

	opts    Options
	keys    *keys
	etcdURL string

	etcd, apiServer, controllerManager, scheduler *process.Process
	managers                                      []*Manager
}

// Start starts everything but managers. What it started is stopped again if it fails.
func Start(ctx context.Context, opts Options) (_ *Plane, err error) {
	p := &Plane{opts: opts, Kubeconfig: filepath.Join(opts.Dir, "admin.kubeconfig")}
	defer func() {
		if err != nil {
			p.Stop()
		}
	}()
	if p.keys, err = makeKeys(filepath.Join(opts.Dir, "keys")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(opts.Dir, "tokens.csv"), []byte(adminToken+",admin,admin,system:masters\n"), 0o600); err != nil {
		return nil, fmt.Errorf("writing the token of the administrator: %w", err)
	}
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	p.URL, p.CA = "https://"+address, p.keys.pem
	p.Admin = &rest.Config{Host: p.URL, BearerToken: adminToken, TLSClientConfig: rest.TLSClientConfig{CAData: p.CA}, QPS: -1}
	if err := cluster.WriteKubeconfig(p.Kubeconfig, p.URL, p.CA, adminToken); err != nil {
		return nil, err
	}
	if p.Client, err = kubernetes.NewForConfig(p.Admin); err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	if err := p.startEtcd(); err != nil {
		return nil, err
	}
	if err := p.StartAPIServer(ctx); err != nil {
		return nil, err
	}
	return p, p.startControllers()
}

// Certificate is one for this machine, verified by CA.
func (p *Plane) Certificate() tls.Certificate { return p.keys.certificate }

func (p *Plane) startEtcd() error {
	clients, err := process.FreeAddress()
	if err != nil {
		return err
	}
	peers, err := process.FreeAddress()
	if err != nil {
		return err
	}
	p.etcdURL = "http://" + clients
	p.etcd, err = p.start("etcd", "--data-dir="+filepath.Join(p.opts.Dir, "etcd"),
		"--listen-client-urls="+p.etcdURL, "--advertise-client-urls="+p.etcdURL,
		"--listen-peer-urls=http://"+peers, "--initial-advertise-peer-urls=http://"+peers, "--initial-cluster=default=http://"+peers,
		"--unsafe-no-fsync", "--log-level=error")
	return err
}

// StartAPIServer starts the API server, also again, and waits until it is ready.
func (p *Plane) StartAPIServer(ctx context.Context) error {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.URL, "https://"))
	if err != nil {
		return fmt.Errorf("reading the URL of the API server: %w", err)
	}
	p.apiServer, err = p.start("kube-apiserver",
		"--etcd-servers="+p.etcdURL, "--bind-address="+process.Localhost, "--advertise-address="+process.Localhost, "--secure-port="+port,
		"--tls-cert-file="+filepath.Join(p.keys.dir, "tls.crt"), "--tls-private-key-file="+filepath.Join(p.keys.dir, "tls.key"),
		"--service-account-issuer="+p.URL, "--service-account-key-file="+p.keys.accounts, "--service-account-signing-key-file="+p.keys.accounts,
		"--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC", "--token-auth-file="+filepath.Join(p.opts.Dir, "tokens.csv"),
		// EndpointSlices refuse loopback addresses.
		"--endpoint-reconciler-type=none",
		"--cert-dir="+p.opts.Dir)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-p.apiServer.Done():
			return false, fmt.Errorf("kube-apiserver has ended: %s", process.Tail(p.apiServer.LogFile, 2<<10))
		default:
		}
		status := 0
		p.Client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).StatusCode(&status)
		return status == 200, nil
	})
}

// CrashAPIServer kills the API server.
func (p *Plane) CrashAPIServer() { p.apiServer.Crash() }

// RestartControllerManager kills kube-controller-manager and starts it again. Its Job
// controller then forgets that it waits with the next Pod for 10 s times two to the number
// of Pods that failed before.
func (p *Plane) RestartControllerManager() error {
	p.controllerManager.Crash()
	return p.startControllerManager()
}

func (p *Plane) startControllerManager() (err error) {
	p.controllerManager, err = p.start("kube-controller-manager", "--kubeconfig="+p.Kubeconfig,
		"--service-account-private-key-file="+p.keys.accounts, "--root-ca-file="+filepath.Join(p.keys.dir, "tls.crt"),
		"--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller",
		"--leader-elect=false", "--secure-port=0")
	return err
}

func (p *Plane) startControllers() (err error) {
	if err := p.startControllerManager(); err != nil {
		return err
	}
	p.scheduler, err = p.start("kube-scheduler", "--kubeconfig="+p.Kubeconfig, "--leader-elect=false", "--secure-port=0")
	return err
}

func (p *Plane) start(name string, args ...string) (*process.Process, error) {
	return start(p.opts.Dir, name, filepath.Join(p.opts.Assets, name), args...)
}

// start starts a program which knows nothing of this machine's user.
func start(dir, name, program string, args ...string) (*process.Process, error) {
	return process.Start(process.Command{Dir: dir, Name: name, Program: program, Args: args, Env: []string{"HOME=" + dir, "TMPDIR=" + dir}})
}

// Kubectl runs kubectl as the administrator.
func (p *Plane) Kubectl(ctx context.Context, args ...string) error {
	_, err := process.Kubectl(ctx, p.opts.Assets, p.Kubeconfig, args...)
	return err
}

// Stop stops everything that was started.
func (p *Plane) Stop() {
	for _, manager := range p.managers {
		manager.Stop()
	}
	for _, running := range []*process.Process{p.scheduler, p.controllerManager, p.apiServer, p.etcd} {
		if running != nil {
			running.Crash() // the API server would wait for every watch, and nothing has to be kept
		}
	}
	p.managers, p.scheduler, p.controllerManager, p.apiServer, p.etcd = nil, nil, nil, nil, nil
}
