/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	proc "sigs.k8s.io/jobset/test/process"
)

var (
	binaryDir  string
	binaryOnce = sync.OnceValues(buildBinary)
)

func TestMain(m *testing.M) {
	code := m.Run()
	if binaryDir != "" {
		_ = os.RemoveAll(binaryDir)
	}
	os.Exit(code)
}

// buildBinary builds the agent as its image does.
func buildBinary() (string, error) {
	dir, err := os.MkdirTemp("", "jobset-agent-")
	if err != nil {
		return "", err
	}
	binaryDir = dir
	path := filepath.Join(dir, "agent")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "../cmd/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the agent: %w\n%s", err, output)
	}
	return path, nil
}

func binary(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the agent")
	}
	path, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serveFake serves the fake with TLS and HTTP/2, as an API server does, and returns a
// kubeconfig. The channel receives when reports arrive.
func serveFake(t testing.TB, fake *fakeAPI) (kubeconfig string, reports <-chan time.Time) {
	t.Helper()
	arrivals := make(chan time.Time, 100)
	fake.meddle(func(_ http.ResponseWriter, r *http.Request) bool {
		if kindOf(r) == "patch" {
			arrivals <- time.Now()
		}
		return false
	})
	server := httptest.NewUnstartedServer(fake)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL, CertificateAuthorityData: certificate(server)}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "t"}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return kubeconfig, arrivals
}

var addresses atomic.Int32

// freeAddress returns a free loopback address and port, with an address of its own if the system has several.
func freeAddress(t testing.TB) (address, port string) {
	t.Helper()
	address = "127.0.0.1"
	if runtime.GOOS == "linux" {
		address = fmt.Sprintf("127.77.%d.%d", os.Getpid()%250+1, addresses.Add(1)%250+1)
	}
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return address, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// command returns the command of the agent, not started yet, with these variables and no others.
func command(t testing.TB, env map[string]string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary(t), args...)
	cmd.Env = []string{}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	return cmd, stderr
}

func wantExit(t *testing.T, cmd *exec.Cmd, stderr *bytes.Buffer, code int) {
	t.Helper()
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d; stderr:\n%s", got, code, stderr)
	}
}

func TestTheProcessRejectsWrongSettings(t *testing.T) {
	t.Parallel()
	binary(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	kubeconfig, _ := serveFake(t, newFakeAPI())
	// The port is bound first, and other tests run in parallel.
	free := func(pairs ...string) map[string]string {
		address, port := freeAddress(t)
		return environ(append(pairs, "BARRIER_ADDRESS", address, "BARRIER_PORT", port)...)
	}

	for name, tc := range map[string]struct {
		env  map[string]string
		args []string
		want []string
	}{
		"P37, C294, C302: nothing is set":         {nil, nil, []string{"NAMESPACE is not set", "POD_NAME is not set", "JOBSET_NAME is not set", "fieldPath"}},
		"P37, C298, C302: the port is taken":      {environ("KUBECONFIG", kubeconfig, "BARRIER_ADDRESS", "127.0.0.1", "BARRIER_PORT", port), nil, []string{"BARRIER_PORT", "in use", "hostNetwork"}},
		"P37, C294, C302: there is no API server": {free(), nil, []string{"service account", "automountServiceAccountToken"}},
		"P37: there is no kubeconfig":             {free("KUBECONFIG", "/nowhere"), nil, []string{"KUBECONFIG", "/nowhere"}},
		"P37, O52: arguments are not taken":       {environ(), []string{"--port=1"}, []string{"--port=1", "environment variables"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, stderr := command(t, tc.env, tc.args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wantExit(t, cmd, stderr, 64)
			var lines []string
			for line := range strings.Lines(stderr.String()) {
				if strings.HasPrefix(line, "jobset-agent: ") {
					lines = append(lines, line)
				}
			}
			if len(lines) != 1 {
				t.Fatalf("%d error lines, want 1:\n%s", len(lines), stderr)
			}
			for _, want := range tc.want {
				if !strings.Contains(lines[0], want) {
					t.Errorf("the line %q does not contain %q", lines[0], want)
				}
			}
		})
	}
}

func TestTheProcess(t *testing.T) {
	t.Parallel()
	binary(t)
	// reported starts a process that has reported epoch 1 to a fake of its own.
	reported := func(t *testing.T, pairs ...string) (*fakeAPI, *exec.Cmd, *bytes.Buffer, string) {
		fake := newFakeAPI()
		fake.set(at(0, 0))
		kubeconfig, reports := serveFake(t, fake)
		address, port := freeAddress(t)
		env := environ(append([]string{"KUBECONFIG", kubeconfig, "BARRIER_ADDRESS", address, "BARRIER_PORT", port}, pairs...)...)
		cmd, stderr := command(t, env)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-reports:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("no report; stderr:\n%s", stderr)
		}
		return fake, cmd, stderr, "http://" + net.JoinHostPort(address, port) + BarrierPath
	}
	t.Run("P32 P37: a deprecated epoch ends it with 88 and says why", func(t *testing.T) {
		t.Parallel()
		fake, cmd, stderr, _ := reported(t)
		fake.set(at(1, 1))
		wantExit(t, cmd, stderr, 88)
		if !strings.Contains(stderr.String(), "epoch 1 is deprecated") {
			t.Errorf("stderr does not say why:\n%s", stderr)
		}
	})
	t.Run("P32 P37 O54: the restart exit code is a setting", func(t *testing.T) {
		t.Parallel()
		fake, cmd, stderr, _ := reported(t, "RESTART_POD_IN_PLACE_EXIT_CODE", "7")
		fake.set(at(1, 1))
		wantExit(t, cmd, stderr, 7)
	})
	t.Run("O52 O55: it runs no command, so that nobody's exit code passes through it", func(t *testing.T) {
		t.Parallel()
		ran := filepath.Join(t.TempDir(), "ran")
		fake, cmd, stderr, url := reported(t, "WORKER_COMMAND", "touch "+ran+"; exit 3", "SHELL", "/bin/sh")
		fake.set(at(0, 1))
		response, err := http.Get(url + "?wait=60")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("the probe got %d after the lift", response.StatusCode)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		wantExit(t, cmd, stderr, 143)
		if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the command of the environment ran: %v", err)
		}
	})
	for stop, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		t.Run("P37 O56 C295: "+stop.String(), func(t *testing.T) {
			t.Parallel()
			_, cmd, stderr, _ := reported(t)
			if err := cmd.Process.Signal(stop); err != nil {
				t.Fatal(err)
			}
			wantExit(t, cmd, stderr, code)
		})
	}
	t.Run("P33 P35 P38 O53: it lifts after one watch and one patch, and says so in few lines", func(t *testing.T) {
		t.Parallel()
		fake, cmd, stderr, url := reported(t)
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the probe got %d before the lift", response.StatusCode)
		}
		fake.set(at(0, 1))
		if response, err = http.Get(url + "?wait=60"); err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("the probe got %d after the lift", response.StatusCode)
		}
		wantRequests(t, fake, "watch", "patch")
		if agent := fake.seen("patch")[0].header.Get("User-Agent"); agent != "jobset-agent" {
			t.Errorf("User-Agent is %q", agent)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		wantExit(t, cmd, stderr, 143)
		if lines := strings.Count(stderr.String(), "\n"); lines > 6 {
			t.Errorf("%d lines of log:\n%s", lines, stderr)
		}
	})
}

