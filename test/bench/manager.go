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
	"net/http"
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
)

// manager is the manager binary, running with the rights that ship for it.
type manager struct {
	process *process.Process
	metrics string
	token   string
}

func (p *plane) startManager(ctx context.Context) (*manager, error) {
	m := &manager{}
	var err error
	if m.token, err = p.metricsToken(ctx); err != nil {
		return nil, err
	}
	metrics, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	m.metrics = "https://" + metrics + "/metrics"
	m.process, err = p.StartManager(ctx, cluster.ManagerOptions{
		Program: p.Programs.Manager, Alone: true,
		Args: []string{"--feature-gates=InPlaceRestart=true", "--metrics-bind-address=" + metrics},
		// Restarts follow one another: what is measured is not a pause.
		Config: "inPlaceRestart: {agentImage: " + agentImage + ", quickFailureMaxPause: 0s}\n",
	})
	if err != nil {
		return nil, err
	}
	// It is ready before it has made the certificate for its metrics.
	return m, await(ctx, "the manager serves its metrics", patience, func() (bool, error) {
		_, err := m.use(ctx)
		return err == nil, nil
	})
}

// metricsToken returns a token of the manager's account, which is allowed to read its own metrics.
func (p *plane) metricsToken(ctx context.Context) (string, error) {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bench-metrics"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "jobset-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: cluster.ManagerAccount.Namespace, Name: cluster.ManagerAccount.Name}},
	}
	if _, err := p.Client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("allowing to read metrics: %w", err)
	}
	return cluster.Token(ctx, p.Client, cluster.ManagerAccount)
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
