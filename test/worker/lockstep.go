/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/test/worker/order"
)

// saveTime is how long a checkpoint of a worker in lockstep takes.
const saveTime = 3 * time.Second

// lockstep works in steps that all ranks make together, as training programs do. Once one of them was told to end, all save
// the state of the same step, in 3 seconds, and end when they are told, too. One whose peers have failed can only save alone.
func lockstep([]string) error {
	told := ordered(syscall.SIGTERM)
	start("worker")
	peers, err := joinPeers()
	if err != nil {
		return err
	}
	log.Info("connected")
	end := make(chan struct{})
	go func() {
		for times := 1; ; times++ {
			sig := <-told
			if code, _ := order.CodeOf(sig); sig != syscall.SIGTERM && sig != syscall.SIGUSR1 && sig != syscall.SIGUSR2 {
				os.Exit(code)
			}
			log.Info("told", "signal", sig.String(), "times", times)
			if times == 1 {
				close(end)
			}
		}
	}()
	for step := 1; ; step++ {
		if last, err := peers.step(end); err != nil {
			log.Info("alone", "error", err.Error())
			<-end
			saveStep("alone", step)
			return nil
		} else if last {
			saveStep("together", step)
			<-end // whoever ends unasked has finished
			return nil
		}
	}
}

func saveStep(how string, step int) {
	log.Info("saving", "how", how, "step", step)
	<-time.After(saveTime)
	log.Info("saved", "how", how, "step", step)
}

// peers are the ranks of an epoch, as one of them sees them: its connection to rank 0.
type peers struct{ conn net.Conn }

// joinPeers connects to rank 0, which collects what each has to say in a step.
func joinPeers() (*peers, error) {
	size, err := strconv.Atoi(os.Getenv("JOBSET_WORLD_SIZE"))
	if err != nil {
		return nil, fmt.Errorf("reading JOBSET_WORLD_SIZE: %w", err)
	}
	address := net.JoinHostPort(os.Getenv("JOBSET_MASTER_ADDR"), "29400")
	if os.Getenv("JOBSET_RANK") == "0" {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("listening as rank 0: %w", err)
		}
		go func() { log.Info("rank 0 collects no more", "error", collect(listener, size).Error()) }()
	}
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			return &peers{conn}, nil
		}
		<-time.After(10 * time.Millisecond) // until rank 0 listens
	}
}

// collect tells all ranks in each step whether one of them was told to end.
func collect(listener net.Listener, size int) error {
	var conns []net.Conn
	for range size {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		conns = append(conns, conn)
	}
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	for {
		word := []byte{0}
		for _, conn := range conns {
			one := make([]byte, 1)
			if _, err := conn.Read(one); err != nil {
				return err
			}
			word[0] |= one[0]
		}
		for _, conn := range conns {
			if _, err := conn.Write(word); err != nil {
				return err
			}
		}
	}
}

// step makes a step with all others, and reports whether it is the last.
func (p *peers) step(end <-chan struct{}) (last bool, err error) {
	word := []byte{0}
	select {
	case <-end:
		word[0] = 1
	case <-time.After(10 * time.Millisecond):
	}
	if _, err := p.conn.Write(word); err != nil {
		return false, err
	}
	_, err = p.conn.Read(word)
	return word[0] == 1, err
}
