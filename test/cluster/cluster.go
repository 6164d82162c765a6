/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cluster runs an embedded Kubernetes control plane on this machine:
// etcd, kube-apiserver and, if asked for, kube-controller-manager, kube-scheduler and managers as
// processes, reached over the loopback interface. Each can be killed and started again while the
// others go on. Nodes come from package simnode. Demo, benchmarks and all integration suites start
// theirs here.
//
// What loopback cannot have is left out: EndpointSlices refuse loopback
// addresses, so their controllers are off and Services resolve to nothing, and
// webhooks are reached by URL.
package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/process"
)

// Options configures a Cluster.
type Options struct {
	// Assets is the directory of the control plane's binaries, kubectl included.
	Assets string
	// Root is the root of this repository.
	Root string
	// Dir is a directory for logs, data, keys and kubeconfigs. It must exist.
	Dir string
	// Controllers are started with these arguments. nil: neither kube-controller-manager
	// nor kube-scheduler runs, and Pods need no service account.
	Controllers *Controllers
	// Accounts: Pods need a service account all the same, since controllers are started later.
	Accounts bool
	// APIServer are further arguments of kube-apiserver.
	APIServer []string
	// Bare: neither the CRD nor webhooks are installed.
	Bare bool
	// Webhooks are installed in place of the shipped ones.
	Webhooks *envtest.WebhookInstallOptions
}

// Controllers are further arguments of the controllers of the control plane.
type Controllers struct{ Manager, Scheduler []string }

// Cluster is a control plane that runs. Its webhooks answer once a manager runs.
type Cluster struct {
	// Config and Kubeconfig, a file, are those of an administrator, whom no limit of ours holds back.
	Config     *rest.Config
	Kubeconfig string
	Client     kubernetes.Interface
	// CAFile holds the certificate authority of the API server.
	CAFile string

	opts     Options
	keys     *keys
	etcdURL  string
	webhooks envtest.WebhookInstallOptions

	etcd, apiServer, controllerManager, scheduler *process.Process
	managers                                      []*process.Process
}

// ManagerAccount is the service account that the install gives the manager.
var ManagerAccount = types.NamespacedName{Namespace: "jobset-system", Name: "jobset-controller-manager"}

// Start starts the control plane and installs what the options say. What it
// started is stopped again if it fails.
func Start(opts Options) (_ *Cluster, err error) {
	c := &Cluster{opts: opts, Kubeconfig: filepath.Join(opts.Dir, "admin.kubeconfig")}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if err := c.startAPI(); err != nil {
		return nil, err
	}
	if err := c.install(); err != nil {
		return nil, err
	}
	if opts.Controllers == nil {
		return c, nil
	}
	return c, c.StartControllers(*opts.Controllers)
}

// install installs the CRD and the webhooks. Webhooks are bound long after their port was chosen.
func (c *Cluster) install() (err error) {
	if c.opts.Bare {
		return nil
	}
	c.webhooks.Paths = []string{c.path("config/components/webhook/manifests.yaml")}
	if c.opts.Webhooks != nil {
		c.webhooks = *c.opts.Webhooks
	}
	c.webhooks.LocalServingHost = process.Localhost
	if c.webhooks.LocalServingPort, err = process.FreePort(); err != nil {
		return err
	}
	// An API server that has just started, beside others on two cores, may take longer than the ten seconds of envtest.
	crds := envtest.CRDInstallOptions{Paths: []string{c.path("config/components/crd/bases")}, ErrorIfPathMissing: true, MaxTime: time.Minute}
	if _, err := envtest.InstallCRDs(c.Config, crds); err != nil {
		return fmt.Errorf("installing the CRD: %w", err)
	}
	if err := c.webhooks.Install(c.Config); err != nil {
		return fmt.Errorf("installing the webhooks: %w", err)
	}
	return nil
}

// Install gives the manager its namespace, its service account and its rights, and agents theirs.
func (c *Cluster) Install(ctx context.Context) error {
	_, err := c.Kubectl(ctx, "apply", "--server-side", "-k", c.path("test/demo/config"))
	return err
}

