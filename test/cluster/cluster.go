/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cluster runs an embedded Kubernetes control plane on this machine:
// etcd, kube-apiserver and, if asked for, kube-controller-manager and kube-scheduler as
// processes, reached over the loopback interface. Nodes come from package simnode.
// Demo, benchmarks and integration suites all start theirs here, but for those that take
// single parts of it away: see package faults/plane.
//
// What loopback cannot have is left out: EndpointSlices refuse loopback
// addresses, so their controllers are off and Services resolve to nothing, and
// webhooks are reached by URL.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"sigs.k8s.io/jobset/test/process"
)

// Options configures a Cluster.
type Options struct {
	// Assets is the directory of the control plane's binaries, kubectl included.
	Assets string
	// Root is the root of this repository.
	Root string
	// Dir is a directory for logs, keys and kubeconfigs. It must exist.
	Dir string
	// Controllers are started with these arguments. nil: neither kube-controller-manager
	// nor kube-scheduler runs, and Pods need no service account.
	Controllers *Controllers
	// Environment changes what is started and installed: by default etcd and
	// kube-apiserver, the CRD and the webhooks.
	Environment func(*envtest.Environment)
}

// Controllers are further arguments of the controllers of the control plane.
type Controllers struct{ Manager, Scheduler []string }

// startTimeout is for a machine that has other things to do.
const startTimeout = 2 * time.Minute

// Cluster is a control plane that runs. Its webhooks answer once a manager runs.
type Cluster struct {
	// Config and Kubeconfig, a file, are those of an administrator.
	Config     *rest.Config
	Kubeconfig string
	Client     kubernetes.Interface
	// CAFile holds the certificate authority of the API server.
	CAFile string

	opts        Options
	env         *envtest.Environment
	processes   []*process.Process
	controllers []*process.Process
}

// Start starts the control plane and installs what the options say. What it
// started is stopped again if it fails.
func Start(opts Options) (_ *Cluster, err error) {
	c := &Cluster{opts: opts, Kubeconfig: filepath.Join(opts.Dir, "admin.kubeconfig"), CAFile: filepath.Join(opts.Dir, "ca.crt")}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if err := os.MkdirAll(c.certs(), 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the API server: %w", err)
	}
	c.env = &envtest.Environment{
		BinaryAssetsDirectory:    opts.Assets,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  startTimeout,
		CRDDirectoryPaths:        []string{c.path("config/components/crd/bases")},
		ErrorIfCRDPathMissing:    true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{c.path("config/components/webhook/manifests.yaml")},
		},
	}
	apiServer := c.env.ControlPlane.GetAPIServer()
	apiServer.CertDir = c.certs()
	if opts.Controllers != nil {
		// Pods have service accounts, as on a real cluster.
		apiServer.Configure().Disable("disable-admission-plugins")
	}
	if opts.Environment != nil {
		opts.Environment(c.env)
	}
	// Webhooks are bound long after their port was chosen.
	c.env.WebhookInstallOptions.LocalServingHost = process.Localhost
	if c.env.WebhookInstallOptions.LocalServingPort, err = process.FreePort(); err != nil {
		return nil, err
	}
	if c.Config, err = c.env.Start(); err != nil {
		return nil, fmt.Errorf("starting etcd and kube-apiserver: %w", err)
	}
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	if err := os.WriteFile(c.Kubeconfig, c.env.KubeConfig, 0o600); err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of the administrator: %w", err)
	}
	if err := os.WriteFile(c.CAFile, c.Config.CAData, 0o600); err != nil {
		return nil, fmt.Errorf("writing the certificate authority: %w", err)
	}
	if opts.Controllers == nil {
		return c, nil
	}
	return c, c.StartControllers(*opts.Controllers)
}

// StartControllers starts kube-controller-manager and kube-scheduler, in place of those that run.
func (c *Cluster) StartControllers(more Controllers) error {
	if err := stop(c.controllers); err != nil {
		return err
	}
	c.controllers = nil
	for _, controller := range []struct {
		name string
		args []string
	}{
		{"kube-controller-manager", append([]string{
			"--service-account-private-key-file=" + c.SigningKey(),
			"--root-ca-file=" + c.CAFile,
			"--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller",
		}, more.Manager...)},
		{"kube-scheduler", more.Scheduler},
	} {
		args := append([]string{"--kubeconfig=" + c.Kubeconfig, "--leader-elect=false", "--secure-port=0"}, controller.args...)
		p, err := process.Start(process.Command{Dir: c.opts.Dir, Name: controller.name, Program: c.asset(controller.name), Args: args})
		if err != nil {
			return err
		}
		c.controllers = append(c.controllers, p)
	}
	return nil
}

// start starts a program that lives as long as the cluster does. What it prints
// goes to a file of its name.
func (c *Cluster) start(name, program string, args ...string) (*process.Process, error) {
	p, err := process.Start(process.Command{Dir: c.opts.Dir, Name: name, Program: program, Args: args})
	if err != nil {
		return nil, err
	}
	c.processes = append(c.processes, p)
	return p, nil
}

func (c *Cluster) asset(program string) string { return filepath.Join(c.opts.Assets, program) }

// Kubectl runs kubectl as the administrator and returns what it printed.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return process.Kubectl(ctx, c.opts.Assets, c.Kubeconfig, args...)
}

// Webhooks says where the API server expects the webhooks: address, port, and
// the directory with the certificate that it trusts.
func (c *Cluster) Webhooks() (host string, port int, certDir string) {
	o := &c.env.WebhookInstallOptions
	return o.LocalServingHost, o.LocalServingPort, o.LocalServingCertDir
}

// Stop stops everything that was started, last first.
func (c *Cluster) Stop() error {
	err := errors.Join(stop(c.processes), stop(c.controllers))
	c.processes, c.controllers = nil, nil
	if c.env != nil {
		err = errors.Join(err, c.env.Stop())
	}
	return err
}

func stop(started []*process.Process) error {
	var errs []error
	for i := len(started) - 1; i >= 0; i-- {
		errs = append(errs, started[i].Stop())
	}
	return errors.Join(errs...)
}

// SigningKey is the file with the key by which the API server signs tokens of service accounts.
func (c *Cluster) SigningKey() string { return filepath.Join(c.certs(), "sa-signer.key") }

func (c *Cluster) certs() string { return filepath.Join(c.opts.Dir, "apiserver") }

func (c *Cluster) path(relative string) string {
	return filepath.Join(c.opts.Root, relative)
}