func TestTheBinaryIsSmall(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(binary(t))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 15_000_000 {
		t.Errorf("P38: the binary has %d bytes, want at most 15 MB", info.Size())
	}
}

// BenchmarkStart measures the budget of P38: from exec to the report at an API server behind TLS
// and HTTP/2, on this machine.
func BenchmarkStart(b *testing.B) {
	path := binary(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	fake := newFakeAPI()
	fake.set(at(0, 0))
	kubeconfig, reports := serveFake(b, fake)
	address, port := freeAddress(b)
	env := environ("KUBECONFIG", kubeconfig, "BARRIER_ADDRESS", address, "BARRIER_PORT", port)
	var walls, cpus, memories []float64
	for b.Loop() {
		cmd, stderr := command(b, env)
		started := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		arrived := <-reports
		peak, _ := proc.PeakResident(cmd.Process.Pid) // wait4 would include the process that forked it
		memories = append(memories, peak/(1<<20))
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != 143 {
			b.Fatalf("exit code %d:\n%s", cmd.ProcessState.ExitCode(), stderr)
		}
		walls = append(walls, float64(arrived.Sub(started).Microseconds())/1000)
		cpus = append(cpus, float64((cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Microseconds())/1000)
	}
	for name, values := range map[string][]float64{"ms-to-report": walls, "ms-cpu": cpus, "MiB-rss": memories} {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name+"-median")
		b.ReportMetric(values[len(values)-1], name+"-max")
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
}

// BenchmarkListen measures how long a kubelet's probe is refused: from exec to the first
// connection. On a busy machine the shortest time is the one that matters.
func BenchmarkListen(b *testing.B) {
	fake := newFakeAPI()
	kubeconfig, _ := serveFake(b, fake)
	address, port := freeAddress(b)
	env := environ("KUBECONFIG", kubeconfig, "BARRIER_ADDRESS", address, "BARRIER_PORT", port)
	var walls []float64
	for b.Loop() {
		cmd, _ := command(b, env)
		started := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		for {
			conn, err := net.Dial("tcp", net.JoinHostPort(address, port))
			if err == nil {
				walls = append(walls, float64(time.Since(started).Microseconds())/1000)
				_ = conn.Close()
				break
			}
			if time.Since(started) > time.Minute {
				b.Fatal(err)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	slices.Sort(walls)
	b.ReportMetric(walls[0], "ms-to-listen-min")
	b.ReportMetric(walls[len(walls)/2], "ms-to-listen-median")
	b.ReportMetric(walls[len(walls)-1], "ms-to-listen-max")
}

// certificate returns the certificate of a test server in PEM.
func certificate(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
