/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/test/process"
)

const (
	managerNamespace = "jobset-system"
	managerAccount   = "jobset-controller-manager"
)

// managerConfig is that of a manager beside an embedded control plane: certificates come as
// files, and it is the only one: where etcd, API server and a thousand agents share a few cores, a
// lease may not be renewed in time. Limits and everything else are what ships.
const managerConfig = `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook:
  host: %s
  port: %d
  certDir: %s
metrics:
  bindAddress: %s
health:
  healthProbeBindAddress: %s
leaderElection:
  leaderElect: false
internalCertManagement:
  enable: false
`

// manager is the manager binary, running with the rights that ship for it.
type manager struct {
	process *process.Process
	metrics string
	token   string
}

func (p *plane) startManager(ctx context.Context) (*manager, error) {
	m := &manager{}
	var err error
	if m.token, err = p.managerToken(ctx); err != nil {
		return nil, err
	}
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	health, err := freeAddress()
	if err != nil {
		return nil, err
	}
	m.metrics = "https://" + metrics + "/metrics"
	hooks := &p.env.WebhookInstallOptions
	text := fmt.Sprintf(managerConfig, hooks.LocalServingHost, hooks.LocalServingPort, hooks.LocalServingCertDir, metrics, health)
	config, kubeconfig := filepath.Join(p.dir, "manager.yaml"), filepath.Join(p.dir, "manager.kubeconfig")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration of the manager: %w", err)
	}
	if err := p.writeKubeconfig(kubeconfig, m.token); err != nil {
		return nil, err
	}
	m.process, err = process.Start(process.Command{Dir: p.dir, Name: "manager", Program: p.managerBinary,
		Args: []string{"--config=" + config, "--kubeconfig=" + kubeconfig, "--feature-gates=InPlaceRestart=true"}})
	if err != nil {
		return nil, err
	}
	if err := m.process.WaitReady(ctx, "http://"+health+"/readyz"); err != nil {
		return nil, fmt.Errorf("waiting for the manager to be ready: %w", err)
	}
	return m, nil
}

// managerToken returns a token of the manager's account, which may also read its own metrics.
func (p *plane) managerToken(ctx context.Context) (string, error) {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "benchrestart-metrics"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "jobset-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: managerNamespace, Name: managerAccount}},
	}
	if _, err := p.client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("allowing to read metrics: %w", err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(24 * 3600))}}
	token, err := p.client.CoreV1().ServiceAccounts(managerNamespace).CreateToken(ctx, managerAccount, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token for the manager: %w", err)
	}
	return token.Status.Token, nil
}

func (p *plane) writeKubeconfig(file, token string) error {
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"bench": {Server: p.config.Host, CertificateAuthorityData: p.config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"account": {Token: token}},
		Contexts:       map[string]*clientcmdapi.Context{"bench": {Cluster: "bench", AuthInfo: "account"}},
		CurrentContext: "bench",
	}, file)
	if err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}

func (m *manager) use(ctx context.Context) (managerUse, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.metrics, nil)
	if err != nil {
		return managerUse{}, err
	}
	request.Header.Set("Authorization", "Bearer "+m.token)
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // it made its certificate itself, on this machine
	}}
	response, err := client.Do(request)
	if err != nil {
		return managerUse{}, fmt.Errorf("reading the metrics of the manager: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	if response.StatusCode != http.StatusOK {
		return managerUse{}, fmt.Errorf("reading the metrics of the manager: %s", response.Status)
	}
	values, err := sumMetrics(response.Body)
	if err != nil {
		return managerUse{}, fmt.Errorf("parsing the metrics of the manager: %w", err)
	}
	return managerUse{
		cpu:      values["process_cpu_seconds_total"],
		bytes:    values["go_memstats_alloc_bytes_total"],
		objects:  values["go_memstats_mallocs_total"],
		wakes:    values["controller_runtime_reconcile_total/jobset"],
		resident: values["process_resident_memory_bytes"],
	}, nil
}

// sumMetrics reads metrics as text and sums them up by name, whatever their labels, and by the
// name of the controller behind a slash, where that is a label.
func sumMetrics(text io.Reader) (map[string]float64, error) {
	values := map[string]float64{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		name := line[:strings.IndexAny(line+" ", "{ ")]
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		values[name] += value
		if _, label, labelled := strings.Cut(line, `controller="`); labelled {
			controller, _, _ := strings.Cut(label, `"`)
			values[name+"/"+controller] += value
		}
	}
	return values, lines.Err()
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
