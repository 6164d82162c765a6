/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"fmt"
	"sync"
)

// Func is a container that is a function. Its result is the exit code. ctx is cancelled by Terminate and by Kill.
type Func func(ctx context.Context, c FuncContainer) int

// FuncContainer is what a Func gets to know.
type FuncContainer struct {
	ContainerRequest
	// Killed is closed by Kill. A function that ignores its ctx should at least obey this, so that it does not outlive
	// its container: the container is reported dead at once, whether the function has returned or not.
	Killed <-chan struct{}
}

// Env returns the value of an environment variable of the container.
func (c FuncContainer) Env(name string) string {
	value, _ := c.LookupEnv(name)
	return value
}

// LookupEnv is like os.LookupEnv.
func (c FuncContainer) LookupEnv(name string) (string, bool) {
	return lookupEnv(c.ContainerRequest.Env, name)
}

// FuncRuntime runs containers as functions in this process.
type FuncRuntime struct {
	images map[string]Func
	wg     sync.WaitGroup
}

// NewFuncRuntime returns a Runtime that maps image names to functions.
func NewFuncRuntime(images map[string]Func) *FuncRuntime {
	return &FuncRuntime{images: images}
}

// Start implements Runtime.
func (r *FuncRuntime) Start(ctx context.Context, req ContainerRequest) (Process, error) {
	fn, ok := r.images[req.Container.Image]
	if !ok {
		return nil, fmt.Errorf("starting function container %s: image %q: %w", req.Container.Name, req.Container.Image, ErrUnknownImage)
	}
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &funcProcess{cancel: cancel, killed: make(chan struct{}), done: make(chan struct{})}
	r.wg.Go(func() {
		code := exitUnreturned // a test that fails inside a container ends its goroutine without returning
		defer func() { p.end(code) }()
		code = fn(runCtx, FuncContainer{ContainerRequest: req, Killed: p.killed})
	})
	return p, nil
}

// Wait blocks until every function has returned, also those whose containers were killed long ago.
func (r *FuncRuntime) Wait() { r.wg.Wait() }

type funcProcess struct {
	cancel   context.CancelFunc
	killOnce sync.Once
	doneOnce sync.Once
	killed   chan struct{}
	done     chan struct{}
	code     int
}

func (p *funcProcess) end(code int) {
	p.doneOnce.Do(func() {
		p.code = code
		close(p.done)
		p.cancel()
	})
}

func (p *funcProcess) Done() <-chan struct{} { return p.done }
func (p *funcProcess) ExitCode() int         { return p.code }
func (p *funcProcess) Terminate()            { p.cancel() }

func (p *funcProcess) Kill() {
	p.end(exitKilled) // before anything wakes the function, or it might report a code of its own
	p.killOnce.Do(func() { close(p.killed) })
}
