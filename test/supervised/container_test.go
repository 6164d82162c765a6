/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervised

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/test/simnode"
)

// pod is a container that runs, with the test as its agent.
type pod struct {
	t         *testing.T
	container *Container
	listener  net.Listener
	conn      net.Conn
	messages  *protocol.Reader
	// exits gives the worker its exit code; stop is SIGTERM by the node.
	exits chan int
	stop  context.CancelFunc
	ended chan int
	dir   string
}

func start(t *testing.T, network Network) *pod {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // short, for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &pod{t: t, exits: make(chan int), ended: make(chan int, 1), dir: dir}
	if err := os.Mkdir(filepath.Join(dir, protocol.RunDir), 0o755); err != nil {
		t.Fatal(err)
	}
	listen := network.Listen
	if listen == nil {
		listen = func(path string) (net.Listener, error) { return net.Listen("unix", path) }
	}
	if p.listener, err = listen(filepath.Join(dir, protocol.Socket)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.listener.Close() })
	p.run(network)
	return p
}

func (p *pod) run(network Network) {
	p.t.Helper()
	worker := func(ctx context.Context, _ supervisor.Run) int {
		select {
		case code := <-p.exits:
			return code
		case <-ctx.Done():
			return 0
		}
	}
	request := simnode.ContainerRequest{Env: []corev1.EnvVar{{Name: protocol.DirEnv, Value: p.dir}, {Name: protocol.ContainerEnv, Value: "w"}}}
	var err error
	if p.container, err = New(simnode.FuncContainer{ContainerRequest: request}, network, worker); err != nil {
		p.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(p.t.Context())
	p.stop = stop
	container := p.container
	go func() { p.ended <- container.Run(ctx) }()
}

// hello takes the next connection.
func (p *pod) hello(state protocol.State) {
	p.t.Helper()
	var err error
	if p.conn, err = p.listener.Accept(); err != nil {
		p.t.Fatal(err)
	}
	p.messages = protocol.NewReader(p.conn)
	if m := p.hears(protocol.Hello); m.State != state {
		p.t.Fatalf("it says hello as %q, want %q", m.State, state)
	}
}

func (p *pod) hears(want protocol.Type) protocol.Message {
	p.t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(time.Minute))
	m, err := p.messages.Next()
	if err != nil || m.Type != want {
		p.t.Fatalf("it says %+v, %v, want %s", m, err, want)
	}
	return m
}

func (p *pod) says(m protocol.Message) {
	p.t.Helper()
	line, err := protocol.Encode(m)
	if err == nil {
		_, err = p.conn.Write(line)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// runs starts the worker.
func (p *pod) runs(epoch int32) {
	p.t.Helper()
	p.says(protocol.Message{Type: protocol.Start, Epoch: epoch})
	p.hears(protocol.Running)
}

func (p *pod) ends(code int) {
	p.t.Helper()
	select {
	case got := <-p.ended:
		if got != code {
			p.t.Errorf("the container ended with %d, want %d", got, code)
		}
	case <-time.After(time.Minute):
		p.t.Fatal("the container has not ended")
	}
}

func (p *pod) doneFile() bool {
	_, err := os.Stat(protocol.SharedFile(p.dir, "w", protocol.DoneFile))
	return !errors.Is(err, os.ErrNotExist)
}

func TestContainer(t *testing.T) {
	t.Parallel()
	networks := map[string]Network{"sockets": Sockets(), "pipes": Pipes()}
	for name, story := range map[string]func(p *pod, network Network){
		"P63 P66: a worker that fails, and one that is stopped, start again in it": func(p *pod, _ Network) {
			p.runs(1)
			p.exits <- 3
			if exit := p.hears(protocol.Ready).Exit; exit == nil || exit.Code != 3 || exit.Stopped {
				p.t.Errorf("it ended as %+v, want code 3", exit)
			}
			p.runs(2)
			p.says(protocol.Message{Type: protocol.Stop, GraceSeconds: 60})
			if exit := p.hears(protocol.Ready).Exit; exit == nil || exit.Code != 0 || !exit.Stopped {
				p.t.Errorf("it ended as %+v, want stopped with 0", exit)
			}
			p.runs(3)
		},
		"P67: a worker that exits with 0 is done, and so is its container when it is started again": func(p *pod, network Network) {
			p.runs(1)
			p.exits <- 0
			p.hears(protocol.Done)
			p.ends(0)
			if !p.doneFile() {
				p.t.Error("no file says so")
			}
			p.run(network)
			p.ends(0)
		},
		"P69: a container that the node ends does not end with 0": func(p *pod, _ Network) {
			p.runs(1)
			p.stop()
			p.ends(143)
			if p.doneFile() {
				p.t.Error("a file says that its worker has finished")
			}
		},
		"P65: a connection that breaks harms nobody": func(p *pod, _ Network) {
			p.runs(1)
			p.container.Break()
			p.hello(protocol.Runs)
			p.container.Break()
			p.hello(protocol.Runs)
		},
		"P70: a container that is killed says nothing any more, and restarts": func(p *pod, network Network) {
			p.runs(1)
			p.container.Kill()
			p.ends(137)
			if m, err := p.messages.Next(); err == nil {
				p.t.Errorf("it still said %s", m.Type)
			}
			p.run(network)
			p.hello(protocol.Held)
			p.container.Kill()
			p.ends(137)
		},
	} {
		for kind, network := range networks {
			t.Run(name+", by "+kind, func(t *testing.T) {
				t.Parallel()
				p := start(t, network)
				p.hello(protocol.Held)
				story(p, network)
			})
		}
	}
}
