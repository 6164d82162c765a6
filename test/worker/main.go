/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command worker is the program in all Pods of demos and tests: it stands in
// for one process of a training run, and has the tools that an image without a
// shell lacks. What it does is its first argument; without one, it works.
//
//	worker                     runs until a signal tells it how to end, see package order
//	worker train               takes steps together with the others of its group, and hangs as it is told
//	worker agent               is the agent of a worker Pod, which also ends as it is told
//	worker ready [PORT]        answers every HTTP request with 200, and ends as it is told
//	worker resolve NAME...     prints the addresses of host names
//	worker token               prints the token of the Pod's service account
//	worker shell COMMAND...    runs a command, and dies of SIGTERM without it, as a script does
//	worker launch COMMAND...   runs a command, and passes SIGTERM on to it, as launchers do
//	worker load                needs its data loader until it has written a checkpoint, a second after SIGTERM
//	worker save                takes 20 seconds to write a checkpoint after SIGTERM
//	worker jax                 waits for the others at the address that JAX is told, and then works
//	worker lockstep            makes its steps together with all ranks, and saves the same one when they are told to end
//	worker signal SIG ID...    signals the first processes of containers; needs the processes of the node
//
// Lines about itself are JSON on standard output.
package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/test/worker/order"
)

// What the worker does after SIGTERM: how long it takes to end, as it would to write a
// checkpoint, and the code it exits with, 143 if there is none.
const (
	delayVariable = "WORKER_TERM_DELAY"
	codeVariable  = "WORKER_TERM_CODE"
)

const usage = 64

// What a worker does, it does on the first thread of its process, which is the one that evidence of a hang is about.
func init() { runtime.LockOSThread() }

func main() {
	command, args := "work", []string(nil)
	if len(os.Args) > 1 {
		command, args = os.Args[1], os.Args[2:]
	}
	commands := map[string]func([]string) error{
		"work": work, "train": train, "agent": beAgent, "ready": ready, "resolve": resolve, "token": token, "signal": signalContainers,
		"shell": shell, "launch": launch, "load": load, "save": save, "lockstep": lockstep, "jax": jax,
	}
	run, ok := commands[command]
	if !ok {
		fmt.Fprintf(os.Stderr, "worker: unknown command %q\n", command)
		os.Exit(usage)
	}
	if err := run(args); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

var log = slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{
	ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey { // all digits, and one zone for all nodes
			return slog.String(a.Key, a.Value.Time().UTC().Format(time.RFC3339Nano))
		}
		return a
	},
}))

// start is the line that tells that a process began, and all it can see of where it is.
func start(role string, more ...any) {
	host, _ := os.Hostname()
	log.Info("start", append([]any{
		"role", role, "pid", os.Getpid(), "host", host, "uptime", uptime(), "epoch", cmp.Or(os.Getenv("JOBSET_EPOCH"), os.Getenv("EPOCH")),
		"rank", os.Getenv("JOBSET_RANK"), "worldSize", os.Getenv("JOBSET_WORLD_SIZE"),
		"master", os.Getenv("JOBSET_MASTER_ADDR"), "rendezvous", os.Getenv("PET_RDZV_ID"),
	}, more...)...)
}

// uptime is the clock that nobody can set, in seconds.
func uptime() string {
	content, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return ""
	}
	var seconds string
	_, _ = fmt.Sscan(string(content), &seconds)
	return seconds
}

func work([]string) error {
	received := ordered(syscall.SIGTERM, syscall.SIGINT, order.Hang)
	notify("X_JOBSET_STEP=1") // before anybody knows that it runs
	start("worker")
	signs := time.NewTicker(100 * time.Millisecond)
	for step := 2; ; step++ {
		select {
		case <-signs.C:
			notify(fmt.Sprintf("X_JOBSET_STEP=%d", step))
		case got := <-received:
			if got != order.Hang {
				obey(got)
			}
			signs.Stop()
		}
	}
}

// notify gives a sign of life, if anybody wants one: it is sd_notify(3).
func notify(sign string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	conn, err := net.Dial("unixgram", path)
	if err == nil {
		_, err = conn.Write([]byte(sign))
		_ = conn.Close()
	}
	if err != nil {
		log.Error("no sign was given", "error", err.Error())
	}
}

// beAgent is the real agent in this process, with its own way to end on SIGTERM.
func beAgent([]string) error {
	received := ordered()
	start("agent")
	go func() { obey(<-received) }()
	os.Exit(agent.Main(nil))
	return nil
}

// ordered listens for orders to end. Early: the first process of a container
// gets no signal that it does not ask for.
func ordered(also ...os.Signal) <-chan os.Signal {
	received := make(chan os.Signal, 1)
	signal.Notify(received, append(append(order.Signals(), order.Eat), also...)...)
	return received
}

func obey(received os.Signal) {
	log.Info("end", "signal", received.String())
	code, _ := order.CodeOf(received)
	switch received {
	case order.Eat:
		consume()
	case syscall.SIGTERM:
		if delay, err := time.ParseDuration(os.Getenv(delayVariable)); err == nil {
			<-time.After(delay)
		}
		if asked, err := strconv.Atoi(os.Getenv(codeVariable)); err == nil {
			code = asked
		}
	}
	os.Exit(code)
}

// held is the memory that consume keeps.
var held [][]byte

// consume allocates and touches memory until this process is killed.
func consume() {
	for {
		block := make([]byte, 1<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		held = append(held, block)
	}
}
