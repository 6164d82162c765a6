//go:build linux

/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command cnilite is the pod network of a node image built here. All nodes sit
// on one bridge, so two things are enough: the node's CNI configuration, made
// of its pod range, and a route to the pod range of every other node.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/"
	configDir      = "/etc/cni/net.d"
	configName     = "10-lite.conflist"
	interval       = 2 * time.Second
)

// node is the part of a Node object that counts here.
type node struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		PodCIDR string `json:"podCIDR"`
	} `json:"spec"`
	Status struct {
		Addresses []struct {
			Type    string `json:"type"`
			Address string `json:"address"`
		} `json:"addresses"`
	} `json:"status"`
}

// address is the node's own IPv4 address, nil if it has none yet.
func (n *node) address() net.IP {
	for _, a := range n.Status.Addresses {
		if ip := net.ParseIP(a.Address).To4(); a.Type == "InternalIP" && ip != nil {
			return ip
		}
	}
	return nil
}

func main() {
	client, err := newClient()
	if err != nil {
		log.Fatal(err)
	}
	done := map[string]string{}
	for ticks := time.Tick(interval); ; <-ticks {
		if err := reconcile(client, os.Getenv("NODE_NAME"), done); err != nil {
			log.Print(err)
		}
	}
}

// reconcile brings configuration and routes in line with the nodes there are.
// done holds what was set, so that only changes cost something and are logged.
func reconcile(client *http.Client, self string, done map[string]string) error {
	nodes, err := listNodes(client)
	if err != nil {
		return err
	}
	var problems []error
	for i := range nodes {
		n := &nodes[i]
		name, want := n.Metadata.Name, n.Spec.PodCIDR
		if want == "" || n.address() == nil {
			continue
		}
		want += " at " + n.address().String()
		if done[name] == want {
			continue
		}
		if name == self {
			err = writeConfig(n.Spec.PodCIDR)
		} else {
			err = setRoute(n.Spec.PodCIDR, n.address())
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("node %s, %s: %w", name, want, err))
			continue
		}
		done[name] = want
		log.Printf("node %s has pods %s", name, want)
	}
	return errors.Join(problems...)
}

func newClient() (*http.Client, error) {
	ca, err := os.ReadFile(serviceAccount + "ca.crt")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the service account has no usable CA certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	return &http.Client{Timeout: 5 * time.Second, Transport: transport}, nil
}

// apiServer prefers the address that kind sets: it does not wait for kube-proxy.
func apiServer() string {
	if endpoint := os.Getenv("CONTROL_PLANE_ENDPOINT"); endpoint != "" {
		return endpoint
	}
	return net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
}

func listNodes(client *http.Client) ([]node, error) {
	// Tokens expire and are replaced in the file.
	token, err := os.ReadFile(serviceAccount + "token")
	if err != nil {
		return nil, err
	}
	url := "https://" + apiServer() + "/api/v1/nodes?resourceVersion=0"
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", url, response.Status)
	}
	var list struct {
		Items []node `json:"items"`
	}
	err = json.NewDecoder(response.Body).Decode(&list)
	return list.Items, err
}

// writeConfig puts the file in place in one step: containerd watches the directory.
func writeConfig(podCIDR string) error {
	eth0, err := net.InterfaceByName("eth0")
	if err != nil {
		return err
	}
	type object map[string]any
	config, err := json.MarshalIndent(object{
		"cniVersion": "1.0.0",
		"name":       "lite",
		"plugins": []object{
			{
				"type": "ptp", "ipMasq": false, "mtu": eth0.MTU,
				"ipam": object{
					"type": "host-local", "dataDir": "/run/cni-ipam-state",
					"routes": []object{{"dst": "0.0.0.0/0"}},
					"ranges": [][]object{{{"subnet": podCIDR}}},
				},
			},
			{"type": "portmap", "capabilities": object{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	part := filepath.Join(configDir, ".lite.part")
	if err := os.WriteFile(part, config, 0o644); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(configDir, configName))
}
