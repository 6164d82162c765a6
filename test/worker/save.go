/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// savePieces of a checkpoint are written one each second.
	savePieces = 20
	checkpoint = "/checkpoint/state"
	// lastWords is the file that the kubelet shows in the status of the Pod.
	lastWords = "/dev/termination-log"
)

// shell runs a command as a script does: SIGTERM ends it, and the command goes on. Orders are for the command.
func shell(args []string) error { return runs(args, ordered()) }

// launch runs a command as launchers do, which pass SIGTERM on to it.
func launch(args []string) error { return runs(args, ordered(syscall.SIGTERM)) }

// runs runs a command, hands signals down to it, and ends with its exit code.
func runs(args []string, signals <-chan os.Signal) error {
	if len(args) == 0 {
		return fmt.Errorf("a command is missing")
	}
	command := exec.Command(args[0], args[1:]...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Start(); err != nil {
		return err
	}
	go func() {
		for received := range signals {
			_ = command.Process.Signal(received)
		}
	}()
	err := command.Wait()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		os.Exit(ended.ExitCode())
	}
	return err
}

// load works with a child that hands it its data, as trainers with data loaders do: a signal is the end of the child, and that its
// own, unless its checkpoint is written, which takes a second after SIGTERM. How often it was told is a part of what it says.
func load([]string) error {
	received := ordered(syscall.SIGTERM)
	loader := exec.Command("/proc/self/exe", "ready", "0")
	if err := loader.Start(); err != nil {
		return err
	}
	lost := make(chan error, 1)
	go func() { lost <- loader.Wait() }()
	start("worker")
	var written <-chan time.Time
	for told := 0; ; {
		select {
		case got := <-received:
			if got != syscall.SIGTERM {
				obey(got)
			}
			if told++; told == 1 {
				written = time.After(time.Second)
			}
		case err := <-lost:
			return fmt.Errorf("the data loader is lost: %w", err)
		case <-written:
			log.Info("checkpoint", "told", told)
			os.Exit(0)
		}
	}
}

// save works until SIGTERM, and then writes a checkpoint, which takes 20 seconds. How often it was told is a
// part of what it says at last.
func save([]string) error {
	received := ordered(syscall.SIGTERM)
	start("worker")
	first := <-received
	if first != syscall.SIGTERM {
		obey(first)
	}
	log.Info("saving")
	file, err := os.Create(checkpoint)
	if err != nil {
		return err
	}
	tick := time.NewTicker(time.Second)
	told := 1
	for piece := 0; piece < savePieces; {
		select {
		case <-received:
			told++
		case <-tick.C:
			if _, err := fmt.Fprintln(file, "piece", piece); err != nil {
				return err
			}
			piece++
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	content, err := os.ReadFile(checkpoint)
	if err != nil {
		return err
	}
	words := fmt.Sprintf("saved %d pieces, told %d times", bytes.Count(content, []byte("\n")), told)
	log.Info(words)
	return os.WriteFile(lastWords, []byte(words), 0o644)
}
