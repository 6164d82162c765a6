/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cluster runs an embedded Kubernetes control plane on this machine:
// etcd, kube-apiserver, kube-controller-manager and kube-scheduler as processes,
// reached over the loopback interface. Nodes come from package simnode.
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
	"os/exec"
	"path/filepath"
	"strings"

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
}

// Cluster is a control plane that runs. Its CRD and webhooks are installed; the
// webhooks answer once a manager runs.
type Cluster struct {
	// Config and Kubeconfig, a file, are those of an administrator.
	Config     *rest.Config
	Kubeconfig string
	Client     kubernetes.Interface
	// CAFile holds the certificate authority of the API server.
	CAFile string

	opts      Options
	env       *envtest.Environment
	processes []*process.Process
}

// Start starts the control plane and installs the CRD and the webhooks. What it
// started is stopped again if it fails.
func Start(opts Options) (_ *Cluster, err error) {
	c := &Cluster{opts: opts, Kubeconfig: filepath.Join(opts.Dir, "admin.kubeconfig"), CAFile: filepath.Join(opts.Dir, "ca.crt")}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	certs := filepath.Join(opts.Dir, "apiserver")
	if err := os.MkdirAll(certs, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the API server: %w", err)
	}
	c.env = &envtest.Environment{
		BinaryAssetsDirectory: opts.Assets,
		CRDDirectoryPaths:     []string{c.path("config/components/crd/bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{c.path("config/components/webhook/manifests.yaml")},
		},
	}
	apiServer := c.env.ControlPlane.GetAPIServer()
	apiServer.CertDir = certs
	// Pods have service accounts, as on a real cluster.
	apiServer.Configure().Disable("disable-admission-plugins")
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
	return c, c.startControllers(certs)
}

func (c *Cluster) startControllers(certs string) error {
	_, err := c.start("kube-controller-manager", c.asset("kube-controller-manager"),
		"--kubeconfig="+c.Kubeconfig,
		"--service-account-private-key-file="+filepath.Join(certs, "sa-signer.key"),
		"--root-ca-file="+c.CAFile,
		"--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller",
		"--leader-elect=false", "--secure-port=0")
	if err != nil {
		return err
	}
	_, err = c.start("kube-scheduler", c.asset("kube-scheduler"),
		"--kubeconfig="+c.Kubeconfig, "--leader-elect=false", "--secure-port=0")
	return err
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
	cmd := exec.CommandContext(ctx, c.asset("kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Webhooks tells where the API server expects the webhooks: address, port, and
// the directory with the certificate that it trusts.
func (c *Cluster) Webhooks() (host string, port int, certDir string) {
	o := &c.env.WebhookInstallOptions
	return o.LocalServingHost, o.LocalServingPort, o.LocalServingCertDir
}

// Stop stops everything that was started, last first.
func (c *Cluster) Stop() error {
	var errs []error
	for i := len(c.processes) - 1; i >= 0; i-- {
		errs = append(errs, c.processes[i].Stop())
	}
	c.processes = nil
	if c.env != nil {
		errs = append(errs, c.env.Stop())
	}
	return errors.Join(errs...)
}

func (c *Cluster) path(relative string) string {
	return filepath.Join(c.opts.Root, relative)
}
