/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/test/stories"
)

// command prepares a call of the plugin in a namespace, with a directory in front of PATH.
func command(ctx context.Context, path, namespace string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, shown.plugin, append(args, "--namespace="+namespace)...)
	c.Env = append(os.Environ(), "KUBECONFIG="+shown.plane.Kubeconfig, "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = time.Minute
	return c
}

// answer is what a command printed and how it ended.
type answer struct {
	Out, Err string
	Code     int
}

func run(c *exec.Cmd) answer {
	GinkgoHelper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		Expect(err).NotTo(HaveOccurred())
	}
	GinkgoWriter.Printf("%v\n%s%s", c.Args[1:], errs.String(), out.String())
	return answer{out.String(), errs.String(), c.ProcessState.ExitCode()}
}

func kubectlJobSet(ctx context.Context, namespace string, args ...string) answer {
	GinkgoHelper()
	return run(command(ctx, "", namespace, args...))
}

// serveLogs does what kubelets do when the API server asks for the log of a container.
func serveLogs(ctx context.Context) {
	GinkgoHelper()
	kubelet := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log, err := containerLog(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(log))
	}))
	DeferCleanup(kubelet.Close)
	_, text, err := net.SplitHostPort(kubelet.Listener.Addr().String())
	Expect(err).NotTo(HaveOccurred())
	port, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred())
	var nodes corev1.NodeList
	Expect(stories.API().List(ctx, &nodes)).To(Succeed())
	for i := range nodes.Items {
		patch := fmt.Sprintf(`{"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":%d}}}}`, port)
		Expect(stories.API().Status().Patch(ctx, &nodes.Items[i], client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
	}
}

// containerLog cuts the file of a container, which holds all runs, at the headers of the simulated node.
func containerLog(r *http.Request) (string, error) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/containerLogs/"), "/")
	if len(parts) != 3 {
		return "", fmt.Errorf("%s is no log", r.URL.Path)
	}
	pod := &corev1.Pod{}
	if err := stories.API().Get(r.Context(), client.ObjectKey{Namespace: parts[0], Name: parts[1]}, pod); err != nil {
		return "", err
	}
	content, err := os.ReadFile(shown.containers.LogPath(pod, parts[2]))
	if err != nil {
		return "", err
	}
	runs := strings.Split(string(content), "--- simnode: ")[1:]
	which := len(runs) - 1
	if r.URL.Query().Get("previous") == "true" {
		which--
	}
	if which < 0 {
		return "", errors.New("there was no such run")
	}
	_, log, _ := strings.Cut(runs[which], "\n")
	return log, nil
}

// manifest writes one that all strategies can run.
func manifest(more string) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "train.yaml")
	Expect(os.WriteFile(file, fmt.Appendf(nil, `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train%s
spec:
  replicatedJobs:
  - name: workers
    template:
      spec:
        parallelism: 2
        template:
          spec:
            terminationGracePeriodSeconds: 5
            containers:
            - name: worker
              image: %s
              command: [/worker]
`, more, stories.WorkerImage), 0o600)).To(Succeed())
	return file
}

// podOfCall returns the Pod of the nth call of kubectl exec in what a stand-in noted, empty if there was none yet.
func podOfCall(text string, n int) string {
	calls := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" || len(calls) < n {
		return ""
	}
	return strings.Fields(calls[n-1])[1]
}