// StartControllers starts kube-controller-manager and kube-scheduler, in place of those that run.
func (c *Cluster) StartControllers(more Controllers) error {
	if err := stop(c.scheduler, c.controllerManager); err != nil {
		return err
	}
	c.opts.Controllers = &more
	err := c.startControllerManager()
	if err == nil {
		c.scheduler, err = c.startController("kube-scheduler", more.Scheduler...)
	}
	return err
}

// RestartControllerManager kills kube-controller-manager and starts it again. Its Job
// controller then forgets that it waits with the next Pod for 10 s times two to the number
// of Pods that failed before.
func (c *Cluster) RestartControllerManager() error {
	c.controllerManager.Crash()
	return c.startControllerManager()
}

// reviveControllerManager does what a kubelet does: one that starts while the API server is away waits for 10 s and then ends.
func (c *Cluster) reviveControllerManager() error {
	if c.controllerManager == nil {
		return nil
	}
	select {
	case <-c.controllerManager.Done():
		return c.startControllerManager()
	default:
		return nil
	}
}

func (c *Cluster) startControllerManager() (err error) {
	c.controllerManager, err = c.startController("kube-controller-manager", append([]string{
		"--service-account-private-key-file=" + c.SigningKey(),
		"--root-ca-file=" + c.CAFile,
		"--controllers=*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller",
	}, c.opts.Controllers.Manager...)...)
	return err
}

func (c *Cluster) startController(name string, more ...string) (*process.Process, error) {
	return c.start(name, append([]string{"--kubeconfig=" + c.Kubeconfig, "--leader-elect=false", "--secure-port=0"}, more...)...)
}

// start starts a program of the control plane. What it prints goes to a file of its name.
func (c *Cluster) start(name string, args ...string) (*process.Process, error) {
	return process.Start(process.Command{Dir: c.opts.Dir, Name: name, Program: filepath.Join(c.opts.Assets, name), Args: args})
}

// Kubectl runs kubectl as the administrator and returns what it printed.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return process.Kubectl(ctx, c.opts.Assets, c.Kubeconfig, args...)
}

// Webhooks says where the API server expects the webhooks: address, port, and
// the directory with the certificate that it trusts.
func (c *Cluster) Webhooks() (host string, port int, certDir string) {
	return c.webhooks.LocalServingHost, c.webhooks.LocalServingPort, c.webhooks.LocalServingCertDir
}

// Certificate is one for this machine, which the authority of the API server verifies.
func (c *Cluster) Certificate() tls.Certificate { return c.keys.certificate }

// SigningKey is the file with the key by which the API server signs tokens of service accounts.
func (c *Cluster) SigningKey() string { return c.keys.accounts }

// Stop stops everything that was started, last first.
func (c *Cluster) Stop() error {
	err := errors.Join(stop(c.managers...), stop(c.scheduler, c.controllerManager))
	for _, running := range []*process.Process{c.apiServer, c.etcd} {
		if running != nil {
			running.Crash() // the API server would wait for every watch, and nothing has to be kept
		}
	}
	if c.webhooks.LocalServingCertDir != "" {
		err = errors.Join(err, c.webhooks.Cleanup())
	}
	c.managers, c.scheduler, c.controllerManager, c.apiServer, c.etcd = nil, nil, nil, nil, nil
	return err
}

func stop(running ...*process.Process) error {
	var errs []error
	for _, p := range running {
		if p != nil {
			errs = append(errs, p.Stop())
		}
	}
	return errors.Join(errs...)
}

func (c *Cluster) path(relative string) string { return filepath.Join(c.opts.Root, relative) }

// NewScheme knows Kubernetes and JobSets.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(jobset.AddToScheme(scheme))
	return scheme
}

// NewClient is an administrator's client of Kubernetes and JobSets.
func (c *Cluster) NewClient() (client.WithWatch, error) {
	made, err := client.NewWithWatch(c.Config, client.Options{Scheme: NewScheme()})
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	return made, nil
}
