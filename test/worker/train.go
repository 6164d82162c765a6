/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/test/worker/order"
)

// How a worker that trains hangs when it is told to, and what it does that takes long and is no hang.
const (
	hangVariable = "WORKER_HANG"
	// firstStepVariable is how long the first step takes, evaluationVariable an evaluation of all ranks at step 20, and
	// checkpointVariable a checkpoint that rank 0 writes at step 40 while all others wait for it.
	firstStepVariable, evaluationVariable, checkpointVariable = "WORKER_FIRST_STEP", "WORKER_EVALUATION", "WORKER_CHECKPOINT"

	stepTime                     = 100 * time.Millisecond
	evaluationStep, checkpointAt = 20, 40
)

// trainee takes its steps together with all others of its group: in each, all wait for all. Like a library of collective
// operations it ends with 1 when another one goes away.
type trainee struct {
	peers *peers
	// told: it is to hang; sign is when it gave the last sign.
	told atomic.Bool
	sign time.Time
}

func train([]string) error {
	received := ordered(syscall.SIGTERM, syscall.SIGINT, order.Hang)
	t := &trainee{}
	start("worker")
	go func() {
		for {
			if got := <-received; got != order.Hang {
				obey(got)
			}
			t.told.Store(true)
		}
	}()
	var err error
	if t.peers, err = joinPeers(); err != nil {
		return err
	}
	<-time.After(duration(firstStepVariable))
	for step := 1; ; step++ {
		if err := t.step(step); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
}

// step waits for all others at its end. One that hangs behind the others does so before it tells the step, any other one after.
func (t *trainee) step(step int) error {
	kind := os.Getenv(hangVariable)
	if kind == "behind" {
		t.hangIfTold(kind, step-1)
	}
	t.sign = time.Now()
	notify(fmt.Sprintf("X_JOBSET_STEP=%d", step))
	if kind != "behind" {
		t.hangIfTold(kind, step)
	}
	switch step {
	case evaluationStep:
		takesLong(duration(evaluationVariable), true)
	case checkpointAt:
		takesLong(duration(checkpointVariable), os.Getenv("JOBSET_RANK") == "0")
	}
	<-time.After(stepTime)
	_, err := t.peers.step(nil)
	if step == 1 || step%checkpointAt == 0 {
		log.Info("goes on", "step", step)
	}
	return err
}

// takesLong announces what takes long, and does it if that is its own work.
func takesLong(d time.Duration, own bool) {
	if d > 0 {
		notify(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", 2*d.Microseconds()))
		log.Info("takes long", "for", d.String(), "own", own)
	}
	if own {
		<-time.After(d)
	}
}

func (t *trainee) hangIfTold(kind string, step int) {
	if !t.told.Load() {
		return
	}
	log.Info("hangs", "kind", kind, "step", step, "lastSign", t.sign.UTC().Format(time.RFC3339Nano))
	switch kind {
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "fifo":
		readFIFO()
	}
	go func() { // of its threads only one waits for the lock
		for range time.Tick(10 * time.Millisecond) {
			_ = fmt.Sprint(time.Now())
		}
	}()
	var lock sync.Mutex
	lock.Lock()
	lock.Lock()
}

// readFIFO reads where nothing comes, as from a mount whose server is away, on the thread that trains.
func readFIFO() {
	path := filepath.Join(filepath.Dir(os.Getenv("JOBSET_PROGRESS_FILE")), fmt.Sprintf("fifo.%d", os.Getpid()))
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		log.Error("no FIFO", "error", err.Error())
	}
	fd, err := syscall.Open(path, syscall.O_RDWR, 0)
	if err == nil {
		_, err = syscall.Read(fd, make([]byte, 1))
	}
	log.Error("the FIFO has given something", "error", fmt.Sprint(err))
}

func duration(variable string) time.Duration {
	d, _ := time.ParseDuration(os.Getenv(variable))
	return d
}
