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

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/test/process"
)

// ManagerOptions configures StartManager.
type ManagerOptions struct {
	// Program is the manager binary.
	Program string
	// Account is the service account it runs as, with the rights shipped for it.
	Account types.NamespacedName
	// Args are further arguments, as --feature-gates=InPlaceRestart=true.
	Args []string
}

// managerConfig is the configuration of a manager beside an embedded cluster:
// certificates come as files, and nothing else listens.
const managerConfig = `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook:
  host: %s
  port: %d
  certDir: %s
metrics:
  bindAddress: "0"
health:
  healthProbeBindAddress: %s
leaderElection:
  leaderElect: true
  resourceNamespace: %s
internalCertManagement:
  enable: false
`

// StartManager starts a manager as a process of its own, with the token of its
// service account, and waits until its webhooks answer.
func (c *Cluster) StartManager(ctx context.Context, opts ManagerOptions) (*process.Process, error) {
	kubeconfig, err := c.KubeconfigFor(ctx, opts.Account)
	if err != nil {
		return nil, err
	}
	health, err := freeAddress()
	if err != nil {
		return nil, err
	}
	host, port, certDir := c.Webhooks()
	config := filepath.Join(c.opts.Dir, "manager.yaml")
	text := fmt.Sprintf(managerConfig, host, port, certDir, health, opts.Account.Namespace)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration of the manager: %w", err)
	}
	args := append([]string{"--config=" + config, "--kubeconfig=" + kubeconfig}, opts.Args...)
	p, err := c.start("manager", opts.Program, args...)
	if err != nil {
		return nil, err
	}
	if err := p.WaitReady(ctx, "http://"+health+"/readyz"); err != nil {
		return nil, fmt.Errorf("waiting for the manager to be ready (see %s): %w", p.LogFile, err)
	}
	return p, nil
}

// KubeconfigFor writes a kubeconfig with a token of a service account and returns its path.
func (c *Cluster) KubeconfigFor(ctx context.Context, account types.NamespacedName) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(24 * 3600))}}
	token, err := c.Client.CoreV1().ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token of service account %s: %w", account, err)
	}
	file := filepath.Join(c.opts.Dir, account.Name+".kubeconfig")
	err = clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"demo": {Server: c.Config.Host, CertificateAuthorityData: c.Config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"account": {Token: token.Status.Token}},
		Contexts:       map[string]*clientcmdapi.Context{"demo": {Cluster: "demo", AuthInfo: "account"}},
		CurrentContext: "demo",
	}, file)
	if err != nil {
		return "", fmt.Errorf("writing the kubeconfig of service account %s: %w", account, err)
	}
	return file, nil
}

// freeAddress finds a loopback address with a port that nothing listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer listener.Close() //nolint:errcheck // it only has to be free again
	return listener.Addr().String(), nil
}
