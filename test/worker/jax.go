/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// jax stands in for a program that calls jax.distributed.initialize with what it finds in its environment: the process
// with id 0 listens at the address of the coordinator, and none goes on before all ids from 0 on have come, each once.
func jax([]string) error {
	address := os.Getenv("JAX_COORDINATOR_ADDRESS")
	size, err := strconv.Atoi(os.Getenv("JAX_NUM_PROCESSES"))
	if err != nil {
		return fmt.Errorf("reading JAX_NUM_PROCESSES: %w", err)
	}
	id, err := strconv.Atoi(os.Getenv("JAX_PROCESS_ID"))
	if err != nil {
		return fmt.Errorf("reading JAX_PROCESS_ID: %w", err)
	}
	received := ordered(syscall.SIGTERM, syscall.SIGINT)
	joined := make(chan error, 1)
	go func() { joined <- rendezvous(address, size, id) }()
	select {
	case got := <-received:
		obey(got)
	case err := <-joined:
		if err != nil {
			return fmt.Errorf("process %d of %d with coordinator %s: %w", id, size, address, err)
		}
	}
	start("worker", "coordinator", address, "processes", strconv.Itoa(size), "process", strconv.Itoa(id))
	obey(<-received)
	return nil
}

// rendezvous returns when all processes have joined.
func rendezvous(address string, size, id int) error {
	served := make(chan error, 1)
	if id == 0 {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		go func() { served <- coordinate(listener, size) }()
	} else {
		served <- nil
	}
	return cmp.Or(join(address, size, id), <-served)
}

func join(address string, size, id int) error {
	conn, err := net.Dial("tcp", address)
	for err != nil { // until the coordinator listens
		<-time.After(10 * time.Millisecond)
		conn, err = net.Dial("tcp", address)
	}
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprintf(conn, "%d %d\n", id, size); err != nil {
		return err
	}
	var answer string
	if _, err := fmt.Fscanln(bufio.NewReader(conn), &answer); err != nil || answer != "complete" {
		return errors.New("the coordinator refused or ended")
	}
	return nil
}

// coordinate accepts each id once, and answers when all are there.
func coordinate(listener net.Listener, size int) error {
	defer func() { _ = listener.Close() }()
	conns := map[int]net.Conn{}
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	for len(conns) < size {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		var id, of int
		if _, err := fmt.Fscanln(bufio.NewReader(conn), &id, &of); err != nil {
			return err
		}
		if _, twice := conns[id]; twice || of != size || id < 0 || id >= size {
			_ = conn.Close()
			return fmt.Errorf("process %d of %d joined a group of %d, twice: %t", id, of, size, twice)
		}
		conns[id] = conn
	}
	for _, conn := range conns {
		if _, err := fmt.Fprintln(conn, "complete"); err != nil {
			return err
		}
	}
	return nil
}
