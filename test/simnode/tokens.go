/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TokenOptions tells how Pods reach the API server. Their token is bound to the Pod, as a kubelet's is, so admission
// can tell which Pod a request comes from.
type TokenOptions struct {
	ServerURL string
	CAData    []byte
}

const (
	tokenSeconds = 3607 // what a kubelet asks for
	kubeconfig   = "kubeconfig"
)

// wantsToken reports whether a container gets a kubeconfig: its Pod must not turn the token off for all containers, or
// it mounts a token of its own. Only the Pod's own switch is looked at, not its service account's. A Pod without a
// service account, which exists only where that admission is off, cannot have a token bound to it.
func wantsToken(opts *TokenOptions, pod *corev1.Pod, c *corev1.Container) bool {
	if opts == nil || pod.Spec.ServiceAccountName == "" {
		return false
	}
	auto := pod.Spec.AutomountServiceAccountToken
	return auto == nil || *auto || slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return holdsToken(pod, m.Name) })
}

func holdsToken(pod *corev1.Pod, volume string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == volume && v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
			return s.ServiceAccountToken != nil
		})
	})
}

// writeKubeconfig requests a token and writes it. It returns when to do so again: at four fifths of its life.
func writeKubeconfig(ctx context.Context, client kubernetes.Interface, opts *TokenOptions, pod *corev1.Pod, podDir string) (time.Time, error) {
	account := pod.Spec.ServiceAccountName
	seconds, asked := int64(tokenSeconds), time.Now()
	got, err := client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: &seconds,
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return time.Time{}, fmt.Errorf("requesting token of service account %s for Pod %s/%s: %w", account, pod.Namespace, pod.Name, err)
	}
	data, err := encodeKubeconfig(opts, pod.Namespace, got.Status.Token)
	if err != nil {
		return time.Time{}, err
	}
	if err := replaceFile(filepath.Join(podDir, kubeconfig), data); err != nil {
		return time.Time{}, fmt.Errorf("writing kubeconfig of Pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	life := tokenSeconds * time.Second
	if expires := got.Status.ExpirationTimestamp; !expires.IsZero() {
		life = expires.Sub(asked)
	}
	return asked.Add(life * 4 / 5), nil
}

func encodeKubeconfig(opts *TokenOptions, namespace, token string) ([]byte, error) {
	const name = "simnode"
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: opts.ServerURL, CertificateAuthorityData: opts.CAData}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	c.CurrentContext = name
	data, err := clientcmd.Write(*c)
	if err != nil {
		return nil, fmt.Errorf("encoding kubeconfig: %w", err)
	}
	return data, nil
}

// replaceFile never shows a half-written file to a process that reads it meanwhile.
func replaceFile(path string, data []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
