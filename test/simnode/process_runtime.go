/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/test/process"
)

// ProcessRuntime runs containers as processes of this machine: no isolation, no mounts, no limits. Every container is
// its own session. Like a container's init process, only the first process gets SIGTERM, and everything left in the
// session is killed when that one ends. On Linux the first process also dies with this process.
type ProcessRuntime struct {
	opts ProcessRuntimeOptions

	mu   sync.Mutex
	live map[processKey]*osProcess
}

// ProcessRuntimeOptions configures a ProcessRuntime.
type ProcessRuntimeOptions struct {
	// Images maps an image name to its entrypoint. As in Kubernetes, a container's command replaces the entrypoint and
	// its args are appended to whichever of the two is used; images here have no default arguments.
	Images map[string][]string
	// Programs maps the path of a program in an image, whichever, to one of this machine, for commands that name it.
	Programs map[string]string
	// LogDir receives one file per container, <namespace>_<pod>_<uid>_<container>.log, with a header line per run.
	LogDir string
}

type processKey struct {
	pod       types.UID
	container string
}

// NewProcessRuntime returns a Runtime of processes. It creates LogDir.
func NewProcessRuntime(opts ProcessRuntimeOptions) (*ProcessRuntime, error) {
	if opts.LogDir == "" {
		return nil, fmt.Errorf("creating process runtime: LogDir is empty; set it to a directory for container logs")
	}
	if err := os.MkdirAll(opts.LogDir, 0o755); err != nil {
		return nil, fmt.Errorf("creating log directory of process runtime: %w", err)
	}
	return &ProcessRuntime{opts: opts, live: map[processKey]*osProcess{}}, nil
}

// PID returns the process id of the running container, for those who want to kill it from outside.
func (r *ProcessRuntime) PID(podUID types.UID, container string) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.live[processKey{podUID, container}]
	if !ok {
		return 0, false
	}
	return p.pid, true
}

// LogPath returns the log file of a container.
func (r *ProcessRuntime) LogPath(pod *corev1.Pod, container string) string {
	return filepath.Join(r.opts.LogDir, fmt.Sprintf("%s_%s_%s_%s.log", pod.Namespace, pod.Name, pod.UID, container))
}

// Start implements Runtime.
func (r *ProcessRuntime) Start(_ context.Context, req ContainerRequest) (Process, error) {
	argv, err := r.argv(&req)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(r.LogPath(req.Pod, req.Container.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening log of container %s: %w", req.Container.Name, err)
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	_, _ = fmt.Fprintf(log, "--- simnode: %s run %d %v\n", time.Now().UTC().Format(time.RFC3339Nano), req.RestartCount, argv)

	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for i := range req.Env {
		cmd.Env = append(cmd.Env, req.Env[i].Name+"="+req.Env[i].Value)
	}
	if cmd.Dir = req.Container.WorkingDir; cmd.Dir == "" {
		cmd.Dir = req.PodDir
		shorten(cmd)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := process.StartTogether(cmd); err != nil {
		return nil, fmt.Errorf("starting process of container %s: %w", req.Container.Name, err)
	}
	p := &osProcess{pid: cmd.Process.Pid, done: make(chan struct{})}
	key := processKey{req.Pod.UID, req.Container.Name}
	r.mu.Lock()
	r.live[key] = p
	r.mu.Unlock()
	go r.reap(key, p, cmd)
	return p, nil
}

func (r *ProcessRuntime) argv(req *ContainerRequest) ([]string, error) {
	argv := slices.Clone(req.Command)
	for i := range argv {
		if program, ok := r.opts.Programs[argv[i]]; ok {
			argv[i] = program
		}
	}
	if len(argv) == 0 {
		argv = slices.Clone(r.opts.Images[req.Container.Image])
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("starting process of container %s: image %q: %w", req.Container.Name, req.Container.Image, ErrUnknownImage)
	}
	return append(argv, req.Args...), nil
}

// reap waits for the end of the first process, kills what is left of its session while its id still belongs to it,
// and only then collects it.
func (r *ProcessRuntime) reap(key processKey, p *osProcess, cmd *exec.Cmd) {
	waitWithoutReaping(p.pid)
	p.mu.Lock()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	killSession(p.pid)
	err := cmd.Wait()
	p.reaped = true
	p.mu.Unlock()
	p.code = exitCode(cmd, err)
	r.mu.Lock()
	if r.live[key] == p {
		delete(r.live, key)
	}
	r.mu.Unlock()
	close(p.done)
}

func exitCode(cmd *exec.Cmd, err error) int {
	if cmd.ProcessState == nil {
		return 255 // it could not be waited for; err says why, and no container ends well like this
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	if code := cmd.ProcessState.ExitCode(); err == nil || code != 0 {
		return code
	}
	return 255
}

type osProcess struct {
	pid  int
	done chan struct{}
	code int

	mu     sync.Mutex
	reaped bool
}

func (p *osProcess) Done() <-chan struct{} { return p.done }
func (p *osProcess) ExitCode() int         { return p.code }
func (p *osProcess) Terminate()            { p.signal(p.pid, syscall.SIGTERM) }
func (p *osProcess) Kill()                 { p.signal(-p.pid, syscall.SIGKILL) }

// signal never reaches a stranger: the id is ours until the process is reaped.
func (p *osProcess) signal(target int, sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(target, sig)
	}
}
