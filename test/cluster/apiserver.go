/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/jobset/test/process"
)

const (
	adminToken = "admin"
	// startTimeout is for a machine that has other things to do.
	startTimeout = 2 * time.Minute
)

// startAPI starts etcd and kube-apiserver, with keys of their own.
func (c *Cluster) startAPI() (err error) {
	if c.keys, err = makeKeys(filepath.Join(c.opts.Dir, "apiserver")); err != nil {
		return err
	}
	c.CAFile = filepath.Join(c.keys.dir, "tls.crt")
	if err := os.WriteFile(c.tokens(), []byte(adminToken+",admin,admin,system:masters\n"), 0o600); err != nil {
		return fmt.Errorf("writing the token of the administrator: %w", err)
	}
	address, err := process.FreeAddress()
	if err != nil {
		return err
	}
	c.Config = &rest.Config{Host: "https://" + address, BearerToken: adminToken, TLSClientConfig: rest.TLSClientConfig{CAData: c.keys.pem}, QPS: -1, Burst: -1}
	if c.Client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return fmt.Errorf("building a client: %w", err)
	}
	if err := WriteKubeconfig(c.Kubeconfig, c.Config.Host, c.keys.pem, adminToken); err != nil {
		return err
	}
	if err := c.startEtcd(); err != nil {
		return err
	}
	return c.StartAPIServer(context.Background())
}

func (c *Cluster) tokens() string { return filepath.Join(c.keys.dir, "tokens.csv") }

func (c *Cluster) startEtcd() error {
	clients, err := process.FreeAddress()
	if err != nil {
		return err
	}
	peers, err := process.FreeAddress()
	if err != nil {
		return err
	}
	c.etcdURL = "http://" + clients
	c.etcd, err = c.start("etcd", "--data-dir="+filepath.Join(c.opts.Dir, "etcd"),
		"--listen-client-urls="+c.etcdURL, "--advertise-client-urls="+c.etcdURL,
		"--listen-peer-urls=http://"+peers, "--initial-advertise-peer-urls=http://"+peers, "--initial-cluster=default=http://"+peers,
		"--unsafe-no-fsync", "--log-level=error")
	return err
}

// StartAPIServer starts the API server, also again after it was killed, and waits until it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(c.Config.Host, "https://"))
	if err != nil {
		return fmt.Errorf("reading the URL of the API server: %w", err)
	}
	args := []string{
		"--etcd-servers=" + c.etcdURL, "--bind-address=" + process.Localhost, "--advertise-address=" + process.Localhost, "--secure-port=" + port,
		"--tls-cert-file=" + c.CAFile, "--tls-private-key-file=" + filepath.Join(c.keys.dir, "tls.key"), "--cert-dir=" + c.keys.dir,
		"--service-account-issuer=" + c.Config.Host, "--service-account-key-file=" + c.keys.accounts, "--service-account-signing-key-file=" + c.keys.accounts,
		"--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
		"--authorization-mode=RBAC", "--token-auth-file=" + c.tokens(),
		// EndpointSlices refuse loopback addresses.
		"--endpoint-reconciler-type=none",
	}
	if c.opts.Controllers == nil && !c.opts.Accounts {
		args = append(args, "--disable-admission-plugins=ServiceAccount") // nobody makes the accounts
	}
	if c.apiServer, err = c.start("kube-apiserver", append(args, c.opts.APIServer...)...); err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		select {
		case <-c.apiServer.Done():
			return false, fmt.Errorf("it has ended: %s", process.Tail(c.apiServer.LogFile, 2<<10))
		default:
		}
		if c.Client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() != nil {
			return false, nil
		}
		_, err := c.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err == nil, nil //nolint:nilerr // it makes the namespace a moment later
	})
	if err != nil {
		return fmt.Errorf("waiting for kube-apiserver to be ready: %w", err)
	}
	return c.reviveControllerManager()
}

// CrashAPIServer kills the API server.
func (c *Cluster) CrashAPIServer() { c.apiServer.Crash() }
